"""Which runs a capture needs, and which numbers of two runs are published."""

import pytest
from breakwatch_worker.capture import combine, needs_every_group, needs_full

DEEP_BERT = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 32, "num_hidden_layers": 5,
             "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 99}
# Finds the end of each text by its token: a mask as an index, whose size depends on the data.
BREAKING_BART = {
    "model_type": "bart", "architectures": ["BartForSequenceClassification"], "d_model": 32, "encoder_layers": 3,
    "decoder_layers": 3, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32, "vocab_size": 99, "max_position_embeddings": 64,
}
# Routes each token by its value: the break is in the layers.
BREAKING_SWITCH = {
    "model_type": "switch_transformers", "architectures": ["SwitchTransformersEncoderModel"], "d_model": 16, "d_kv": 8,
    "d_ff": 16, "num_layers": 3, "num_sparse_encoder_layers": 3, "num_heads": 2, "num_experts": 2, "vocab_size": 99,
}
# Its vision tower breaks in its blocks; its text, with twice the depth, is one part of one graph.
BREAKING_QWEN = {
    "model_type": "qwen2_vl", "architectures": ["Qwen2VLForConditionalGeneration"], "image_token_id": 90,
    "video_token_id": 91, "vision_start_token_id": 92, "vision_end_token_id": 93,
    "text_config": {
        "model_type": "qwen2_vl_text", "hidden_size": 32, "num_hidden_layers": 6, "num_attention_heads": 2,
        "num_key_value_heads": 2, "intermediate_size": 32, "vocab_size": 99,
        "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [2, 3, 3]}},
    "vision_config": {"model_type": "qwen2_vl", "depth": 3, "embed_dim": 32, "hidden_size": 32, "num_heads": 2,
                      "mlp_ratio": 1, "patch_size": 14},
}
REDUCED = {"status": "graph_breaks", "depth": "reduced", "detail": "2 breaks", "breaks": 2, "ops_captured": 10,
           "phase_s": {"create": 1.0}, "capture_s": 1.0, "cpu_s": 1.0, "peak_rss_mb": 5}
BESIDE = {**REDUCED, "layer_groups": []}
PARTIAL = {"status": "graph_breaks", "partly_full": True, "layer_groups": ["layers"]}
FULL = {"status": "graph_breaks", "depth": "full", "detail": "6 breaks", "breaks": 6, "ops_captured": 99,
        "phase_s": {"create": 2.0}, "capture_s": 2.0, "cpu_s": 2.0, "peak_rss_mb": 4}
CLEAN = {**REDUCED, "status": "full_graph", "breaks": 0, "detail": "1 graph"}


@pytest.mark.parametrize("depth, result, expected", [
    ("auto", REDUCED, True), ("auto", CLEAN, False), ("verify", CLEAN, True), ("verify", REDUCED, True),
    ("auto", {**REDUCED, "depth": "original"}, False), ("auto", BESIDE, False),
    ("verify", BESIDE, True), ("verify", {"status": "timeout"}, False)])
def test_a_full_depth_run_follows_if_it_can_find_more(depth, result, expected):
    assert needs_full(depth, result) == expected


def test_breaks_come_from_the_full_depth_run_and_ops_from_the_reduced_run():
    both = combine(REDUCED, FULL)
    assert (both["breaks"], both["ops_captured"], both["depth"], both["ops_depth"]) == (6, 10, "full", "reduced")
    assert (both["capture_s"], both["cpu_s"], both["peak_rss_mb"]) == (3.0, 3.0, 5)
    assert both["phase_s"] == {"create": 3.0}


def test_a_failed_full_depth_run_publishes_the_reduced_result_and_reports_it():
    both = combine(REDUCED, {"status": "timeout", "detail": "capture passed its limit of 9 s"})
    assert (both["status"], both["breaks"], both["depth"]) == ("graph_breaks", 2, "reduced")
    assert both["detail"] == "2 breaks; at full depth: timeout, capture passed its limit of 9 s"


def test_a_full_depth_run_with_other_arguments_publishes_the_reduced_result():
    pictures = {**REDUCED, "inputs": {"input_ids": {}, "pixel_values": {}}}
    both = combine(pictures, {**FULL, "inputs": {"input_ids": {}}})
    assert (both["status"], both["breaks"], both["depth"]) == ("graph_breaks", 2, "reduced")
    assert both["detail"] == "2 breaks; at full depth: called without pixel_values"
    assert combine(pictures, {**FULL, "inputs": pictures["inputs"]})["breaks"] == 6


def test_the_cost_of_both_runs_is_added():
    failed = combine(REDUCED, {"status": "timeout", "detail": "late", "phase_s": {"create": 1.5, "eager": 0.5}})
    assert failed["phase_s"] == {"create": 2.5, "eager": 0.5}
    assert combine(CLEAN, {**FULL, "phase_cpu_s": {"create": 2.0}})["phase_cpu_s"] == {"create": 2.0}


def test_a_model_that_breaks_at_full_depth_only_is_a_mismatch():
    both = combine(CLEAN, FULL)
    assert (both["status"], both["depth_mismatch"]) == ("full_graph", True)
    assert combine(CLEAN, {**FULL, "status": "full_graph"})["depth_mismatch"] is False


def test_other_breaks_at_full_depth_are_a_mismatch_if_no_layer_matters():
    same = combine(BESIDE, {**FULL, "breaks": 2})
    assert (same["depth"], same["depth_mismatch"], same["ops_captured"]) == ("reduced", False, 10)
    more = combine(BESIDE, FULL)
    assert (more["depth"], more["depth_mismatch"], more["breaks"], more["ops_captured"]) == ("full", True, 6, 10)


@pytest.mark.parametrize("outcome, expected", [
    (PARTIAL, False), ({**PARTIAL, "layer_groups": []}, False),
    ({**PARTIAL, "layer_groups": ["layers", "blocks"]}, True),
    ({**PARTIAL, "layer_groups": None}, True), ({**PARTIAL, "status": "failed_eager"}, True),
    ({**PARTIAL, "status": "timeout"}, False), ({**PARTIAL, "layer_groups": None, "partly_full": False}, False)])
def test_all_layer_groups_are_at_full_depth_if_the_wanted_ones_were_not_enough(outcome, expected):
    assert needs_every_group(["layers"], outcome) == expected


def test_the_reduced_run_is_published_if_no_group_that_matters_was_cut():
    both = combine(REDUCED, {"status": "not_attempted", "detail": "none is cut", "cpu_s": 0.5})
    assert (both["breaks"], both["depth"], both["detail"], both["cpu_s"]) == (2, "reduced", "2 breaks", 1.5)


def captures_of(zygote) -> int:
    return [message["phase"] for message in zygote.seen if message["type"] == "phase"].count("capture")


def test_a_model_that_breaks_in_its_layers_gets_a_full_depth_run(zygote):
    zygote.seen.clear()
    result = zygote.capture(BREAKING_SWITCH)
    assert (result["status"], result["depth"], captures_of(zygote)) == ("graph_breaks", "full", 2)
    assert result["breaks"] == sum(site["occurrences"] for site in result["sites"]) > 0
    assert result["unexplained_events"] == 0
    full_alone = zygote.capture(BREAKING_SWITCH, depth="full")
    assert (full_alone["sites"], full_alone["graphs"]) == (result["sites"], result["graphs"])


def test_a_model_that_breaks_outside_its_layers_needs_one_run(zygote):
    zygote.seen.clear()
    once = zygote.capture(BREAKING_BART)
    assert (once["status"], once["depth"], captures_of(zygote)) == ("graph_breaks", "reduced", 1)
    assert "layer_groups" not in once and "partly_full" not in once
    verified = zygote.capture(BREAKING_BART, depth="verify")
    assert (verified["depth"], verified["depth_mismatch"]) == ("reduced", False)
    full = zygote.capture(BREAKING_BART, depth="full")
    for name in ("breaks", "break_sites", "graphs", "frames_total", "dynamo_counter_breaks", "sites"):
        assert once[name] == full[name], name


def test_only_layer_groups_that_matter_are_at_full_depth(zygote):
    some = zygote.capture(BREAKING_QWEN)
    every = zygote.capture(BREAKING_QWEN, depth="full")
    assert (some["depth"], every["depth"]) == ("full", "full")
    assert "text_config.num_hidden_layers 6->2" in some["detail"] and "depth" not in some["detail"]
    for name in ("breaks", "break_sites", "graphs", "frames_total", "dynamo_counter_breaks", "sites"):
        assert some[name] == every[name], name
    assert "partly_full" not in some


def test_a_layer_group_that_was_not_reduced_needs_no_second_run(zygote):
    zygote.seen.clear()
    shallow = {**BREAKING_QWEN, "vision_config": {**BREAKING_QWEN["vision_config"], "depth": 2}}
    once = zygote.capture(shallow)
    assert (once["status"], once["depth"], captures_of(zygote)) == ("graph_breaks", "reduced", 1)
    every = zygote.capture(shallow, depth="full")
    assert (once["sites"], once["graphs"]) == (every["sites"], every["graphs"])


def test_a_model_without_breaks_needs_one_run_except_to_verify(zygote):
    once = zygote.capture(DEEP_BERT)
    assert (once["status"], once["depth"], "depth_mismatch" in once) == ("full_graph", "reduced", False)
    verified = zygote.capture(DEEP_BERT, depth="verify")
    assert (verified["depth"], verified["depth_mismatch"]) == ("reduced", False)
    assert verified["ops_captured"] == once["ops_captured"]
