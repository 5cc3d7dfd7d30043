"""The arguments of forward, and that ignored config keys change no capture."""

import ast
import functools
import json
import pathlib
import re
import types

import pytest
import torch
import transformers
import yaml
from breakwatch_worker import tables, version
from breakwatch_worker.inputs import copies, forward_inputs, make_values
from breakwatch_worker.model import architecture, build, weights
from breakwatch_worker.process import child
from worker_support import ROOT

TEXT = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 120}
VISION = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32,
          "image_size": 32, "patch_size": 16}


def made(cls, config, variant=None):
    model = build.construct(cls, config)
    arguments = forward_inputs.make(model, config, variant or {"name": "all"})
    with torch.no_grad():
        output = model(**copies.fresh(arguments))
    assert forward_inputs.is_finite(output)
    return arguments


def test_text_comes_with_its_mask_and_two_samples():
    arguments = made(transformers.BertModel, transformers.BertConfig(**TEXT))
    assert forward_inputs.describe(arguments) == {
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


def test_an_image_has_the_size_in_the_config():
    arguments = made(transformers.ViTModel, transformers.ViTConfig(**VISION))
    assert forward_inputs.describe(arguments) == {"pixel_values": {"shape": [2, 3, 32, 32], "dtype": "float32"}}


def test_an_image_takes_the_placeholders_of_images_and_not_those_of_videos():
    model = types.SimpleNamespace(modules=lambda: [model], get_image_features=lambda pixel_values: torch.ones(2 * 3, 8),
                                  get_video_features=lambda pixel_values: torch.ones(2 * 5, 8))
    config = transformers.BertConfig(**TEXT, image_token_index=100, video_token_index=101)
    plan = types.SimpleNamespace(sizes=forward_inputs.Sizes(config, {}), tokens=None)
    made_of = {"input_ids": torch.ones(2, 4).long(), "pixel_values": torch.ones(2, 3, 8, 8)}
    forward_inputs._insert_placeholders(model, made_of, plan)
    assert [(made_of["input_ids"] == token).sum().item() for token in (100, 101)] == [6, 0]


def test_text_has_as_many_placeholders_as_the_image_has_features():
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
    assert all(rule["reason"] and rule["when"] for rule in forward_inputs.load_recipes()["rules"])
    ignored = yaml.safe_load((ROOT / "collectors/capture/structure_ignored.yaml").read_text())
    reasons = [entry["outside_training"] if isinstance(entry, dict) else entry for entry in ignored.values()]
    assert all(isinstance(reason, str) and reason for reason in reasons)


def test_the_version_digests_every_file_that_decides_what_is_found():
    here = pathlib.Path(version.__file__).parent
    names = version._digested(str(here))
    assert {"dynamo/breaks.py", "inputs/recipes.yaml", "model/sizes.yaml", "../../structure_ignored.yaml"} <= {*names}
    assert not {"process/zygote.py", "version.py"} & {*names}
    assert all((here / name).exists() for name in names)


IGNORED = {
    "_name_or_path": ("a", "b"), "transformers_version": ("4.6.0", "5.5.0"), "bos_token_id": (1, 2),
    "initializer_range": (0.02, 0.5), "hidden_dropout_prob": (0.0, 0.3), "torch_dtype": ("float16", "bfloat16"),
    "quantization_config": (None, {"quant_method": "awq"}), "label2id": ({"a": 0}, {"b": 0}), "num_beams": (1, 4),
}


@pytest.mark.parametrize("key", IGNORED)
def test_an_ignored_key_changes_no_event(key):
    ignored = yaml.safe_load((ROOT / "collectors/capture/structure_ignored.yaml").read_text())
    assert key in ignored
    assert _numbers_with(key) == _numbers_with("")
    assert _numbers_with("")["status"] == "full_graph"


@functools.cache
def _numbers_with(changed: str) -> dict:
    """The events for a config with the first value of each key, and the second value of `changed`."""
    values = {key: pair[key == changed] for key, pair in IGNORED.items()}
    config = {"model_type": "bert", "architectures": ["BertModel"], **TEXT, **values}
    result = child._guarded({"config": config}, "reduced", lambda message: None)
    kept = ("status", "graphs", "breaks", "ops_captured", "sites", "frames_total", "dynamo_counter_breaks", "inputs")
    return {name: result.get(name) for name in kept}


def test_each_of_two_choices_gets_a_row():
    arguments = made(transformers.BertForMultipleChoice, transformers.BertConfig(**TEXT))
    assert arguments["input_ids"].shape == arguments["attention_mask"].shape == (2, 2, 16)


def test_the_class_of_a_part_is_built_from_the_part():
    whole = transformers.MusicgenConfig(text_encoder={"model_type": "t5"}, audio_encoder={"model_type": "encodec"},
                                        decoder={"model_type": "musicgen_decoder"})
    cls, part, note = architecture.stand_in(transformers.MusicgenModel, whole)
    assert cls is transformers.MusicgenModel and part is whole.decoder and "decoder" in note


def test_a_config_with_only_a_type_is_the_default_of_the_class():
    config, notes = architecture.make_config(transformers.TimmWrapperConfig, {"model_type": "timm_wrapper"})
    assert notes == [] and config.num_labels == transformers.TimmWrapperConfig().num_labels


def test_a_clip_has_two_temporal_patches():
    config = transformers.VJEPA2Config(frames_per_clip=64, crop_size=32, hidden_size=32, num_attention_heads=2,
                                       num_hidden_layers=2, pred_hidden_size=32, pred_num_attention_heads=2,
                                       pred_num_hidden_layers=2)
    frames = made(transformers.VJEPA2Model, config)["pixel_values_videos"].shape[1]
    assert frames == 4 and frames // config.tubelet_size == 2


def test_ids_are_for_the_part_called_text():
    config = transformers.ClvpConfig()
    assert make_values.Sizes(config, {})("vocab") == config.text_config.vocab_size


def expressions(value, key=""):
    """Every text of the recipes that is parsed as arithmetic."""
    for name, item in value.items() if isinstance(value, dict) else [(key, item) for item in value]:
        if isinstance(item, (dict, list)):
            yield from expressions(item, name)
        elif isinstance(item, str) and name in ("shape", "rows", "below", "low", "count", "columns", "tokens"):
            yield item


def test_every_expression_in_the_recipes_can_be_parsed():
    recipes = forward_inputs.load_recipes()
    parts = (*recipes["rules"], *recipes["input_fixes"], recipes)
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


def test_a_video_session_with_a_named_object_gets_a_prompt():
    config = transformers.CLIPConfig(text_config={"vocab_size": 99}, vision_config={"image_size": 32})
    arguments = forward_inputs.make(Watching(), config, {"name": "all"})
    session = arguments["inference_session"]
    assert session.prompt_input_ids[0].shape == session.prompt_attention_masks[0].shape == (1, 16)
    assert session.given["video"].shape == (2, 3, 32, 32) and arguments["frame_idx"] == 0


def test_the_grid_of_the_generated_image_comes_after_those_of_given_images():
    class Making(torch.nn.Module):
        main_input_name = "pixel_values"

        def forward(self, pixel_values=None, image_grid_thw=None, images_per_sample=None):
            return pixel_values

    arguments = forward_inputs.make(Making(), transformers.GlmImageConfig(), {"name": "all"})
    grids, counts = arguments["image_grid_thw"], arguments["images_per_sample"]
    assert counts.tolist() == [2, 2] and len(grids) == counts.sum()
    passed = torch.cat([part[:-1] for part in torch.split(grids, counts.tolist())])
    assert passed.prod(-1).sum() == len(arguments["pixel_values"])


def test_audio_that_replaces_the_text_is_passed_without_text():
    config = transformers.Pop2PianoConfig(vocab_size=128, d_model=32, d_kv=8, d_ff=32, num_layers=1, num_heads=4)
    arguments = made(transformers.Pop2PianoForConditionalGeneration, config)
    assert "input_ids" not in arguments and arguments["input_features"].shape[-1] == config.d_model


def test_an_encoder_with_an_optional_grid_gets_images():
    config = transformers.RadioConfig(**VISION)
    assert list(made(transformers.RadioModel, config)) == ["pixel_values"]


def test_the_description_of_arguments_is_bounded_json():
    described = forward_inputs.describe({"bias": float("-inf"), "many": list(range(100_000)), "text": "x" * 100_000})
    assert described["bias"] == "-inf" and described["many"][-1] == "and 99744 more"
    assert len(json.dumps(described, allow_nan=False)) < 4000


def test_an_entry_applies_to_the_releases_it_names():
    rules = [{"reason": "new", "transformers": ">=5.10"}, {"reason": "old", "transformers": "<5"}, {"reason": "any"}]
    table = {"version": 1, "rules": rules, "widths": ["a"]}
    assert [[rule["reason"] for rule in tables.for_release(table, release)["rules"]]
            for release in ("5.23.0", "5.10.0.dev0", "4.57.6")] == [["new", "any"], ["any"], ["old", "any"]]
    assert tables.for_release(table, "5.23.0")["widths"] == ["a"]


def test_an_invalid_range_of_releases_is_rejected_on_load():
    with pytest.raises(ValueError):
        tables.for_release({"rules": [{"reason": "any", "transformers": "newest"}]}, "5.23.0")


class Says(torch.nn.Module):
    """Signatures of parts of speech models, which are in no table of the library."""

    main_input_name = "input_ids"


class Codes(Says):
    def forward(self, codebook_idx, input_ids=None):
        return input_ids


class Frames(Says):
    main_input_name = "audio_values"

    def forward(self, hidden_states, mask):
        return hidden_states


class Denoises(Says):
    def forward(self, hidden_states, condition_vector, speaker_embedding, quantized_code, time_step):
        return hidden_states


class Sees(Says):
    main_input_name = "pixel_values"

    def forward(self, pixel_values, cu_seqlens, image_grid_thw=None):
        return pixel_values


@pytest.mark.parametrize("cls, config, shapes", [
    (Codes, {"n_codes_total": 8, "input_vocab_size": 99}, {"input_ids": [2, 16, 8]}),
    (Frames, {"time_reduction": 8, "input_size": 80}, {"hidden_states": [2, 64, 80]}),
    (Denoises, {"mel_dim": 80, "enc_emb_dim": 192, "num_embeds": 99, "repeats": 2},
     {"hidden_states": [1, 64, 80], "condition_vector": [1, 64, 80], "speaker_embedding": [1, 64, 192],
      "quantized_code": [1, 32], "time_step": [1]}),
    (Sees, {"patch_size": 14, "spatial_merge_size": 2},
     {"pixel_values": [1, 32, 3, 14, 14], "cu_seqlens": [3], "image_grid_thw": [2, 3]}),
])
def test_a_part_gets_the_arguments_of_its_signature(cls, config, shapes):
    arguments = forward_inputs.make(cls(), transformers.PretrainedConfig(**config), {"name": "all"})
    assert {name: list(value.shape) for name, value in arguments.items() if hasattr(value, "shape")} == shapes


def test_draws_by_tensor_methods_are_made_once_the_size_is_known(monkeypatch):
    class Older(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.large, self.small = torch.nn.Linear(512, 512), torch.nn.Linear(4, 4)
            self.large.weight.data.normal_(mean=0.0, std=0.5)
            self.large.bias.data.zero_()
            self.decay = torch.nn.Parameter(torch.empty(8).uniform_(1, 16).log())
            self.drawn = self.large.weight.data.clone()

    monkeypatch.setattr(weights, "_calls_methods", lambda: True)
    torch.manual_seed(0)
    deferred = weights.Deferred()
    with deferred.active():
        model = Older()
    deferred.settle(model)
    assert "normal_" not in vars(torch.Tensor)
    assert 0.4 < model.large.weight.std() < 0.6 and not torch.equal(model.drawn, model.large.weight)
    assert not model.large.bias.any()
    assert (model.decay >= 0).all() and model.decay.max() > 0
