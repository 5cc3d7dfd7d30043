"""A text is longer than the windows, blocks and chunks of its model, as real texts are."""

import pathlib
import re

import pytest
import transformers
from breakwatch_worker.inputs import forward_inputs
from breakwatch_worker.inputs.call_variants import CallVariants
from breakwatch_worker.model import build, sizes, windows
from breakwatch_worker.process import child
from inputs_test import TEXT
from worker_support import Answers

SMALL = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64,
         "vocab_size": 128}
PAIR = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2,
        "decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "vocab_size": 128}
PLACES = {"max_position_embeddings": 300}
# Models for which a text of 16 tokens fits into one window, with a length that does not, for the authors' windows.
LONG = {
    "longformer": {"class": "LongformerModel", "tokens": {"input_ids": 128}, "config": {
        "model_type": "longformer", **SMALL, **PLACES, "attention_window": [64]}},
    "led": {"class": "LEDModel", "tokens": {"input_ids": 128, "decoder_input_ids": 8}, "config": {
        "model_type": "led", **PAIR, "max_encoder_position_embeddings": 300, "attention_window": [64]}},
    "big_bird": {"class": "BigBirdModel", "tokens": {"input_ids": 192}, "config": {
        "model_type": "big_bird", **SMALL, **PLACES, "block_size": 16}},
    "reformer": {"class": "ReformerModel", "tokens": {"input_ids": 256}, "config": {
        "model_type": "reformer", "hidden_size": 32, "num_attention_heads": 2, "attention_head_size": 16,
        "feed_forward_size": 32, "vocab_size": 128, "attn_layers": ["local", "lsh"], "axial_pos_embds_dim": [16, 16]}},
    "mistral": {"class": "MistralModel", "tokens": {"input_ids": 128}, "config": {
        "model_type": "mistral", **SMALL, "num_key_value_heads": 1, "sliding_window": 64}},
}


def cut(config):
    plan = next(sizes.plans(config, "reduced"))
    return plan, plan.make(type(config))


@pytest.fixture(scope="module")
def plain():
    """Of a model, what torch alone counts at the stated length."""
    answers = Answers("plain_lengths.py")
    yield lambda name: answers.to([LONG[name]])
    answers.close()


@pytest.mark.parametrize("name", LONG)
def test_a_reduced_window_counts_like_plain_torch_with_a_text_over_the_original_window(zygote, plain, name):
    result = zygote.capture(LONG[name]["config"], architecture=LONG[name]["class"], depth="reduced")
    expected = plain(name)
    assert {key: result.get(key) for key in expected} == expected, result
    assert result["inputs"]["input_ids"]["shape"][1] <= 64  # short, because its window was reduced
    assert "->" in result["detail"] and "shorter" not in result["detail"]
    assert not [site for site in result["sites"] if "warn" in site["source_line"]]  # nothing is padded


@pytest.mark.parametrize("config, key, value", [
    (transformers.LongformerConfig(attention_window=[512] * 12), "attention_window", [8, 8]),
    (transformers.MistralConfig(), "sliding_window", 4),
    (transformers.MistralConfig(sliding_window=None), "sliding_window", None),
    (transformers.BigBirdConfig(), "block_size", 4),
    (transformers.ReformerConfig(axial_pos_shape=[512, 1024]), "axial_pos_shape", (16, 16)),
    (transformers.GPTNeoConfig(), "window_size", 4),
    (transformers.SwinConfig(), "window_size", 7),  # of images
    (transformers.BarkSemanticConfig(), "block_size", 1024),  # positions of tokens, not blocks of them
])
def test_only_windows_of_text_are_reduced(config, key, value):
    plan, small = cut(config)
    assert getattr(small, key) == value
    assert (f"{key} " in plan.note) == (getattr(config, key) != value)


@pytest.mark.parametrize("pool, reduced", [(16, (4, 8)), (3, (3, 9)), (1, (1, 8)), (None, (None, 8))])
def test_a_reduced_window_is_a_multiple_of_its_pool(pool, reduced):
    node = {"index_kpool": pool, "index_topk": 48}
    windows.cut("", node)
    assert (node["index_kpool"], node["index_topk"]) == reduced


@pytest.mark.parametrize("config, tokens", [
    (transformers.BertConfig(), 16), (transformers.MistralConfig(sliding_window=64), 65),
    (transformers.LongformerConfig(attention_window=64), 128), (transformers.BigBirdConfig(), 768),
    (transformers.ReformerConfig(), 256), (transformers.ReformerConfig(axial_pos_shape=[16, 32]), 256),
    (transformers.LongformerConfig(attention_window=[6, 8]), 24),  # a multiple of each layer's window
    (transformers.MistralConfig(sliding_window=1 << 20), 16),  # longer than the longest text
    (transformers.LongformerConfig(attention_window=64, max_position_embeddings=100), 16),  # over its positions
])
def test_a_text_is_longer_than_a_window_that_is_kept(config, tokens):
    assert windows.Length(config, 16).tokens == tokens
    assert windows.Length(cut(config)[1], 16).tokens <= 64


@pytest.mark.parametrize("trains, tokens", [(False, 64), (True, 256)])
def test_a_text_has_the_length_of_its_axes_in_training_only(trains, tokens):
    assert windows.Length(cut(transformers.ReformerConfig(axial_pos_shape=[64, 64]))[1], 16, trains).tokens == tokens


def test_a_text_with_an_exact_training_length_has_other_lengths_in_other_modes(zygote):
    config = {**LONG["reformer"]["config"], "attn_layers": ["local"]}
    result = zygote.capture(config, architecture="ReformerModel", mode="recompile")
    assert "input_ids[1]" in result["mode_detail"]["varied"], result
    small = cut(transformers.ReformerConfig(**config))[1]
    trains = next(iter(CallVariants(transformers.ReformerModel, trains=True)))
    made = forward_inputs.make(build.construct(transformers.ReformerModel, small), small, trains)
    assert made["input_ids"].shape[1] == 256


def test_a_text_that_cannot_exceed_a_window_is_reported_as_shorter():
    config = transformers.MistralConfig(**TEXT, num_key_value_heads=2, sliding_window=1 << 20)
    plan = forward_inputs.Plan(build.construct(transformers.MistralModel, config), config, {"name": "all"})
    assert plan.too_short() == ["input shorter than sliding_window"]
    config.sliding_window = 16
    plan = forward_inputs.Plan(build.construct(transformers.MistralModel, config), config, {"name": "all"})
    assert plan.too_short() == []


def test_an_inputs_spec_with_a_length_keeps_the_windows_of_the_config():
    config = {"model_type": "mistral", "architectures": ["MistralModel"], **TEXT, "num_key_value_heads": 2,
              "sliding_window": 4096}
    result = child._guarded({"config": config, "inputs_spec": {"sizes": {"seq": 5}}}, "reduced", lambda message: None)
    assert result["inputs"]["input_ids"]["shape"] == [2, 5]
    assert "->" not in result["detail"] and "input shorter than sliding_window" in result["detail"]


def test_every_window_has_a_reason_and_is_a_key_of_the_library():
    models = pathlib.Path(transformers.__file__).parent / "models"
    written = "\n".join(path.read_text(encoding="utf-8") for path in models.glob("*/configuration_*.py"))
    entries = windows.load_windows()["windows"]
    assert all(entry["reason"] and ("to" in entry) != ("product" in entry) for entry in entries)
    assert not [entry["key"] for entry in entries for key in (entry["key"], *entry.get("beside", [])[:1])
                if not re.search(rf"^    {key}\b", written, re.M)]


def test_a_window_that_a_config_gives_only_by_layer_counts_as_the_common_one():
    class Layered(transformers.BertConfig):
        def __getattribute__(self, name):
            if name == "sliding_window":
                raise RuntimeError("'sliding_window' is a per-layer attribute and may vary across layers")
            return super().__getattribute__(name)

    config = Layered(num_hidden_layers=2)
    vars(config)["sliding_window"] = 32
    assert windows.Length(config, 16).tokens > 32
