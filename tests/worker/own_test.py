"""The user's modules, captured by a real zygote and compared with plain torch in a process that never called them."""

import json

import pytest
from own_cases import HERE, NUMBERS, capture, plain
from worker_support import ROOT

FIRST_CALL = ("fills_its_class", "asks_a_lazy_global", "counts_its_cache", "sets_the_environment", "keeps_what_it_saw",
              "reads_a_generator", "busy_elsewhere", "shared_with_other_processes", "ignores_its_children")
ARGUMENTS = ("is_no_view", "is_a_view", "is_a_leaf_with_a_gradient", "is_expanded", "is_the_modules_own",
             "shares_its_memory")
DRAWN = ("draws_a_number", "draws_beside_a_thread")
METHODS = ("is_a_method_in_training", "is_a_method_in_eval")
NOT_COPIED = ("with_a_sparse_buffer", "lazy", "jagged", "locked")
# A name for each input.
SIGNATURES = {f"own_calls:{name}": names for name, names in {
    "takes_many": {"parts"}, "takes_by_position_only": {"x"}, "takes_anything_by_name": {"x", "y", "z"},
    "takes_by_name_only": {"x", "scale"}, "mixes_all": {"x", "y", "rest"}, "takes_a_dataclass": {"batch", "pair"},
    "takes_many_as_a_function": {"parts"}, "is_a_method": {"parts"}, "is_a_partial": {"x"},
    "an_object_that_is_called": {"x"},
}.items()}
CASES = [
    *((name, "eval") for name in (*FIRST_CALL, *DRAWN, *METHODS, *ARGUMENTS, *NOT_COPIED, *SIGNATURES)),
    *((name, "train") for name in ("is_written_into", "is_a_computed_view_that_is_written_into", "jagged", "lazy")),
    *((name, "dynamic") for name in ("has_strides_of_its_own", "asks_a_cache", "is_reshaped")),
    *((name, "train") for name in ("merges_in_eval", *METHODS)),
    *((name, mode) for name in ("busy_elsewhere", "shared_with_other_processes")
      for mode in ("recompile", "train", "fullgraph")),
    ("keeps_what_it_saw", "cold"),
    ("is_one_object", "nested"),
    ("locked", "fullgraph"),
]
OF_THE_LIBRARY = ("llava", "cold")


@pytest.mark.parametrize("name, mode", CASES)
def test_a_capture_finds_what_plain_torch_finds(allowing, name, mode):
    found, result = plain(name, mode), capture(allowing, name, mode)
    assert not found["error"]
    assert {number: result.get(number) for number in NUMBERS} == {number: found[number] for number in NUMBERS}, result
    assert result["status"] == ("graph_breaks" if found["breaks"] else "full_graph")
    assert result["unexplained_events"] == 0
    assert set(result["inputs"]) == SIGNATURES.get(name, set(result["inputs"]))


@pytest.mark.parametrize("name", FIRST_CALL)
def test_code_of_the_first_call_only_breaks(name):
    assert plain(name, "eval")["breaks"] > 0


def test_the_steady_state_of_a_library_model_differs_from_its_first_call(zygote):
    """Making the inputs also calls a part of the model, its vision tower, for the number of features."""
    config = {"architectures": ["LlavaForConditionalGeneration"], **json.loads((HERE / "llava.json").read_text())}
    steady, cold = (zygote.capture(config, mode=mode) for mode in ("eval", "cold"))
    found = plain(*OF_THE_LIBRARY)
    assert {number: cold[number] for number in NUMBERS} == {number: found[number] for number in NUMBERS}, cold
    assert steady["breaks"] < cold["breaks"] and steady["inputs"] == cold["inputs"]
    assert cold["mode"] == "cold"


def test_a_cold_capture_that_fails_eagerly_has_the_usual_detail(zygote):
    spec = {"arguments": {"token_type_ids": {"kind": "ids", "low": 50, "below": 60, "shape": ["batch", "seq"]}}}
    steady, cold = (zygote.capture(mode=mode, inputs_spec=spec) for mode in ("eval", "cold"))
    assert (cold["status"], cold["detail"]) == (steady["status"], steady["detail"])
    assert cold["status"] == "failed_eager" and cold["phase"] == "eager"


@pytest.mark.parametrize("mode", ["eval", "recompile"])
def test_code_that_never_runs_fails_eagerly(allowing, mode):
    result = capture(allowing, "own_ends:never_runs", mode)
    assert (result["status"], result["phase"]) == ("failed_eager", "eager")
    assert "mat1 and mat2 shapes cannot be multiplied" in result["detail"]


def test_inputs_that_do_not_fit_the_signature_are_failed_inputs(allowing):
    result = capture(allowing, "own_ends:does_not_fit")
    assert (result["status"], "do not fit" in result["detail"]) == ("failed_inputs", True), result


@pytest.mark.parametrize("name", ["own_calls:registered", "own_calls:of_a_dataclass"])
def test_another_batch_size_is_made_in_custom_containers(allowing, name):
    result = capture(allowing, name, "recompile")
    assert (result["status"], result["recompiles"]) == ("full_graph", 1), result
    assert len(result["mode_detail"]["varied"]) == 1


def test_arguments_that_cannot_be_copied_are_reported_if_a_copy_is_needed(allowing):
    result = capture(allowing, "locked", "recompile")
    assert (result["status"], "breakwatch cannot copy" in result["detail"]) == ("failed_inputs", True), result


@pytest.mark.parametrize("name", [
    "own_calls:an_object_that_is_called", "own_calls:takes_many_as_a_function_without_breaks"])
def test_a_callable_that_is_not_a_module_is_exported_by_each_exporter(allowing, name):
    result = capture(allowing, name, "export")
    details = result["mode_detail"]
    assert details["non_strict"]["outcome"] == details["strict"]["outcome"] == "exported", result


def test_a_module_that_cannot_run_may_be_exported_and_the_detail_reports_both(allowing):
    result = capture(allowing, "own_ends:made_of_shapes_alone", "export")
    assert result["status"] == "full_graph" and "the eager call fails" in result["detail"], result
    assert capture(allowing, "own_ends:made_of_shapes_alone")["status"] == "failed_eager"
    assert capture(allowing, "own_ends:never_runs", "export")["status"] == "failed_eager"


def test_a_factory_finds_files_relative_to_the_users_directory(allowing, tmp_path):
    (tmp_path / "width.txt").write_text("5")
    assert capture(allowing, "reads_beside", cwd=str(tmp_path))["status"] == "full_graph"


@pytest.mark.parametrize("name, status, words", [
    ("own_ends:ends_by_a_signal", "crashed", "SIGSEGV during eager"),
    ("own_ends:leaves", "crashed", "exit code 3 without a result")])
def test_a_call_that_ends_its_process_is_reported(allowing, name, status, words):
    result = capture(allowing, name)
    assert (result["status"], words in result["detail"]) == (status, True), result


def test_a_script_is_captured_at_its_first_call(allowing, tmp_path):
    (tmp_path / "script.py").write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(HERE)!r})\n"
        "import own_zoo\n"
        "made, given = own_zoo.keeps_what_it_saw()\n"
        "made(*given)\n")
    result = allowing.capture(source={"kind": "script", "path": str(tmp_path / "script.py"), "hash": ""})
    found = plain("keeps_what_it_saw", "eval")
    assert {number: result[number] for number in NUMBERS} == {number: found[number] for number in NUMBERS}


def test_lazy_parameters_are_counted_after_their_initialisation(allowing):
    assert capture(allowing, "lazy")["params"] == 16


def test_plain_torch_imports_nothing_of_breakwatch():
    for name in ("plain_torch.py", "own_zoo.py", "own_calls.py", "own_ends.py"):
        assert "import breakwatch" not in (HERE / name).read_text()
    assert ROOT in HERE.parents
