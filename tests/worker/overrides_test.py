"""The job's `dtype` and `attention`."""

import pytest

VIT = {"model_type": "vit", "architectures": ["ViTModel"], "hidden_size": 32, "num_hidden_layers": 1,
       "num_attention_heads": 2, "intermediate_size": 64, "image_size": 32, "patch_size": 16}
REFORMER = {"model_type": "reformer", "architectures": ["ReformerModel"]}


@pytest.mark.parametrize("mode", ["eval", "cold"])
def test_a_model_and_its_arguments_have_the_dtype_of_the_job(zygote, mode):
    result = zygote.capture(VIT, dtype="bfloat16", mode=mode)
    assert (result["status"], result["dtype"]) == ("full_graph", "bfloat16"), result["detail"]
    assert result["inputs"]["pixel_values"]["dtype"] == "bfloat16"
    assert zygote.capture(VIT, mode=mode)["inputs"]["pixel_values"]["dtype"] == "float32"


def test_tokens_keep_their_dtype(zygote):
    result = zygote.capture(dtype="bfloat16")
    assert (result["status"], result["inputs"]["input_ids"]["dtype"]) == ("full_graph", "int64"), result["detail"]


def test_the_attention_of_the_job_is_captured(zygote):
    eager, sdpa = (zygote.capture(VIT, attention=name) for name in ("eager", "sdpa"))
    assert (eager["status"], sdpa["status"]) == ("full_graph", "full_graph")
    assert eager["ops_captured"] > sdpa["ops_captured"], "attention in one operation"


def test_an_attention_that_the_model_does_not_have_is_a_failure_that_names_it(zygote):
    result = zygote.capture(REFORMER, attention="sdpa")
    assert result["status"] == "failed_create" and "attention" in result["detail"]


@pytest.mark.parametrize("wrong", [{"dtype": "float8"}, {"attention": "flash"}])
def test_unknown_names_are_refused(zygote, wrong):
    result = zygote.capture(**wrong)
    assert result["status"] == "failed_create" and "unknown" in result["detail"]


def test_models_of_other_libraries_refuse_both(zygote):
    result = zygote.capture({"architecture": "resnet18", "pretrained_cfg": {}}, library="timm", dtype="float16")
    assert result["status"] == "failed_create" and "transformers only" in result["detail"]
