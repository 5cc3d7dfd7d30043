"""The count, on modules whose breaks can be counted by reading them."""

import pytest
import torch
import zoo
from breakwatch_worker import trace as tracing
from breakwatch_worker.trace import trace


def capture(module, **more):
    return trace(module.eval(), {"x": torch.ones(3)}, **more)


@pytest.mark.parametrize("kind", zoo.ALL, ids=lambda kind: kind.__name__)
def test_every_module_of_the_zoo_has_the_breaks_one_reads_in_it(kind):
    found = capture(kind())
    numbers = found.numbers()
    assert found.error is None
    got = {
        "breaks": numbers["breaks"], "sites": numbers["break_sites"], "graphs": numbers["graphs"],
        "counter": numbers["dynamo_counter_breaks"], "fallback": numbers["frames_fallback"],
        "ids": {site["gb_id"] for site in numbers["sites"]}, "reasons": {site["reason"] for site in numbers["sites"]},
        "wrapped": {site["wrapped_in"] for site in numbers["sites"]},
    }
    assert {key: got[key] for key in kind.expected} == kind.expected, numbers


@pytest.mark.parametrize("kind", zoo.ALL, ids=lambda kind: kind.__name__)
def test_every_event_is_explained_and_belongs_to_a_site(kind):
    numbers = capture(kind()).numbers()
    assert numbers["unexplained_events"] == 0
    assert sum(site["occurrences"] for site in numbers["sites"]) == numbers["breaks"]
    assert numbers["explain_breaks"] == numbers["graphs"] - 1
    for site in numbers["sites"]:
        assert site["file"] == "zoo.py" and site["frame"] == "user"
        assert site["source_line"] and site["line"] > 0 and site["compile_id"]
        assert "torch_dynamo_resume" not in site["function"]
        assert 0 < len(site["reason"].encode()) <= 120
        assert len(site["site_id"]) == 16


@pytest.mark.parametrize("kind", zoo.ALL, ids=lambda kind: kind.__name__)
def test_what_counting_turns_off_changes_no_count(kind, monkeypatch):
    quiet = capture(kind()).numbers()
    monkeypatch.setattr(tracing, "_QUIET_CONFIG", {})
    assert capture(kind()).numbers() == quiet


@pytest.mark.parametrize("kind", [zoo.Print, zoo.TwoIfs, zoo.CalleeTwice], ids=lambda kind: kind.__name__)
def test_graphs_agree_with_explain(kind):
    explained = torch._dynamo.explain(kind())(torch.ones(3))
    assert capture(kind()).numbers()["explain_breaks"] == explained.graph_break_count


def test_tracing_twice_finds_the_same():
    module = zoo.ThreeKinds()
    assert capture(module).numbers() == capture(module).numbers()


def test_a_hard_error_of_the_compiler_ends_the_trace_with_it(monkeypatch):
    _break_the_compiler(monkeypatch)
    found = capture(zoo.PrintInCallee())
    assert isinstance(found.error, AssertionError)
    assert "a fault of the compiler" in str(found.error)


def test_a_repeat_with_errors_suppressed_finds_more_breaks_than_the_error_let_through(monkeypatch):
    _break_the_compiler(monkeypatch)
    found, again = capture(zoo.PrintInCallee()), capture(zoo.PrintInCallee(), suppress_errors=True)
    assert again.error is None
    assert len(again.events) > len(found.events) >= 1


def _break_the_compiler(monkeypatch) -> None:
    def fail(*_, **__):
        raise AssertionError("a fault of the compiler")

    monkeypatch.setattr(torch._dynamo.output_graph.OutputGraph, "compile_subgraph", fail)
