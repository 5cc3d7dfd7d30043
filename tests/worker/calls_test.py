"""The job's `call`: which optional arguments it passes, and that the model runs with them."""

import pytest
import torch
import transformers
from breakwatch_worker import run_classes
from breakwatch_worker.inputs import calls, copies, forward_inputs
from breakwatch_worker.inputs.call_variants import CallVariants
from breakwatch_worker.model import build
from breakwatch_worker.model.architecture import Stop

TEXT = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 120}
T5 = {"d_model": 32, "d_kv": 16, "d_ff": 32, "num_layers": 1, "num_heads": 2, "vocab_size": 120,
      "decoder_start_token_id": 0}
SOUND = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
         "conv_dim": (8, 8), "conv_stride": (5, 4), "conv_kernel": (10, 8), "num_conv_pos_embeddings": 4,
         "num_conv_pos_embedding_groups": 2}


def called(cls, config, call) -> dict:
    """The arguments of the first variant with which the model runs, as an attempt finds it."""
    model, variants, said = build.construct(cls, config), CallVariants(cls, call=call), []
    for variant in variants:
        arguments = forward_inputs.make(model, config, variant)
        try:
            with torch.no_grad():
                model(**copies.fresh(arguments))
        except Exception as error:
            said.append(str(error))
            variants.add_fix(str(error))
            continue
        return arguments
    raise AssertionError(said)


@pytest.mark.parametrize(("cls", "config", "minimal", "more"), [
    (transformers.BertModel, transformers.BertConfig(**TEXT), {"input_ids"},
     {"attention_mask", "token_type_ids", "position_ids"}),
    (transformers.T5Model, transformers.T5Config(**T5), {"input_ids", "decoder_input_ids"},
     {"attention_mask", "decoder_attention_mask"}),
    (transformers.Wav2Vec2Model, transformers.Wav2Vec2Config(**SOUND), {"input_values"}, {"attention_mask"}),
], ids=["bert", "t5", "wav2vec2"])
def test_minimal_passes_what_the_model_needs_and_all_what_recipes_make(cls, config, minimal, more):
    default = set(called(cls, config, "default"))
    assert set(called(cls, config, "minimal")) == minimal <= default
    every = called(cls, config, "all")
    assert set(every) == default | more
    assert all(isinstance(every[name], torch.Tensor) for name in more)


def test_an_audio_mask_has_the_length_of_the_audio():
    every = called(transformers.Wav2Vec2Model, transformers.Wav2Vec2Config(**SOUND), "all")
    assert every["attention_mask"].shape == every["input_values"].shape


def test_the_argument_that_replaces_the_main_input_is_passed():
    config = transformers.Pop2PianoConfig(**T5)
    cls = transformers.Pop2PianoForConditionalGeneration
    assert set(called(cls, config, "minimal")) == {"input_features", "decoder_input_ids"}
    assert "attention_mask" in called(cls, config, "default")


def test_minimal_has_no_partial_variants():
    assert not list(CallVariants(transformers.LlavaForConditionalGeneration, partial=True, call="minimal"))


def test_an_inputs_spec_applies_to_every_call():
    model = build.construct(transformers.BertModel, transformers.BertConfig(**TEXT))
    variants = CallVariants(transformers.BertModel, {"add": ["token_type_ids"]}, call="minimal")
    assert set(forward_inputs.make(model, model.config, next(iter(variants)))) == {"input_ids", "token_type_ids"}


def test_an_unknown_call_and_one_of_another_library_end_the_capture_with_a_reason():
    with pytest.raises(Stop) as stop:
        calls.call_name({"call": "some"})
    assert stop.value.status == "failed_inputs" and "minimal" in stop.value.detail
    pipeline = {"config": {"model_index": {}, "components": {}}}
    assert run_classes.run_class_of({**pipeline, "call": "default"})
    with pytest.raises(Stop) as stop:
        run_classes.run_class_of({**pipeline, "call": "minimal"})
    assert stop.value.status == "skipped_unsupported_library"


def test_the_result_lists_a_bounded_number_of_passed_and_omitted_arguments():
    def forward(x, mask=None, *more, flag=True, **rest):
        return x

    assert calls.optional_arguments(forward, {"x": 1, "flag": False, "other": 1}) == {
        "optional_passed": ["flag"], "optional_left_out": ["mask"]}
    names = {f"argument_{index}": None for index in range(100)}
    many = eval(f"lambda {', '.join(f'{name}=None' for name in names)}: None")
    assert len(calls.optional_arguments(many, names)["optional_passed"]) == 64
    assert calls.optional_arguments(type, {}) == {}  # a builtin without a signature
