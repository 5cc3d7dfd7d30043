"""Mode `fix`: what is tried, what an attempt may do, and what is recommended."""

import copy
import json
import pathlib
import re
import signal
import subprocess
import sys

import fix_zoo as zoo
import pytest
import torch
from breakwatch_worker import modes
from breakwatch_worker.fixes import outputs, search, table
from breakwatch_worker.fixes.attempt import Case
from breakwatch_worker.model import architecture

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As in a capture, which forks."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def fixed(module, limit_s: float = 3000.0, inputs=None, **options) -> tuple:
    """(mode_detail, what was found)."""
    mode = modes.mode_of({"mode": "fix", "fix": options})
    torch.manual_seed(0)
    call = modes.Call(module.eval(), inputs or {"x": torch.ones(2, 4)}, limit_s=limit_s)
    mode.ready(call)
    mode.eager(call)
    found = mode.capture(call)
    assert found.error is None
    return json.loads(json.dumps(found.mode_detail)), found


def attempts(detail: dict) -> dict:
    return {"+".join(each["names"]): each for each in detail["attempts"]}


def recommended(detail: dict) -> list:
    return detail["attempts"][detail["best"]]["names"] if detail["best"] >= 0 else []


def entry(name: str, *python, **more) -> table.Fix:
    return table.Fix(name, name, more.pop("sets", {"call": {name: True}}), "", python=list(python), **more)


@pytest.fixture
def only(monkeypatch):
    """Replaces the fixes of fixes.yaml."""
    def replace(*fixes) -> None:
        monkeypatch.setattr(table, "load", lambda: {fix.name: fix for fix in fixes})

    return replace


UNCHECKED = entry("unchecked", "model.checked = False")


# --- what helps


@pytest.mark.parametrize("module, best", [
    (zoo.ReadsAValue, ["capture_scalar_outputs"]),
    (zoo.SizeDependsOnData, ["capture_scalars_and_dynamic_shapes"]),
    (zoo.Prints, ["print_later"]),
    (zoo.Logs, ["ignore_loggers"]),
])
def test_the_fix_that_makes_the_model_whole_is_recommended(module, best):
    detail, found = fixed(module())
    assert (recommended(detail), detail["whole"], detail["left"]) == (best, True, [])
    one = detail["attempts"][detail["best"]]
    assert (one["status"], one["outcome"], one["after"]["breaks"], one["after"]["graphs"]) == ("ok", "whole", 0, 1)
    assert one["removed"] == [site["site_id"] for site in found.numbers()["sites"]] and one["added"] == []
    assert one["python"][-1] == "compiled = torch.compile(model)"


def test_the_numbers_are_those_of_the_capture_without_a_fix():
    detail, found = fixed(zoo.ReadsAValue(), names=["capture_scalar_outputs"])
    numbers = found.numbers()
    assert (found.status, numbers["breaks"], numbers["graphs"]) == ("", 1, 2)
    assert detail["before"] == {"breaks": 1, "sites": 1, "graphs": 2, "ops": numbers["ops_captured"]}
    assert detail["fix"] == {"names": ["capture_scalar_outputs"], "combine": True, "budget_s": 600.0,
                             "attempt_s": 120.0, "fixes_version": table.version()}
    assert (detail["depth"], detail["stopped"]) == ("reduced", "")


def test_fixes_that_help_only_together_are_combined():
    detail, _ = fixed(zoo.PrintsAndReads())
    assert detail["whole"]
    assert set(recommended(detail)) == {"capture_scalar_outputs", "print_later"}
    alone = attempts(detail)["print_later"]
    assert (alone["outcome"], len(alone["removed"])) == ("better", 1)
    detail, _ = fixed(zoo.PrintsAndReads(), combine=False)
    assert not detail["whole"] and all(len(each["names"]) == 1 for each in detail["attempts"])


def test_a_whole_model_needs_no_fix():
    detail, found = fixed(zoo.Whole())
    assert (detail["attempts"], detail["best"], detail["whole"], detail["left"]) == ([], -1, True, [])
    assert found.numbers()["graphs"] == 1


def test_a_site_that_nothing_removes_is_named_with_its_calls():
    detail, found = fixed(zoo.Helper())
    (left,), (site,) = detail["left"], found.numbers()["sites"]
    assert (left["site_id"], left["file"], left["line"], left["owner"]) == (
        site["site_id"], "fix_zoo.py", site["line"], "user")
    assert [frame.split(" in ")[0].split(":")[0] for frame in left["stack"]][0] == "fix_zoo.py"
    assert len(left["stack"]) == 2 and left["stack"][-1].startswith(f"fix_zoo.py:{site['line']} in")
    assert left["explanation"] == site["explanation"] != "" and left["hints"] == site["hints"]
    assert not detail["whole"]


def test_compiling_parts_is_a_gain_and_never_whole():
    detail, _ = fixed(zoo.BreaksItself(), names=["regions"])
    (attempt,) = detail["attempts"]
    assert (attempt["outcome"], attempt["after"]["breaks"]) == ("better", 0)
    assert not detail["whole"] and len(detail["left"]) == 1  # the line breaks as before if the model is compiled
    assert any("first|second" in line for line in attempt["python"])


def test_the_recommended_python_works_in_a_fresh_process_without_breakwatch():
    detail, _ = fixed(zoo.PrintsAndReads())
    lines = detail["attempts"][detail["best"]]["python"]
    script = "\n".join([
        "import sys, torch, torch._dynamo", f"sys.path.insert(0, {str(HERE)!r})", "import fix_zoo",
        "model, inputs = fix_zoo.printing_module()", *lines, "explained = torch._dynamo.explain(model)(**inputs)",
        "assert 'breakwatch_worker' not in sys.modules",
        "print((explained.graph_count, explained.graph_break_count))"])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines()[-1] == "(1, 0)", done.stderr


# --- results that differ


def test_a_fix_that_changes_results_is_never_recommended(only):
    only(entry("scaled", "model.checked, model.scale = False, 2.0"))
    detail, _ = fixed(zoo.Switched())
    (attempt,) = detail["attempts"]
    assert (attempt["outcome"], attempt["after"]["breaks"], detail["best"], detail["whole"]) == (
        "different_result", 0, -1, False)
    assert attempt["max_abs"] > 0.1 and "differ by up to" in attempt["detail"]
    assert len(detail["left"]) == 1  # what changes results removes nothing


def test_a_better_fix_that_changes_results_leaves_the_sound_one(only):
    only(entry("scaled", "model.checked, model.scale = False, 2.0"), UNCHECKED)
    detail, _ = fixed(zoo.Switched())
    assert recommended(detail) == ["unchecked"] and detail["whole"]


def test_the_tolerance_follows_the_dtype(only):
    only(entry("nearly", "model.checked, model.scale = False, 1.001"))
    inputs = {"x": torch.ones(2, 4, dtype=torch.bfloat16)}
    assert fixed(zoo.Switched().to(torch.bfloat16), inputs=inputs)[0]["whole"]
    inputs = {"x": torch.ones(2, 4, dtype=torch.float64)}
    assert attempts(fixed(zoo.Switched().double(), inputs=inputs)[0])["nearly"]["outcome"] == "different_result"


def test_outputs_that_both_calls_return_are_compared(only):
    only(entry("no_cache", 'inputs["use_cache"] = False'))
    detail, _ = fixed(zoo.MoreOutputs())
    (attempt,) = detail["attempts"]
    assert (attempt["outcome"], attempt["max_abs"]) == ("whole", 0.0)
    assert "compared without cache" in attempt["detail"]


def test_random_outputs_are_not_compared():
    detail, _ = fixed(zoo.Draws(), names=["nested_graph_breaks"])
    assert "outputs were not compared" in detail["attempts"][0]["detail"]


def test_a_tuple_instead_of_an_object_is_compared_by_order():
    one, two = torch.ones(2), torch.zeros(3)
    assert outputs.compare({"a": one, "b": two}, {"0": one, "1": two}) == ("", 0.0, [])
    assert "shape" in outputs.compare({"a": one, "b": two}, {"0": two, "1": one})[0]
    assert outputs.compare({"a": one}, {}) == ("no output of the model is left", None, ["a"])


# --- attempts that fail


BAD = {
    "crashes": (["import os, signal", "os.kill(os.getpid(), signal.SIGSEGV)"], "crashed", "SIGSEGV"),
    "exits": (["import os", "os._exit(3)"], "crashed", "code 3"),
    "hangs": (["while True: pass"], "timeout", "not done within 2 s"),
    "needs_memory": (["kept = [torch.ones(1 << 28) for _ in range(64)]"], "out_of_memory", ""),
    "raises": (["model.nothing.of_this_name = 1"], "failed", "its lines fail: AttributeError"),
    "wrong_call": (['inputs["nothing"] = 1'], "failed", "the eager call fails: TypeError"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_fix_is_a_row_and_the_others_are_tried(only, name, monkeypatch):
    lines, status, text = BAD[name]
    only(entry(name, *lines), UNCHECKED)
    original = Case.attempt

    def attempt(case, fixes, regions, wanted, seconds):
        return original(case, fixes, regions, wanted, 2 if fixes[0].name == "hangs" else seconds)

    monkeypatch.setattr(Case, "attempt", attempt)
    detail, _ = fixed(zoo.Switched())
    found = attempts(detail)
    assert (found[name]["status"], found[name]["outcome"]) == (status, "")
    assert text in found[name]["detail"] and "after" not in found[name]
    assert recommended(detail) == ["unchecked"] and found[name]["python"][:len(lines)]


def test_a_fix_without_effect_is_a_failed_attempt(only):
    only(entry("ignored", "model.other = 1", holds="not model.checked"))
    detail, _ = fixed(zoo.Switched())
    assert (detail["attempts"][0]["status"], detail["attempts"][0]["detail"]) == (
        "failed", "the model ignores ignored")


def test_a_fix_that_this_torch_lacks_is_unsupported(only):
    only(entry("newer", sets={"dynamo": {"no_such_setting": True}}), UNCHECKED)
    detail, _ = fixed(zoo.Switched())
    assert attempts(detail)["newer"]["status"] == "unsupported"
    assert "has no torch._dynamo.config.no_such_setting" in attempts(detail)["newer"]["detail"]


def test_an_unknown_fix_is_a_row():
    detail, _ = fixed(zoo.ReadsAValue(), names=["capture_scalar_outputs", "no_such_fix"])
    assert [(each["names"], each["status"]) for each in detail["attempts"]] == [
        (["no_such_fix"], "unknown"), (["capture_scalar_outputs"], "ok")]
    assert recommended(detail) == ["capture_scalar_outputs"]


@pytest.mark.parametrize("name, help", [("capture_scalar_output", "did you mean capture_scalar_outputs"),
                                        ("zzz", "without names, all that apply are tried")])
def test_an_unknown_fix_says_what_to_name_instead(name, help):
    detail, _ = fixed(zoo.ReadsAValue(), names=[name])
    assert help in detail["attempts"][0]["detail"] and f"there is no fix {name}: " in detail["attempts"][0]["detail"]


def test_a_fix_that_dynamo_refuses_is_a_failed_attempt():
    detail, _ = fixed(zoo.BreaksItself(), names=["fullgraph"])
    (attempt,) = detail["attempts"]
    assert attempt["status"] == "failed" and attempt["detail"].startswith("Dynamo refuses it: ")


def test_without_time_the_search_stops_and_says_so():
    detail, _ = fixed(zoo.ReadsAValue(), budget_s=0.01)
    assert (detail["stopped"], detail["attempts"], detail["best"]) == ("budget", [], -1)


def test_no_attempt_changes_the_next(only):
    only(entry("first", "model.scale = 2.0"), entry("second", "pass"))
    detail, _ = fixed(zoo.Switched())
    assert attempts(detail)["second"]["outcome"] == "same"


# --- the rules


@pytest.mark.parametrize("before, after, outcome", [
    ((1, 1, 2), (0, 0, 1), "whole"), ((3, 2, 4), (2, 2, 3), "better"), ((3, 2, 4), (3, 1, 4), "better"),
    ((3, 2, 4), (3, 2, 3), "better"), ((3, 2, 4), (3, 2, 4), "same"), ((3, 2, 4), (4, 2, 4), "worse"),
    ((3, 2, 4), (2, 2, 9), "worse"),
])
def test_the_outcome_of_two_captures(before, after, outcome):
    names = ("breaks", "sites", "graphs")
    assert search.outcome_of(dict(zip(names, before, strict=True)), dict(zip(names, after, strict=True))) == outcome


def test_what_no_longer_runs_in_graphs_is_no_gain():
    before, after = {"breaks": 3, "sites": 2, "graphs": 4}, {"breaks": 0, "sites": 0, "graphs": 1}
    assert search.outcome_of(before, after, ran_before=100, ran=10) == "worse"


@pytest.mark.parametrize("options, text", [
    ([], "fix: an object"), ({"names": "all"}, "fix.names"), ({"names": [1]}, "fix.names"),
    ({"combine": 1}, "fix.combine"), ({"budget_s": 0}, "fix.budget_s"), ({"attempt_s": "x"}, "fix.attempt_s"),
])
def test_wrong_options_are_refused(options, text):
    with pytest.raises(architecture.Stop) as stop:
        modes.mode_of({"mode": "fix", "fix": options})
    assert stop.value.status == "failed_create" and text in stop.value.detail


# --- through a zygote


def test_a_factory_is_fixed_through_the_protocol(allowing):
    result = allowing.capture({}, mode="fix", fix={"names": ["capture_scalar_outputs", "print_later", "no_such_fix"]},
                              source={"kind": "python", "factory": "fix_zoo:printing_module", "path": [str(HERE)],
                                      "cwd": str(HERE)})
    assert (result["status"], result["mode"], result["breaks"]) == ("graph_breaks", "fix", 2), result
    detail = result["mode_detail"]
    assert detail["whole"] and detail["attempts"][0]["status"] == "unknown" and detail["depth"] == "original"


def test_a_signal_that_the_code_ignores_changes_nothing(only):
    only(UNCHECKED)
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert fixed(zoo.Switched())[0]["whole"]
    finally:
        signal.signal(signal.SIGCHLD, before)


# --- fixes.yaml


@pytest.mark.parametrize("fix", table.load().values(), ids=table.load())
def test_an_entry_is_well_formed(fix):
    assert fix.title and fix.source.startswith("https://") and fix.name.isidentifier()
    assert fix.sets and set(fix.sets) <= {"dynamo", "config", "call", "environment", "compile"}
    known = {"gb_ids", "reasons", "torch", "transformers", *table._CONDITIONS}
    assert set(fix.when) <= known, "a condition that nothing tests"
    for pattern in fix.when.get("reasons", ()):
        re.compile(pattern)
    for expression in (*fix.when.get("has", ()), *([fix.holds] if fix.holds else [])):
        compile(expression, fix.name, "eval")
    for lines in table.python_of([fix], "a|b"):
        compile("\n".join(lines), fix.name, "exec")
    assert fix.python or fix.compiles, "nothing for a user to write"


@pytest.mark.parametrize("fix", [fix for fix in table.load().values() if set(fix.sets) == {"dynamo"}],
                         ids=lambda fix: fix.name)
def test_the_lines_of_a_dynamo_setting_set_it(fix):
    if why := table.missing(fix):
        pytest.skip(why)
    own = {name: copy.copy(getattr(torch._dynamo.config, name)) for name in fix.sets["dynamo"]}
    with torch._dynamo.config.patch(own):
        exec("\n".join(fix.python), {"torch": torch})
        for name, value in fix.sets["dynamo"].items():
            found = getattr(torch._dynamo.config, name)
            assert found is value if isinstance(value, bool) else found, name
