"""Calls that fail or end their process: whether the model or the compiler failed, with and without a fork."""

import pytest
from own_cases import capture

# Factory of own_ends.py, mode, and the expected result: status, words of the detail.
ENDS = [
    ("exits", "eval", "failed_eager", "sys.exit('no licence key found')"),
    ("exits", "recompile", "failed_eager", "sys.exit("),
    ("exits", "export", "failed_eager", "sys.exit("),
    ("is_interrupted", "eval", "failed_eager", "KeyboardInterrupt: enough"),
    ("leaves_without_an_error", "eval", "crashed", "exit code 0 without a result"),
    ("takes_one_of_two", "eval", "failed_inputs", "do not fit"),
    ("fits_one_batch", "recompile", "failed_inputs", "no second shape: RuntimeError"),
    ("fails_after_a_break", "fullgraph", "failed_eager", "it never ran"),
    ("never_runs", "recompile", "failed_eager", "cannot be multiplied"),
]


@pytest.mark.parametrize("busy", ["", "busy_"], ids=["apart", "beside a thread"])
@pytest.mark.parametrize("name, mode, status, words", ENDS, ids=[f"{name}-{mode}" for name, mode, *_ in ENDS])
def test_a_call_that_fails_is_not_a_failure_of_the_compiler(allowing, name, mode, status, words, busy):
    result = capture(allowing, f"own_ends:{busy}{name}", mode)
    assert (result["status"], words in result["detail"]) == (status, True), result


@pytest.mark.parametrize("busy", ["", "busy_"], ids=["apart", "beside a thread"])
def test_code_with_its_own_backward_gets_no_second_one(allowing, busy):
    result = capture(allowing, f"own_ends:{busy}runs_its_backward", "train")
    assert result["status"] == "graph_breaks", result
    assert result["mode_detail"]["loss"] == "none added: the called code runs a backward itself"
    assert "backward_error" not in result["mode_detail"]


def test_a_builtin_without_inputs_has_an_error_that_names_them(allowing):
    result = capture(allowing, "own_ends:a_builtin_alone")
    assert result["status"] == "failed_create", result
    assert result["suggestion"] == "let the factory return (module, inputs)", result


def test_without_a_second_shape_there_is_no_result_for_one_shape(allowing):
    result = capture(allowing, "own_zoo:jagged_beside_a_thread", "recompile")
    assert (result["status"], "no second shape" in result["detail"]) == ("failed_inputs", True), result
    assert result["suggestion"].startswith("none")


def test_a_tensor_expanded_along_another_dimension_gets_other_rows(allowing):
    result = capture(allowing, "own_zoo:is_expanded_within_its_rows", "recompile")
    assert (result["status"], result["recompiles"]) == ("full_graph", 1), result
