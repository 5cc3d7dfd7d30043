"""A small part of `make repros`: real files of the first models of its sample, and how its rows are judged."""

import cover_repros
import pytest
import workers

SMALL = cover_repros.cases()[:3]


@pytest.fixture(scope="module")
def worker():
    worker = workers.Worker()
    yield worker
    worker.close()


@pytest.mark.parametrize("case", SMALL, ids=lambda case: case["model_type"])
def test_a_file_finds_the_breaks_of_its_capture_in_a_process_without_breakwatch(worker, case):
    result = worker.ask({"type": "capture", "job": "1", "model": case["model_type"], "config": case["config"],
                         "library": case["library"], "mode": "repro"})  # fmt: skip
    repro = result["mode_detail"]["repro"]
    assert repro["why_not"] == repro["differs"] == ""
    assert cover_repros.compared(repro["script"], result["sites"], "") == ""


def test_the_sample_is_a_choice_by_position():
    every = [case["model_type"] for case in cover_repros.cover_fixes.snapshot_cases()]
    chosen = [case["model_type"] for case in cover_repros.cases()]
    assert len(chosen) == cover_repros.MODELS and [every.index(name) for name in chosen] == list(
        range(0, cover_repros.MODELS * cover_repros.EVERY, cover_repros.EVERY))


def test_breaks_elsewhere_or_in_another_number_are_a_difference():
    text = "messages = ['Graph break in user code at /x/site-packages/a/b.py:7\\nGraph Break Reason: r\\n'] * 2\n"
    site = {"file": "a/b.py", "line": 7, "site_id": "s", "occurrences": 2}
    assert cover_repros.compared(text, [site], "") == ""
    assert "found {'a/b.py:7': 2}" in cover_repros.compared(text, [{**site, "occurrences": 3}], "")
    assert "/x/site-packages/a/b.py:7" in cover_repros.compared(text, [], "")
    assert cover_repros.compared(text, [{**site, "occurrences": 9}], "s") == ""
    assert cover_repros.compared(text, [{**site, "line": 8}], "s") == "no break at a/b.py:8"
    assert "AssertionError: x" in cover_repros.compared("assert False, 'x'", [], "")


def test_a_file_that_differs_misses_the_goal():
    row = {"verdict": "graph_breaks", "lines": 40, "same": "yes", "minimal": 50, "minimal_same": "yes"}
    assert cover_repros.summary_of([row])[1]
    for wrong in ({"same": "no"}, {"minimal": 61}, {"minimal_same": "no"}, {"minimal": ""}, {"lines": ""}):
        assert not cover_repros.summary_of([{**row, **wrong}])[1]
    assert cover_repros.summary_of([{**row, "minimal": "", "minimal_same": ""}], whole_only=True)[1]
