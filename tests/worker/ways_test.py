"""The ways of calling that are tried: everything, what a failed model asked for, and last with something left out."""

import types

import pytest
import torch
import transformers
from breakwatch_worker import attempt, inputs
from breakwatch_worker.model import architecture, build
from breakwatch_worker.process import child, phases
from inputs_test import TEXT, VISION, made


def ways_of(cls, failures: list, spec=None) -> list:
    """The names of the ways tried by a model that fails of each text in turn, then for good of nothing it says."""
    ways, names = inputs.Ways(cls, spec), []
    for way in ways:
        names.append(way["name"])
        ways.learn(failures.pop(0) if failures else "eager: no text")
    return names


def test_what_a_failed_model_asks_for_is_tried_before_anything_is_left_out():
    names = ways_of(transformers.BertModel, ["eager: ValueError: encoder_hidden_states must be given for this"])
    assert names[:2] == ["all", "with encoder_hidden_states"]
    assert names[-1] == "all"  # with the sizes that were passed over


def test_a_model_that_repeats_itself_is_not_asked_for_ever():
    ways = inputs.Ways(transformers.BertModel)
    asked = "eager: ValueError: token_type_ids must be given"
    assert ways.learn(asked)
    assert not ways.learn(asked)
    assert not ways.learn("eager: ValueError: no_such_argument must be given")


def test_a_wish_that_comes_again_with_other_numbers_is_met_once_more():
    ways = inputs.Ways(transformers.Wav2Vec2BertModel)
    said = "eager: RuntimeError: mat1 and mat2 shapes cannot be multiplied (150x1024 and %dx768)"
    assert [ways.learn(said % number) for number in (1408, 704, 352)] == [True, True, False]


def test_a_config_that_says_it_has_no_tower_is_called_without_pictures():
    text = {**TEXT, "head_dim": 8, "global_head_dim": 8, "vocab_size_per_layer_input": 99}
    config = transformers.Gemma4Config(text_config=text, vision_config=None, audio_config=None)
    way = next(iter(inputs.Ways(transformers.Gemma4Model)))
    plan = inputs.Plan(build.construct(transformers.Gemma4Model, config), config, way)
    assert "input_ids" in plan.chosen() and "pixel_values" not in plan.chosen()


def attempts_of(monkeypatch, failures, phase="eager", at_odds=False) -> list:
    """(way, size) of each attempt at a model of three sizes that fails as `failures(way, size)` says."""
    tried = []
    sizes = [types.SimpleNamespace(depth="reduced", note=name) for name in ("small", "middle", "large")]
    monkeypatch.setattr(attempt.sizes, "plans", lambda *_, **__: iter(sizes))

    def fail(self, cls, config_class, size, variant):
        self._phases.enter(phase)
        tried.append((variant["name"], size.note))
        raise ValueError(failures(*tried[-1]))

    monkeypatch.setattr(attempt.Attempt, "_prepare", fail)
    monkeypatch.setattr(attempt.config_fixes, "fix", lambda *_: [])
    monkeypatch.setattr(attempt.config_fixes, "is_at_odds", lambda *_: at_odds)
    job = {"job": "1", "config": {"model_type": "bert", **TEXT}, "architecture": "BertLMHeadModel"}
    assert attempt.Attempt(job, "reduced", phases.Phases(lambda _: None)).run()["status"] == f"failed_{phase}"
    return [pair for pair in tried if pair[0] != "text only"]


def test_another_way_of_calling_that_changes_nothing_is_tried_at_the_smallest_size_alone(monkeypatch):
    sizes = ["small", "middle", "large"]
    same = attempts_of(monkeypatch, lambda way, size: f"the {size} one does not fit")
    assert same == [("all", size) for size in sizes] + [("without cache", "small")]
    other = attempts_of(monkeypatch, lambda way, size: f"{way} does not fit")
    assert other == [(way, size) for way in ("all", "without cache") for size in sizes]


def test_a_config_at_odds_with_itself_is_helped_along_before_larger_sizes_say_the_same(monkeypatch):
    everything = [(way, size) for way in ("all", "without cache") for size in ("small", "middle", "large")][:4]
    hurried = attempts_of(monkeypatch, lambda *_: "8 is not 9", at_odds=True)
    assert hurried == [("all", "small"), ("all", "middle"), *everything]  # all of it where no help came of that
    assert attempts_of(monkeypatch, lambda *_: "8 is not 9", "create", at_odds=True) == everything[:3]
    other = attempts_of(monkeypatch, lambda way, size: f"the {size} one is not 9", at_odds=True)
    assert other == everything


def test_a_wish_for_bins_changes_how_many_there_are():
    class Model(torch.nn.Module):
        main_input_name = "input_features"

        def forward(self, input_features):
            return input_features

    ways = inputs.Ways(Model)
    tried = iter(ways)
    next(tried)
    assert ways.learn("eager: RuntimeError: mat1 and mat2 shapes cannot be multiplied (128x80 and 320x1024)")
    made_again = inputs.make(Model(), transformers.BertConfig(num_mel_bins=80), next(tried))
    assert made_again["input_features"].shape == (2, 64, 320)


def test_the_users_word_comes_last():
    spec = {"sizes": {"seq": 5}, "arguments": {"attention_mask": None, "token_type_ids": {"kind": "ones",
            "shape": ["batch", "seq"]}}}
    config = transformers.BertConfig(**TEXT)
    way = next(iter(inputs.Ways(transformers.BertModel, spec)))
    arguments = made(transformers.BertModel, config, way)
    assert inputs.describe(arguments) == {
        "input_ids": {"shape": [2, 5], "dtype": "int64"}, "token_type_ids": {"shape": [2, 5], "dtype": "int64"}}
    assert (arguments["token_type_ids"] == 1).all()


@pytest.mark.parametrize("spec, key", [
    ([], "inputs_spec"), ({"size": {}}, "size"), ({"sizes": {"seq": [1]}}, "sizes.seq"),
    ({"sizes": {"seq": 1 << 40}}, "sizes.seq"), ({"arguments": {"nothing": None}}, "arguments.nothing"),
    ({"arguments": {"input_ids": 3}}, "arguments.input_ids"), ({"omit": "input_ids"}, "omit"),
    ({"arguments": {"input_ids": {"kind": "lies", "shape": [1]}}}, "arguments.input_ids.kind"),
    ({"arguments": {"input_ids": {"kind": "ids"}}}, "arguments.input_ids.shape"), ({"add": ["nothing"]}, "add"),
    ({"arguments": {"input_ids": {"kind": "list", "items": [{"kind": "value"}]}}},
     "arguments.input_ids.items[0].value"),
])
def test_a_wrong_word_of_the_user_is_refused_by_the_name_of_its_key(spec, key):
    with pytest.raises(architecture.Stop) as stop:
        inputs.Ways(transformers.BertModel, spec)
    assert stop.value.status == "failed_inputs"
    assert stop.value.detail.startswith(f"inputs_spec: {key}:")


class Convolution(torch.nn.Module):
    main_input_name = "hidden_states"

    def __init__(self, channels):
        super().__init__()
        self.first = torch.nn.Conv1d(channels, 4, 3)

    def forward(self, hidden_states):
        return self.first(hidden_states)


@pytest.mark.parametrize("channels", [1, 64])
def test_a_first_convolution_says_how_many_channels_stand_before_time(channels):
    model, config = Convolution(channels), transformers.BertConfig(**TEXT)
    ways = inputs.Ways(Convolution)
    tried = iter(ways)
    with pytest.raises(RuntimeError) as error:
        model(**inputs.make(model, config, next(tried)))
    assert ways.learn(f"eager: RuntimeError: {error.value}")
    assert model(**inputs.make(model, config, next(tried))).shape[:2] == (2, 4)


def test_a_model_that_counts_its_features_gets_as_many_places_for_them():
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "num_key_value_heads": 2, **TEXT},
        vision_config={"model_type": "clip_vision_model", **VISION}, image_token_id=100)
    model = build.construct(transformers.LlavaForConditionalGeneration, config)
    ways = inputs.Ways(type(model))
    tried = iter(ways)
    next(tried)
    said = "eager: ValueError: Image features and image tokens do not match, tokens: 8, features: %d"
    assert not ways.learn(said % 8)  # as many as there are: another thing is wrong
    assert not ways.learn(said % 589824)  # no count of places: how many numbers the features have
    assert ways.learn(said % 12)
    ids = inputs.make(model, config, next(tried))["input_ids"]
    assert (ids == 100).sum(1).tolist() == [6, 6]


def test_what_a_model_takes_is_left_out_only_when_asked_for():
    names = [way["name"] for way in inputs.Ways(transformers.LlavaForConditionalGeneration)]
    assert "text only" not in names
    assert [way["name"] for way in inputs.Ways(transformers.LlavaForConditionalGeneration, part=True)] == ["text only"]
    assert list(inputs.Ways(transformers.ViTModel, part=True)) == []


def test_frames_beside_a_waveform_are_as_many_as_it_makes():
    class Codec(torch.nn.Module):
        main_input_name = "input_values"

        def forward(self, input_values, input_features):
            return input_features

    ways = inputs.Ways(Codec)
    tried = iter(ways)
    next(tried)
    assert ways.learn("eager: RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 64 but "
                      "got size 25 for tensor number 1 in the list.")
    assert inputs.make(Codec(), transformers.BertConfig(**TEXT), next(tried))["input_features"].shape[1] == 25


@pytest.mark.parametrize("made_once, stages", [(False, [False]), (True, [False, True])])
def test_something_is_left_out_where_a_model_was_made_and_nothing_made_it_run(monkeypatch, made_once, stages):
    tried = []

    def fail(self, cls, config_class, config, notes, part):
        tried.append(part)
        self._made, self._said = made_once, ["eager: ValueError: no"]
        return {"status": "failed_eager", "detail": "no", "phase": "eager"}

    monkeypatch.setattr(attempt.Attempt, "_run_smallest", fail)
    result = child._guarded({"config": {"model_type": "bert", "architectures": ["BertModel"], **TEXT}}, "reduced",
                            lambda message: None)
    assert tried == stages and result["status"] == "failed_eager"


class Film(torch.nn.Module):
    main_input_name = "pixel_values_videos"

    def forward(self, pixel_values_videos):
        return pixel_values_videos


class Sound(torch.nn.Module):
    main_input_name = "input_values"

    def forward(self, input_values=None, pixel_values_videos=None):
        return input_values


class Detector(torch.nn.Module):
    main_input_name = "pixel_values"

    def forward(self, pixel_values):
        return pixel_values


@pytest.mark.parametrize("cls, said, made_of", [
    (Film, "The size of tensor a (4) must match the size of tensor b (16) at non-singleton dimension 1",
     {"pixel_values_videos": [2, 16, 3, 32, 32]}),
    (Sound, "'NoneType' object has no attribute 'shape'",
     {"input_values": [2, 8000], "pixel_values_videos": [2, 4, 3, 32, 32]}),
    (Detector, "selected index k out of range", {"pixel_values": [2, 3, 64, 64]}),
])
def test_what_a_model_says_it_lacks_it_gets(cls, said, made_of):
    ways = inputs.Ways(cls)
    tried = iter(ways)
    next(tried)
    assert ways.learn(f"eager: RuntimeError: {said}")
    arguments = inputs.make(cls(), transformers.ViTConfig(**VISION), next(tried))
    assert {name: list(value.shape) for name, value in arguments.items()} == made_of


def test_of_two_arguments_that_exclude_each_other_the_first_is_left_out():
    ways = inputs.Ways(transformers.PerceiverForImageClassificationLearned)
    tried = iter(ways)
    next(tried)
    assert ways.learn("eager: ValueError: You cannot use both `inputs` and `pixel_values`")
    assert next(tried)["steps"][0]["omit"] == ["inputs"]


def test_what_forward_takes_unnamed_and_hands_on_can_be_asked_for():
    assert "without cache" in [way["name"] for way in inputs.Ways(transformers.GraniteMoeHybridForCausalLM)]
    assert "without cache" not in [way["name"] for way in inputs.Ways(transformers.ViTModel)]


def test_the_larger_of_two_pictures_is_made_as_large_as_its_part_wants():
    ways = inputs.Ways(transformers.DeepseekVLHybridModel)
    tried = iter(ways)
    next(tried)
    assert ways.learn("eager: ValueError: Input image size (224*224) doesn't match model (256*256).")
    assert list(next(tried)["steps"][0]["arguments"]) == ["high_res_pixel_values"]


def test_what_a_model_that_cannot_be_made_says_is_reported_though_it_sounds_like_a_want():
    job = {"config": {"model_type": "clap", "text_config": {"num_attention_heads": 7}}, "architecture": "ClapModel"}
    result = child._guarded(job, "reduced", lambda message: None)
    assert result["status"] == "failed_create" and "(7)" in result["detail"], result


def test_a_part_that_takes_no_ids_gets_embeddings():
    ways = inputs.Ways(transformers.SeamlessM4TTextToUnitModel)
    tried = iter(ways)
    next(tried)
    assert ways.learn("eager: ValueError: You cannot pass input_ids to the encoder of the text_to_units model. Pass "
                      "inputs_embeds instead.")
    assert next(tried)["steps"][0] == {"name": "embeddings instead of ids", "omit": ["input_ids"],
                                       "add": ["inputs_embeds"]}
