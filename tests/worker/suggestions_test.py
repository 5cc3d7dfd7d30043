"""A failed capture comes with a suggestion."""

import pytest
from breakwatch_worker.suggestions import suggestion_for


@pytest.mark.parametrize("status, detail, suggestion", [
    ("failed_inputs", "inputs: CannotMake: no recipe for the required argument session of X", "session"),
    ("failed_inputs", "inputs_spec: sizes.seq: a number", "correct sizes.seq in"),
    ("skipped_missing_dependency", "needs natten: ImportError: ...", "install natten "),
    ("skipped_missing_dependency", "needs a package: ImportError: ...", "install in the toolchain what"),
    ("timeout", "eager passed its limit of 120 s", "raise capture.limits.eager"),
    ("failed_create", "create: AttributeError: 'XConfig' object has no attribute 'depth'", "add depth to the config"),
    ("failed_eager", "eager: RuntimeError: something", "when called"),
])
def test_the_suggestion_names_what_failed(status, detail, suggestion):
    assert suggestion in suggestion_for(status, detail)


@pytest.mark.parametrize("status, detail, suggestion", [
    ("failed_create", "create: AttributeError: module 'mine' has no attribute 'mak'", "mine has no mak"),
    ("failed_create", "create: LookupError: no module 12ab was called; seen: 34cd", "no module has the hash 12ab"),
    ("failed_create", "create: ValueError: Net needs x: let the factory return (module, inputs)", "(module, inputs)"),
    ("failed_create", "create: RuntimeError: boom", "correct the factory or script"),
    ("failed_eager", "eager: NameError: name 'y' is not defined", "correct the code"),
    ("failed_inputs", "no second shape: RuntimeError: shape '[8]' is invalid", "accepts one batch size only"),
    ("failed_inputs", "no second shape: breakwatch cannot copy what the model is called with: x", "cannot be copied"),
    ("failed_inputs", "inputs: these inputs do not fit Linear: missing a required argument: 'y'", "correct the inputs"),
    ("timeout", "create passed its limit of 60 s", "raise capture.limits.create")])
def test_suggestions_for_the_users_own_code_do_not_mention_a_config(status, detail, suggestion):
    assert suggestion in suggestion_for(status, detail, own=True)


@pytest.mark.parametrize("status", [
    "failed_create", "failed_inputs", "failed_eager", "failed_capture", "out_of_memory", "crashed",
    "skipped_custom_code", "skipped_too_large", "skipped_unsupported_library", "skipped_no_config"])
def test_every_failed_status_has_a_suggestion(status):
    assert suggestion_for(status, "something else")


def test_a_successful_capture_has_no_suggestion():
    assert not suggestion_for("full_graph", "1 graph") and not suggestion_for("graph_breaks", "2 breaks at 1 site")
