"""What forward is given, and that ignored config keys change no capture."""

import ast
import pathlib
import re

import pytest
import torch
import transformers
import yaml
from breakwatch_worker import architecture, build, child, inputs, make_values, version
from conftest import ROOT

TEXT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 120}
VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
          "image_size": 32, "patch_size": 16}


def made(cls, config, variant=None):
    model = build.construct(cls, config)
    arguments = inputs.make(model, config, variant or {"name": "all"})
    with torch.no_grad():
        output = model(**inputs.fresh(arguments))
    assert inputs.is_finite(output)
    return arguments


def test_text_comes_with_its_mask_and_two_samples():
    arguments = made(transformers.BertModel, transformers.BertConfig(**TEXT))
    assert inputs.describe(arguments) == {
        "input_ids": {"shape": [2, 16], "dtype": "int64"}, "attention_mask": {"shape": [2, 16], "dtype": "int64"}}


def test_random_ids_are_never_special_tokens_and_end_as_a_tokenizer_ends_them():
    config = transformers.LlamaConfig(**TEXT, num_key_value_heads=2, bos_token_id=5, eos_token_id=7, pad_token_id=9)
    ids = made(transformers.LlamaForCausalLM, config)["input_ids"]
    assert not set(ids[:, :-1].flatten().tolist()) & {5, 7, 9}
    assert ids[:, -1].tolist() == [7, 7]


def test_an_encoder_and_decoder_gets_text_for_both():
    config = transformers.T5Config(d_model=32, d_kv=16, d_ff=32, num_layers=2, num_heads=2, vocab_size=120,
                                   decoder_start_token_id=0)
    assert set(made(transformers.T5ForConditionalGeneration, config)) == {
        "input_ids", "attention_mask", "decoder_input_ids"}


def test_a_picture_has_the_size_the_config_says():
    arguments = made(transformers.ViTModel, transformers.ViTConfig(**VISION))
    assert inputs.describe(arguments) == {"pixel_values": {"shape": [2, 3, 32, 32], "dtype": "float32"}}


def test_text_holds_as_many_places_as_the_picture_makes_features():
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "num_key_value_heads": 2, **TEXT},
        vision_config={"model_type": "clip_vision_model", **VISION}, image_token_id=100)
    arguments = made(transformers.LlavaForConditionalGeneration, config)
    assert (arguments["input_ids"] == 100).sum(1).tolist() == [4, 4]
    assert arguments["attention_mask"].shape == arguments["input_ids"].shape


def test_a_spectrogram_is_as_long_as_the_positions():
    config = transformers.WhisperConfig(
        d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=32, decoder_ffn_dim=32, vocab_size=120, max_source_positions=20, num_mel_bins=8,
        pad_token_id=1, bos_token_id=1, eos_token_id=2, decoder_start_token_id=3, suppress_tokens=None,
        begin_suppress_tokens=None)
    assert list(made(transformers.WhisperModel, config)["input_features"].shape) == [2, 8, 40]


def test_a_series_has_a_column_per_channel():
    config = transformers.PatchTSTConfig(context_length=32, num_input_channels=3, d_model=16, num_hidden_layers=2,
                                         num_attention_heads=2, ffn_dim=16)
    assert list(made(transformers.PatchTSTModel, config)["past_values"].shape) == [2, 32, 3]


def test_the_same_arguments_are_made_in_every_run():
    config = transformers.ViTConfig(**VISION)
    first, second = (made(transformers.ViTModel, config)["pixel_values"] for _ in range(2))
    assert torch.equal(first, second)


def test_weights_are_the_same_in_every_run_and_constants_the_authors():
    config = transformers.BertConfig(**TEXT)
    first, second = (build.construct(transformers.BertModel, config).state_dict() for _ in range(2))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert torch.equal(first["embeddings.LayerNorm.weight"], torch.ones(32))
    dense = first["encoder.layer.0.attention.self.query.weight"]
    assert 0.01 < dense.std() < 0.03 and not torch.equal(dense[0], dense[1])


def test_buffers_that_no_checkpoint_holds_are_computed():
    model = build.construct(transformers.LlamaModel, transformers.LlamaConfig(**TEXT, num_key_value_heads=2))
    assert model.rotary_emb.inv_freq[0] == 1.0 and torch.isfinite(model.rotary_emb.inv_freq).all()


def test_tied_weights_stay_one_tensor():
    config = transformers.GPT2Config(n_embd=32, n_layer=2, n_head=2, vocab_size=120)
    model = build.construct(transformers.GPT2LMHeadModel, config)
    assert model.lm_head.weight.data_ptr() == model.transformer.wte.weight.data_ptr()


@pytest.mark.parametrize("expression, value", [
    ("2*vocab_size", 240), ("no_such_key|hidden_size", 32), ("max(vocab_size, 500)", 500), ("hidden_size//5", 6)])
def test_sizes_are_arithmetic_over_the_config(expression, value):
    assert make_values.Sizes(transformers.BertConfig(**TEXT), {})(expression) == value


@pytest.mark.parametrize("expression", ["__import__('os')", "open", "hidden_size.__class__"])
def test_recipes_run_no_code(expression):
    with pytest.raises(make_values.CannotMake):
        make_values.Sizes(transformers.BertConfig(**TEXT), {})(expression + "(1)")


def test_every_recipe_and_every_ignored_key_has_a_reason():
    assert all(rule["reason"] and rule["when"] for rule in inputs.load_recipes()["rules"])
    ignored = yaml.safe_load((ROOT / "collectors/capture/structure_ignored.yaml").read_text())
    assert all(isinstance(reason, str) and reason for reason in ignored.values())


def test_the_version_digests_every_file_that_decides_what_is_found():
    here = pathlib.Path(version.__file__).parent
    names = version._digested(str(here))
    assert {"breaks.py", "recipes.yaml", "trace.py", "../../structure_ignored.yaml"} <= set(names)
    assert not {"zygote.py", "version.py"} & set(names)
    assert all((here / name).exists() for name in names)


@pytest.mark.parametrize("key, values", [
    ("_name_or_path", ["a", "b"]), ("transformers_version", ["4.6.0", "5.5.0"]), ("bos_token_id", [1, 2]),
    ("initializer_range", [0.02, 0.5]), ("hidden_dropout_prob", [0.0, 0.3]), ("torch_dtype", ["float16", "bfloat16"]),
    ("quantization_config", [None, {"quant_method": "awq"}]), ("label2id", [{"a": 0}, {"b": 0}]),
    ("num_beams", [1, 4]),
])
def test_an_ignored_key_changes_no_event(key, values):
    ignored = yaml.safe_load((ROOT / "collectors/capture/structure_ignored.yaml").read_text())
    assert key in ignored
    found = [_numbers({"model_type": "bert", "architectures": ["BertModel"], **TEXT, key: value}) for value in values]
    assert found[0] == found[1]
    assert found[0]["status"] == "full_graph"


def _numbers(config: dict) -> dict:
    result = child._guarded({"config": config}, "reduced", lambda message: None)
    kept = ("status", "graphs", "breaks", "ops_captured", "sites", "frames_total", "dynamo_counter_breaks", "inputs")
    return {name: result.get(name) for name in kept}


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


def test_two_answers_to_choose_from_each_get_a_row():
    arguments = made(transformers.BertForMultipleChoice, transformers.BertConfig(**TEXT))
    assert arguments["input_ids"].shape == arguments["attention_mask"].shape == (2, 2, 16)


def test_the_class_of_a_part_is_made_of_the_part():
    whole = transformers.MusicgenConfig(text_encoder={"model_type": "t5"}, audio_encoder={"model_type": "encodec"},
                                        decoder={"model_type": "musicgen_decoder"})
    cls, part, note = architecture.stand_in(transformers.MusicgenModel, whole)
    assert cls is transformers.MusicgenModel and part is whole.decoder and "decoder" in note


def test_a_config_of_nothing_but_a_type_is_the_classes_default():
    config, notes = architecture.make_config(transformers.TimmWrapperConfig, {"model_type": "timm_wrapper"})
    assert notes == [] and config.num_labels == transformers.TimmWrapperConfig().num_labels


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


def test_a_clip_is_two_of_what_it_is_cut_into():
    config = transformers.VJEPA2Config(frames_per_clip=64, crop_size=32, hidden_size=32, num_attention_heads=2,
                                       num_hidden_layers=2, pred_hidden_size=32, pred_num_attention_heads=2,
                                       pred_num_hidden_layers=2)
    frames = made(transformers.VJEPA2Model, config)["pixel_values_videos"].shape[1]
    assert frames == 4 and frames // config.tubelet_size == 2


def test_of_several_texts_the_one_called_text_is_what_the_ids_are_for():
    config = transformers.ClvpConfig()
    assert make_values.Sizes(config, {})("vocab") == config.text_config.vocab_size


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


def expressions(value, key=""):
    """Every text of the recipes that is read as arithmetic."""
    for name, item in value.items() if isinstance(value, dict) else [(key, item) for item in value]:
        if isinstance(item, (dict, list)):
            yield from expressions(item, name)
        elif isinstance(item, str) and name in ("shape", "rows", "below", "low", "count", "columns", "tokens"):
            yield item


def test_every_expression_of_the_recipes_can_be_read():
    recipes = inputs.load_recipes()
    parts = (*recipes["rules"], *recipes["mends"], recipes)
    sizes = [text for part in parts for text in (part.get("sizes") or {}).values() if isinstance(text, str)]
    found = [*expressions(recipes), *sizes]
    assert len(found) > 200
    for text in found:
        for alternative in re.sub(r"\$\d", "1", text).split("|"):
            ast.parse(alternative.strip(), mode="eval")


class Named:
    def __init__(self, **given):
        self.prompt_input_ids, self.prompt_attention_masks, self.given = {}, {}, given

    def add_prompt(self, text):
        return 0


class Watching(torch.nn.Module):
    main_input_name = "inference_session"

    def forward(self, inference_session: Named, frame_idx: int):
        return inference_session


def test_a_video_under_way_in_which_an_object_is_named_gets_a_prompt():
    config = transformers.CLIPConfig(text_config={"vocab_size": 99}, vision_config={"image_size": 32})
    arguments = inputs.make(Watching(), config, {"name": "all"})
    session = arguments["inference_session"]
    assert session.prompt_input_ids[0].shape == session.prompt_attention_masks[0].shape == (1, 16)
    assert session.given["video"].shape == (2, 3, 32, 32) and arguments["frame_idx"] == 0


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

    monkeypatch.setattr(child.Attempt, "_run_smallest", fail)
    result = child._guarded({"config": {"model_type": "bert", "architectures": ["BertModel"], **TEXT}}, "reduced",
                            lambda message: None)
    assert tried == stages and result["status"] == "failed_eager"


def test_the_grid_of_the_picture_to_be_made_stands_beside_those_of_pictures_passed():
    class Making(torch.nn.Module):
        main_input_name = "pixel_values"

        def forward(self, pixel_values=None, image_grid_thw=None, images_per_sample=None):
            return pixel_values

    arguments = inputs.make(Making(), transformers.GlmImageConfig(), {"name": "all"})
    grids, counts = arguments["image_grid_thw"], arguments["images_per_sample"]
    assert counts.tolist() == [2, 2] and len(grids) == counts.sum()
    passed = torch.cat([part[:-1] for part in torch.split(grids, counts.tolist())])
    assert passed.prod(-1).sum() == len(arguments["pixel_values"])


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
