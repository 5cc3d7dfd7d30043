"""Call variants: first all arguments, then those that error messages name, last without a part of the input."""

import types

import pytest
import torch
import transformers
from breakwatch_worker import model_run
from breakwatch_worker.inputs import forward_inputs
from breakwatch_worker.inputs.call_variants import CallVariants
from breakwatch_worker.model import architecture, build
from breakwatch_worker.process import child, phases
from inputs_test import TEXT, VISION, made


def names_of(cls, failures: list, spec=None) -> list:
    """The names of the variants tried for a model that fails with each of these errors in turn, and then without text.
    """
    variants, names = CallVariants(cls, spec), []
    for variant in variants:
        names.append(variant["name"])
        variants.add_fix(failures.pop(0) if failures else "eager: no text")
    return names


def test_what_a_failed_model_asks_for_is_tried_before_anything_is_left_out():
    names = names_of(transformers.BertModel, ["eager: ValueError: encoder_hidden_states must be given for this"])
    assert names[:2] == ["all", "with encoder_hidden_states"]
    assert names[-1] == "all"  # with the sizes that were skipped


def test_an_error_that_comes_again_gets_no_second_fix():
    variants = CallVariants(transformers.BertModel)
    asked = "eager: ValueError: token_type_ids must be given"
    assert variants.add_fix(asked)
    assert not variants.add_fix(asked)
    assert not variants.add_fix("eager: ValueError: no_such_argument must be given")


def test_an_error_with_other_numbers_gets_one_more_fix():
    variants = CallVariants(transformers.Wav2Vec2BertModel)
    said = "eager: RuntimeError: mat1 and mat2 shapes cannot be multiplied (150x1024 and %dx768)"
    assert [variants.add_fix(said % number) for number in (1408, 704, 352)] == [True, True, False]


def test_a_config_without_a_vision_tower_is_called_without_images():
    text = {**TEXT, "head_dim": 8, "global_head_dim": 8, "vocab_size_per_layer_input": 99}
    config = transformers.Gemma4Config(text_config=text, vision_config=None, audio_config=None)
    variant = next(iter(CallVariants(transformers.Gemma4Model)))
    plan = forward_inputs.Plan(build.construct(transformers.Gemma4Model, config), config, variant)
    assert "input_ids" in plan.chosen() and "pixel_values" not in plan.chosen()


def attempts_at(monkeypatch, failures, phase="eager", contradiction=False) -> list:
    """(variant, size) of each attempt at a model of three sizes that fails as `failures(variant, size)` says."""
    tried = []
    sizes = [types.SimpleNamespace(depth="reduced", note=name) for name in ("small", "middle", "large")]
    monkeypatch.setattr(model_run.sizes, "plans", lambda *_, **__: iter(sizes))

    def fail(self, cls, config_class, size, variant):
        self._phases.enter(phase)
        tried.append((variant["name"], size.note))
        raise ValueError(failures(*tried[-1]))

    monkeypatch.setattr(model_run.ModelRun, "_prepare", fail)
    monkeypatch.setattr(model_run.config_fixes, "fix", lambda *_: [])
    monkeypatch.setattr(model_run.config_fixes, "is_contradiction", lambda *_: contradiction)
    job = {"job": "1", "config": {"model_type": "bert", **TEXT}, "architecture": "BertLMHeadModel"}
    assert model_run.ModelRun(job, "reduced", phases.Phases(lambda _: None)).run()["status"] == f"failed_{phase}"
    return [pair for pair in tried if pair[0] != "text only"]


VARIANTS = ("all", "without cache", "with a short text and windows as configured")
SIZES = ("small", "middle", "large")


def test_a_variant_that_gives_the_same_error_is_tried_at_the_smallest_size_only(monkeypatch):
    same = attempts_at(monkeypatch, lambda variant, size: f"the {size} one does not fit")
    assert same == [("all", size) for size in SIZES] + [(variant, "small") for variant in VARIANTS[1:]]
    other = attempts_at(monkeypatch, lambda variant, size: f"{variant} does not fit")
    assert other == [(variant, size) for variant in VARIANTS for size in SIZES]


def test_a_contradicting_config_is_fixed_before_larger_sizes_give_the_same_error(monkeypatch):
    everything = [("all", size) for size in SIZES] + [(variant, "small") for variant in VARIANTS[1:]]
    early = attempts_at(monkeypatch, lambda *_: "8 is not 9", contradiction=True)
    assert early == [("all", "small"), ("all", "middle"), *everything]  # everything, because no fix led to a capture
    assert attempts_at(monkeypatch, lambda *_: "8 is not 9", "create", contradiction=True) == everything[:3]
    other = attempts_at(monkeypatch, lambda variant, size: f"the {size} one is not 9", contradiction=True)
    assert other == everything


def test_an_error_about_bins_changes_their_number():
    class Model(torch.nn.Module):
        main_input_name = "input_features"

        def forward(self, input_features):
            return input_features

    variants = CallVariants(Model)
    tried = iter(variants)
    next(tried)
    assert variants.add_fix("eager: RuntimeError: mat1 and mat2 shapes cannot be multiplied (128x80 and 320x1024)")
    made_again = forward_inputs.make(Model(), transformers.BertConfig(num_mel_bins=80), next(tried))
    assert made_again["input_features"].shape == (2, 64, 320)


def test_the_users_inputs_spec_is_applied_last():
    spec = {"sizes": {"seq": 5}, "arguments": {"attention_mask": None, "token_type_ids": {"kind": "ones",
            "shape": ["batch", "seq"]}}}
    config = transformers.BertConfig(**TEXT)
    variant = next(iter(CallVariants(transformers.BertModel, spec)))
    arguments = made(transformers.BertModel, config, variant)
    assert forward_inputs.describe(arguments) == {
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
def test_an_invalid_inputs_spec_is_rejected_with_the_name_of_its_key(spec, key):
    with pytest.raises(architecture.Stop) as stop:
        CallVariants(transformers.BertModel, spec)
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
def test_the_error_of_a_first_convolution_gives_the_number_of_channels(channels):
    model, config = Convolution(channels), transformers.BertConfig(**TEXT)
    variants = CallVariants(Convolution)
    tried = iter(variants)
    with pytest.raises(RuntimeError) as error:
        model(**forward_inputs.make(model, config, next(tried)))
    assert variants.add_fix(f"eager: RuntimeError: {error.value}")
    assert model(**forward_inputs.make(model, config, next(tried))).shape[:2] == (2, 4)


def test_a_model_that_counts_its_features_gets_as_many_placeholder_tokens():
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "num_key_value_heads": 2, **TEXT},
        vision_config={"model_type": "clip_vision_model", **VISION}, image_token_id=100)
    model = build.construct(transformers.LlavaForConditionalGeneration, config)
    variants = CallVariants(type(model))
    tried = iter(variants)
    next(tried)
    said = "eager: ValueError: Image features and image tokens do not match, tokens: 8, features: %d"
    assert not variants.add_fix(said % 8)  # the numbers agree: the error has another cause
    assert not variants.add_fix(said % 589824)  # not the number of tokens, but of the features' elements
    assert variants.add_fix(said % 12)
    ids = forward_inputs.make(model, config, next(tried))["input_ids"]
    assert (ids == 100).sum(1).tolist() == [6, 6]


def test_a_part_of_the_input_is_left_out_only_on_request():
    names = [variant["name"] for variant in CallVariants(transformers.LlavaForConditionalGeneration)]
    assert "text only" not in names
    partial = CallVariants(transformers.LlavaForConditionalGeneration, partial=True)
    assert [variant["name"] for variant in partial] == ["text only"]
    assert list(CallVariants(transformers.ViTModel, partial=True)) == []


def test_the_number_of_frames_follows_from_the_waveform():
    class Codec(torch.nn.Module):
        main_input_name = "input_values"

        def forward(self, input_values, input_features):
            return input_features

    variants = CallVariants(Codec)
    tried = iter(variants)
    next(tried)
    assert variants.add_fix("eager: RuntimeError: Sizes of tensors must match except in dimension 1. Expected size 64 "
                            "but got size 25 for tensor number 1 in the list.")
    assert forward_inputs.make(Codec(), transformers.BertConfig(**TEXT), next(tried))["input_features"].shape[1] == 25


@pytest.mark.parametrize("built_once, stages", [(False, [False]), (True, [False, True])])
def test_a_part_of_the_input_is_left_out_when_a_model_was_built_and_no_call_runs(monkeypatch, built_once, stages):
    tried = []

    def fail(self, cls, config_class, config, notes, part):
        tried.append(part)
        self._built, self._errors = built_once, ["eager: ValueError: no"]
        return {"status": "failed_eager", "detail": "no", "phase": "eager"}

    monkeypatch.setattr(model_run.ModelRun, "_run_smallest", fail)
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
def test_a_model_gets_what_its_error_says_is_missing(cls, said, made_of):
    variants = CallVariants(cls)
    tried = iter(variants)
    next(tried)
    assert variants.add_fix(f"eager: RuntimeError: {said}")
    arguments = forward_inputs.make(cls(), transformers.ViTConfig(**VISION), next(tried))
    assert {name: list(value.shape) for name, value in arguments.items()} == made_of


def test_the_first_of_two_arguments_that_exclude_each_other_is_left_out():
    variants = CallVariants(transformers.PerceiverForImageClassificationLearned)
    tried = iter(variants)
    next(tried)
    assert variants.add_fix("eager: ValueError: You cannot use both `inputs` and `pixel_values`")
    assert next(tried)["steps"][0]["omit"] == ["inputs"]


def test_an_argument_that_forward_only_passes_on_can_be_set():
    assert "without cache" in [variant["name"] for variant in CallVariants(transformers.GraniteMoeHybridForCausalLM)]
    assert "without cache" not in [variant["name"] for variant in CallVariants(transformers.ViTModel)]


def test_the_larger_of_two_images_gets_the_size_that_its_part_expects():
    variants = CallVariants(transformers.DeepseekVLHybridModel)
    tried = iter(variants)
    next(tried)
    assert variants.add_fix("eager: ValueError: Input image size (224*224) doesn't match model (256*256).")
    assert list(next(tried)["steps"][0]["arguments"]) == ["high_res_pixel_values"]


def test_the_error_of_a_model_that_cannot_be_built_is_reported_although_a_fix_matches_it():
    job = {"config": {"model_type": "clap", "text_config": {"num_attention_heads": 7}}, "architecture": "ClapModel"}
    result = child._guarded(job, "reduced", lambda message: None)
    assert result["status"] == "failed_create" and "(7)" in result["detail"], result


def test_a_part_that_takes_no_ids_gets_embeddings():
    variants = CallVariants(transformers.SeamlessM4TTextToUnitModel)
    tried = iter(variants)
    next(tried)
    assert variants.add_fix("eager: ValueError: You cannot pass input_ids to the encoder of the text_to_units model. "
                            "Pass inputs_embeds instead.")
    assert next(tried)["steps"][0] == {"name": "with embeddings instead of ids", "omit": ["input_ids"],
                                       "add": ["inputs_embeds"]}
