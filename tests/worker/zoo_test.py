"""The count, for modules whose breaks can be counted by reading their code, with every installed toolchain.

Each toolchain runs the whole zoo once, in its own process. Each module is then one test for each toolchain. A missing
toolchain is one skipped test.
"""

import functools
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest
import torch
import zoo
import zoo_blocks
import zoo_counts
import zoo_run
from breakwatch_worker.dynamo import breaks
from breakwatch_worker.dynamo import trace as tracing
from breakwatch_worker.dynamo.trace import trace
from worker_support import ROOT, environment

HERE = pathlib.Path(__file__).parent
KINDS = {kind.__name__: kind for kind in zoo_run.kinds()}
# `make toolchain TORCH=2.13.0 TRANSFORMERS=5.8.0` makes the second; `make test-toolchains` also makes the oldest.
TOOLCHAINS = ("default", "torch2.13.0-transformers5.8.0", "torch2.6.0-transformers4.57.6")
# Older releases have neither ids nor texts for the form of a break, and trace other code. For them the zoo shows that
# no break is missed or unexplained, not that they find what newer releases find.
FULLY_STATED_SINCE = (2, 13)
FILES = {f"{name}.py" for name in zoo_run.MODULES}
FIXABILITIES = {"none", "other", *(name for name, _ in breaks._FIXABILITY)}
LINES_INSERTED = 7


def python_of(toolchain: str) -> str:
    return sys.executable if toolchain == "default" else str(ROOT / f".venv-{toolchain}/bin/python")


def torch_of(toolchain: str) -> tuple:
    version = torch.__version__ if toolchain == "default" else toolchain.removeprefix("torch")
    return tuple(int(part) for part in version.split(".")[:2])


def is_here(toolchain: str) -> bool:
    return pathlib.Path(python_of(toolchain)).exists()


PRESENT = tuple(filter(is_here, TOOLCHAINS))
FULLY_STATED = tuple(toolchain for toolchain in PRESENT if torch_of(toolchain) >= FULLY_STATED_SINCE)


@pytest.mark.parametrize("toolchain", TOOLCHAINS)
def test_the_zoo_runs_in_every_installed_toolchain(toolchain):
    if not is_here(toolchain):
        pytest.skip(f"no .venv-{toolchain} here: make toolchain makes it")
    assert set(answers(toolchain)[1]) == set(KINDS)


@functools.cache
def answers(toolchain: str) -> tuple:
    """(what the toolchain reports about itself, results by name) of one toolchain."""
    done = subprocess.run([python_of(toolchain), str(HERE / "zoo_run.py")], capture_output=True, text=True, timeout=900,
                          env=environment())
    assert done.returncode == 0, done.stderr[-4000:]
    first, *rest = map(json.loads, done.stdout.splitlines())
    return first, {found["name"]: found for found in rest}


def found_in(toolchain: str, name: str) -> tuple:
    first, found = answers(toolchain)
    return tuple(first["torch"]), found[name]


@pytest.mark.parametrize("toolchain", FULLY_STATED)
@pytest.mark.parametrize("name", KINDS)
def test_every_module_of_the_zoo_has_its_expected_numbers(name, toolchain):
    release, found = found_in(toolchain, name)
    stated = zoo_counts.for_torch(KINDS[name].expected, release)
    assert {key: found[key] for key in stated} == stated, found["details"]


@pytest.mark.parametrize("toolchain", PRESENT)
@pytest.mark.parametrize("name", KINDS)
def test_every_event_is_explained_and_belongs_to_a_site(name, toolchain):
    release, found = found_in(toolchain, name)
    assert found["unexplained"] == 0
    assert sum(site["occurrences"] for site in found["details"]) == found["events"]
    assert found["explain"] == found["graphs"] - 1 == len(found["segments"]) - 1
    assert sum(segment["ops_total"] for segment in found["segments"]) == found["ops"]
    for site in found["details"]:
        assert site["gb_id"] or release < FULLY_STATED_SINCE
        assert 0 < len(site["reason"].encode()) <= 120
        assert len(site["site_id"]) == 16


@pytest.mark.parametrize("toolchain", PRESENT)
@pytest.mark.parametrize("name", KINDS)
def test_every_site_has_a_place_and_hints(name, toolchain):
    release, found = found_in(toolchain, name)
    for site in found["details"]:
        assert site["source_line"] and site["line"] > 0 and site["compile_id"]
        assert site["file"].endswith(".py") and site["frame"] in ("user", "library", "torch")
        assert (site["frame"] == "user") == (site["file"] in FILES)
        assert site["function"] and "torch_dynamo_resume" not in site["function"]
        assert site["module_path"] or release < FULLY_STATED_SINCE
        assert site["fixability"] in FIXABILITIES and (site["fixability"] == "none") == (not site["hints"])
        assert all(hint.strip() for hint in site["hints"])


@pytest.mark.parametrize("toolchain", PRESENT)
def test_every_type_of_the_registry_keeps_its_id_in_every_form(toolchain):
    first, _ = answers(toolchain)
    if tuple(first["torch"]) < FULLY_STATED_SINCE:
        pytest.skip("no registry before")
    assert first["ids"] > 500
    assert first["ids_lost"] == []


@pytest.mark.parametrize("name", [kind.__name__ for kind in (*zoo.ALL, *zoo_blocks.ALL)])
def test_a_site_keeps_its_id_when_lines_are_inserted_above(name, tmp_path):
    kind = KINDS[name]
    moved = getattr(moved_down(kind.__module__, tmp_path), name)
    before, after = (zoo_run.capture(one)["details"] for one in (kind, moved))
    assert [site["site_id"] for site in after] == [site["site_id"] for site in before]
    assert [site["line"] for site in after] == [
        site["line"] + (LINES_INSERTED if site["frame"] == "user" else 0) for site in before]


def moved_down(name: str, folder: pathlib.Path):
    """The same file of the zoo with lines inserted above every class."""
    file = folder / f"{name}.py"
    file.write_text("# inserted\n" * LINES_INSERTED + (HERE / f"{name}.py").read_text())
    found = importlib.util.spec_from_file_location(f"{name}_moved_{folder.name}", file)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_zoo_has_many_modules_and_many_reasons():
    ids = {name for kind in KINDS.values() for name in kind.expected["ids"]}
    assert len(KINDS) >= 200
    assert len(ids) >= 70


def capture(module, **more):
    return trace(module.eval(), {"x": torch.ones(3)}, **more)


@pytest.mark.parametrize("kind", [zoo.Print, zoo.BreakInLoop, zoo.ThreeKinds, zoo.BreakInTryAfterCall],
                         ids=lambda kind: kind.__name__)
def test_features_that_are_turned_off_change_no_count(kind, monkeypatch):
    quiet = capture(kind()).numbers()
    monkeypatch.setattr(tracing, "_FEATURES_OFF", {})
    assert capture(kind()).numbers() == quiet


@pytest.mark.parametrize("kind", [zoo.Print, zoo.TwoIfs, zoo.CalleeTwice], ids=lambda kind: kind.__name__)
def test_graphs_agree_with_explain(kind):
    explained = torch._dynamo.explain(kind())(torch.ones(3))
    assert capture(kind()).numbers()["explain_breaks"] == explained.graph_break_count


def test_tracing_twice_has_the_same_result():
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
