"""Missing and contradicting config values are fixed if the model fails because of them, and the result lists the
fixes."""

import types

import pytest
import transformers
from breakwatch_worker import tables
from breakwatch_worker.model import build, config_fixes
from breakwatch_worker.model_run import ModelRun
from breakwatch_worker.process.phases import Phases
from inputs_test import TEXT, VISION, made


def test_a_null_is_replaced_only_if_the_error_asks_for_it():
    config = transformers.BertConfig(**{**TEXT, "pad_token_id": None})
    assert config_fixes.fix(config, "eager: ValueError: something else") == []
    assert config_fixes.fix(config, "create: TypeError: NoneType") == ["pad_token_id set"]
    missed = "eager: AttributeError: 'BertConfig' object has no attribute 'num_key_value_heads'"
    assert config_fixes.fix(config, missed) == ["num_key_value_heads set"]
    assert config.num_key_value_heads == config.num_attention_heads


def test_contradicting_default_values_are_corrected():
    config = transformers.BertConfig(hidden_size=48, num_attention_heads=7)
    assert config_fixes.fix(config, "create: ValueError: embed_dim must be divisible by num_heads")
    assert config.num_attention_heads == 6
    rotary = transformers.Qwen3OmniMoeTextConfig(hidden_size=48, num_attention_heads=7, num_key_value_heads=1)
    said = "eager: RuntimeError: The size of tensor a (7) must match the size of tensor b (8) at dimension 3"
    assert config_fixes.fix(rotary, said) == ["num_attention_heads 7->6"]


def test_a_classifier_without_a_padding_token_gets_one():
    config = transformers.LlamaConfig(**TEXT, num_key_value_heads=2)
    assert config_fixes.fill_padding(transformers.LlamaModel, config) == []
    assert config_fixes.fill_padding(transformers.LlamaForSequenceClassification, config) == ["pad_token_id set"]
    assert set(made(transformers.LlamaForSequenceClassification, config)) == {"input_ids", "attention_mask"}


def test_a_type_fix_is_applied_only_for_its_error():
    config = transformers.TimmBackboneConfig()
    assert config_fixes.fix(config, "create: ValueError: something else") == []
    assert config_fixes.fix(config, "create: ValueError: backbone is not set in the config") == ["backbone set"]
    assert config.backbone
    assert config_fixes.fix(config, "create: ValueError: backbone is not set in the config") == []


def test_every_type_fix_has_a_reason_and_an_existing_type():
    entries = config_fixes.load_fixes()["type_fixes"]
    assert all(entry["reason"] and entry["error"] and (entry.get("set") or entry.get("equal")) for entry in entries)
    parts = {part for entry in entries for part in config_fixes.listed(entry["part"])}
    assert parts <= set(transformers.CONFIG_MAPPING)


class _Composed:
    """A config class as in some releases: no default, and an error if a part is missing."""

    model_type = "musicgen"
    has_no_defaults_at_init = False

    def __init__(self, **parts):
        if parts.keys() < {"text_encoder", "audio_encoder", "decoder"}:
            raise ValueError("Config has to be initialized with text_encoder, audio_encoder and decoder config")
        vars(self).update(parts)

    @classmethod
    def from_dict(cls, values):
        return cls(**{key: value for key, value in values.items() if key != "model_type"})


def test_a_composed_type_gets_its_default_parts():
    config, notes = config_fixes.make_config(_Composed, {"model_type": "musicgen"})
    assert notes == ["text_encoder set", "audio_encoder set", "decoder set"]
    assert [config.text_encoder["model_type"], config.decoder["model_type"]] == ["t5", "musicgen_decoder"]


def test_a_part_in_the_config_is_kept():
    config, notes = config_fixes.make_config(_Composed, {"text_encoder": {"model_type": "bert"}})
    assert notes == ["audio_encoder set", "decoder set"]
    assert config.text_encoder == {"model_type": "bert"}


def test_a_config_without_default_parts_that_cannot_be_made_raises_its_error():
    class Alone(_Composed):
        model_type = "bert"

    with pytest.raises(ValueError, match="has to be initialized"):
        config_fixes.make_config(Alone, {"model_type": "bert"})


def test_every_type_with_default_parts_exists():
    assert config_fixes.load_fixes()["default_parts"].keys() <= set(transformers.CONFIG_MAPPING)


def test_a_hybrid_model_without_the_kernel_package_uses_the_slow_path():
    config = transformers.JambaConfig()
    said = "eager: ValueError: Fast Mamba kernels are not available. Make sure to they are installed"
    assert config_fixes.fix(config, said) == ["use_mamba_kernels set"]
    assert config.use_mamba_kernels is False


def test_a_detector_gets_the_kernels_and_stages_that_its_default_lacks():
    config = transformers.PPOCRV6MediumDetConfig()
    notes = config_fixes.fix(config, "create: TypeError: 'NoneType' object is not subscriptable")
    assert notes == ["kernel_list set", "scale_factor_list set", "intraclass_block_config set"]
    said = "eager: RuntimeError: expected input[2, 384, 14, 56] to have 96 channels, but got 384 channels instead"
    assert config_fixes.fix(config, said) == ["backbone_config.out_indices set", "backbone_config.block_configs set"]
    strides = [blocks[0][3] for blocks in config.backbone_config.block_configs]
    assert (strides, config.backbone_config.out_indices) == ([1, 2, 2, 2], [1, 2, 3, 4])


def test_the_first_of_several_languages_is_the_default_one():
    config = transformers.XmodConfig(**TEXT, languages=["de_DE", "en_XX"])
    said = "eager: ValueError: Input language unknown. Please call `XmodPreTrainedModel.set_default_language()`"
    assert "default_language set" in config_fixes.fix(config, said)
    assert config.default_language == "de_DE"


def test_a_head_for_all_stages_gets_the_maps_of_all_stages():
    config = transformers.UVDocConfig()
    stages = len(config.backbone_config.stage_names) - 1
    other = "eager: RuntimeError: expected input[2, 32, 8, 8] to have 96 channels, but got 32 channels instead"
    assert config_fixes.fix(config, other) == []
    said = other.replace("96", str(32 * stages))
    assert config_fixes.fix(config, said) == ["backbone_config.out_indices set"]
    assert len(config.backbone_config.out_features) == stages


def test_token_ids_outside_the_vocabulary_are_moved_into_it_after_an_index_error():
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "num_key_value_heads": 2, **TEXT},
        vision_config={"model_type": "clip_vision_model", **VISION}, image_token_id=5000)
    assert config_fixes.fix(config, "eager: ValueError: something else") == []
    assert config_fixes.fix(config, "eager: IndexError: index out of range in self")
    assert 64 < config.image_token_id < TEXT["vocab_size"]


@pytest.mark.parametrize("features", [8, 8 * 32], ids=["counted", "their numbers counted"])
def test_features_get_the_width_of_the_text(features):
    config = transformers.Qwen2_5_VLConfig(text_config={"hidden_size": 64}, vision_config={"out_hidden_size": 32})
    said = "eager: ValueError: Image features and image tokens do not match, tokens: 8, features: %d"
    assert config_fixes.fix(config, said % 12) == []
    assert config_fixes.fix(config, said % features) == ["out_hidden_size 32->64"]
    assert config.vision_config.out_hidden_size == config.text_config.hidden_size == 64


def test_features_with_too_few_numbers_get_the_width_of_the_text():
    config = transformers.Qwen2_5_VLConfig(text_config={"hidden_size": 64}, vision_config={"out_hidden_size": 32})
    said = "eager: RuntimeError: Number of elements of source < number of ones in mask"
    assert config_fixes.fix(config, said) == ["out_hidden_size 32->64"]
    assert config_fixes.fix(config, said) == []


def test_image_sizes_are_rounded_to_whole_tiles():
    config = transformers.LlavaNextConfig(
        text_config={"model_type": "llama", "num_key_value_heads": 2, **TEXT},
        image_grid_pinpoints=[[336, 672], [90, 336]],
        vision_config={"model_type": "clip_vision_model", **VISION, "image_size": 192})
    assert config_fixes.fix(config, "eager: ValueError: something else") == []
    said = "eager: ValueError: Image feature shape does not line up with the provided patch size."
    assert config_fixes.fix(config, said) == ["image_grid_pinpoints set"]
    assert config.image_grid_pinpoints == [[384, 768], [192, 384]]
    assert config_fixes.fix(config, said) == []


def test_a_grid_of_patches_that_is_folded_in_two_gets_an_even_side():
    config = transformers.LlavaConfig(
        text_config={"model_type": "llama", "num_key_value_heads": 2, **TEXT},
        vision_config={"model_type": "clip_vision_model", **VISION, "image_size": 7 * 16})
    assert config_fixes.fix(config, "eager: RuntimeError: something else") == []
    said = "inputs: RuntimeError: shape '[2, 3, 2, 3, 2, 32]' is invalid for input of size 3136"
    assert config_fixes.fix(config, said) == ["image_size 112->96"]
    assert config_fixes.fix(config, said) == []


def test_a_grid_of_patches_gets_a_side_that_its_fold_divides():
    config = transformers.ModernVBertConfig(vision_config={**VISION, "image_size": 7 * 16}, pixel_shuffle_factor=3)
    said = "inputs: RuntimeError: shape '[2, 7, 2, 96]' is invalid for input of size 3136"
    assert config_fixes.fix(config, said) == ["image_size 112->96"]


def test_the_output_of_a_part_gets_the_width_of_the_text():
    vision = {"embed_dim": 48, "hidden_size": 32}
    config = transformers.Qwen2VLConfig(text_config={"hidden_size": 64}, vision_config=vision)
    said = "eager: ValueError: Image features and image tokens do not match, tokens: 8, features: 8"
    assert config_fixes.fix(config, said) == ["hidden_size 32->64"]
    assert config.vision_config.hidden_size == 64


def test_the_input_width_of_a_part_is_corrected():
    config = transformers.Blip2Config(qformer_config={"encoder_hidden_size": 1408, "hidden_size": 32})
    said = "inputs: RuntimeError: addmm: mat1 and mat2 shapes cannot be multiplied (150x1024 and %dx768)"
    assert config_fixes.fix(config, said % 1407) == []
    assert config_fixes.fix(config, said % 1408) == ["encoder_hidden_size 1408->1024"]


def test_is_decoder_is_set_if_the_model_requires_it():
    config = transformers.BertConfig(**TEXT)
    assert config_fixes.fix(config, "create: AssertionError: something else") == []
    said = "create: AssertionError: If you want to use `Model` make sure that `is_decoder=True`."
    assert config_fixes.fix(config, said) == ["is_decoder set"] and config.is_decoder


def test_a_fixed_model_that_the_compiler_fails_on_is_a_failed_capture(monkeypatch):
    unmade = {"status": "failed_create", "phase": "create", "detail": "create: no head_dim"}
    uncompiled = {"status": "failed_capture", "phase": "capture", "detail": "capture: InternalTorchDynamoError"}
    rounds = [unmade, uncompiled]
    run = ModelRun({"job": "1", "config": {"model_type": "bert"}}, "reduced", Phases(lambda _: None))
    run._errors = ["create: no head_dim"]
    monkeypatch.setattr(run, "_run_smallest", lambda *_: rounds.pop(0))
    monkeypatch.setattr(config_fixes, "fix", lambda *_: ["head_dim set"])
    assert run.run() == {**uncompiled, "fixed_errors": ["create: no head_dim"]}
    assert not rounds


def test_later_runs_start_with_the_fixes_of_the_first_run(monkeypatch):
    seen = []
    values = {"model_type": "bert", "pad_token_id": None}
    job = {"job": "1", "config": values, "architecture": "BertModel", "fixed_errors": ["create: TypeError: NoneType"]}
    run = ModelRun(job, "full", Phases(lambda _: None))
    monkeypatch.setattr(run, "_run_smallest", lambda cls, config_class, config, notes, part: seen.append(
        (config.pad_token_id, notes)) or {"status": "full_graph"})
    run.run()
    assert [(pad, notes[-1]) for pad, notes in seen] == [(1, "pad_token_id set")]


def test_names_of_image_codes_have_numbers_and_their_own_ids():
    config = transformers.ChameleonConfig(vocab_size=1024, vq_config={"num_embeddings": 12})
    assert config_fixes.fix(config, "create: 'NoneType' object has no attribute 'get'")
    names = config.vocabulary_map
    assert {"IMGIMGAZ", "IMGIMGBBZ", "<|visual token 000011|>"} < set(names) and "IMGIMGBCZ" not in names
    assert len(set(names.values())) == len(names) == 26 and names["<image>"] == config.image_token_id


def test_a_config_that_rejects_a_value_is_not_fixed_and_nothing_is_raised():
    class Strict(transformers.BertConfig):
        def __setattr__(self, name, value):
            if name == "head_dim" and value is not None:
                raise LookupError("not that")
            super().__setattr__(name, value)

    config = Strict(**TEXT)
    config.head_dim = None
    assert "head_dim set" not in config_fixes.fix(config, "create: no head_dim")


class OfSections(types.SimpleNamespace):
    """Like configs that share rotary dimensions; their code calls it mrope."""


def test_a_null_in_a_text_without_sections_adds_no_sections():
    said = "eager: TypeError: 'NoneType' object is not subscriptable"
    values = {"hidden_size": 64, "num_attention_heads": 4, "vocab_size": 99, "rope_scaling": None}
    assert config_fixes._rotary_sections(types.SimpleNamespace(**values), said) == []
    assert config_fixes._rotary_sections(OfSections(**values), said) == ["mrope_section set"]


@pytest.mark.parametrize("rope, said, sections", [
    ({"rope_parameters": {"rope_theta": 1e6}}, "eager: KeyError: 'mrope_section'", [16, 24, 24]),
    ({"rope_scaling": None}, "eager: TypeError: 'NoneType' object is not subscriptable", [16, 24, 24]),
    ({"rope_scaling": None}, "create: AttributeError: 'NoneType' object has no attribute 'get'", [16, 24, 24]),
    ({"rope_parameters": {"rope_theta": 1e6}}, "eager: ValueError: positions have 4 RoPE axes", [16, 16, 16, 16]),
])
def test_image_positions_share_the_rotary_dimensions_like_published_configs(rope, said, sections):
    node = OfSections(hidden_size=8192, num_attention_heads=64, vocab_size=99, **rope)
    assert config_fixes._rotary_sections(node, "eager: ValueError: something else") == []
    assert config_fixes._rotary_sections(node, said) == ["mrope_section set"]
    assert next(iter(vars(node)[key] for key in rope))["mrope_section"] == sections
    assert config_fixes._rotary_sections(node, said) == []


def test_a_type_fix_can_copy_a_value_of_its_node(monkeypatch):
    fixes = tables.for_release(tables.read_beside(config_fixes.__file__, "config_fixes.yaml"), "5.8.0")
    monkeypatch.setattr(config_fixes, "load_fixes", lambda: fixes)
    config = transformers.DbrxConfig(d_model=64)
    said = "eager: RuntimeError: mat1 and mat2 shapes cannot be multiplied (32x64 and 3584x4)"
    assert "ffn_config.ffn_hidden_size set" in config_fixes.fix(config, said)
    assert config.ffn_config.ffn_hidden_size == config.ffn_config.hidden_size == 64


def test_sections_share_the_rotary_part_of_a_head():
    """From published models that rotate half of each head: width 128, 64 rotated, 32 angles."""
    node = OfSections(hidden_size=4096, num_attention_heads=96, head_dim=128, partial_rotary_factor=0.5, vocab_size=99,
                      rope_scaling=None)
    config_fixes._rotary_sections(node, "eager: TypeError: 'NoneType' object is not subscriptable")
    assert node.rope_scaling["mrope_section"] == [8, 12, 12]


def test_a_type_fix_can_set_one_value_for_each_layer(monkeypatch):
    entry = {"part": "bert", "error": "not subscriptable", "set": {"kinds": {"per_layer": "mamba"}}}
    monkeypatch.setattr(config_fixes, "load_fixes", lambda: {"type_fixes": [entry]})
    config, said = transformers.BertConfig(num_hidden_layers=3), "create: 'NoneType' object is not subscriptable"
    assert config_fixes._apply_type_fixes(config, said) == ["kinds set"]
    assert config.kinds == ["mamba"] * 3
    assert config_fixes._apply_type_fixes(config, said) == []


def test_no_model_loads_pretrained_weights_of_its_backbone():
    config = transformers.BertConfig(**TEXT)
    config.part = transformers.BertConfig(**TEXT)
    config.part.use_pretrained_backbone = True
    build.construct(transformers.BertModel, config)
    assert config.part.use_pretrained_backbone is False
