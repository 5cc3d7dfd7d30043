"""Repeated captures: what is equal, and that differences are named."""

import pathlib

import pytest
from breakwatch_worker import repeat
from depth_test import BREAKING_SWITCH
from worker_support import BERT

HERE = pathlib.Path(__file__).parent
ONCE = {"status": "graph_breaks", "breaks": 2, "graphs": 3, "cpu_s": 1.0, "detail": "2 breaks at 1 site",
        "sites": [{"site_id": "a", "occurrences": 2, "compile_id": "0/0"}], "segments": []}
MODULES = '''
import random
import torch
import zoo


class Random(torch.nn.Module):
    def forward(self, x):
        if random.random() < 0.5:  # evaluated while tracing
            torch._dynamo.graph_break()
        return x + 1


def chance():
    return Random(), {"x": torch.ones(3)}


def ThreeKinds():
    return zoo.ThreeKinds(), {"x": torch.ones(3)}
'''


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeat")
    (folder / "modules_to_repeat.py").write_text(MODULES)
    return lambda name: {"kind": "python", "factory": f"modules_to_repeat:{name}", "path": [str(folder), str(HERE)]}


def test_a_module_of_the_zoo_is_the_same_in_20_captures(allowing, source):
    result = allowing.capture(source=source("ThreeKinds"), repeat=20)
    assert (result["status"], result["flaky"]) == ("graph_breaks", False), result
    assert result["mode_detail"] == {"repeats": 20, "differs": []}
    assert result["detail"].endswith("the same in 20 captures")


def test_a_model_without_breaks_is_the_same_in_5_captures(allowing):
    result = allowing.capture(BERT, repeat=5)
    assert (result["status"], result["flaky"], result["mode_detail"]["repeats"]) == ("full_graph", False, 5)


def test_a_model_with_breaks_is_repeated_at_the_depth_that_is_published(allowing):
    result = allowing.capture(BREAKING_SWITCH, repeat=2)
    assert (result["status"], result["depth"], result["flaky"]) == ("graph_breaks", "full", False), result["detail"]
    assert result["mode_detail"] == {"repeats": 2, "differs": []}


def test_breaks_that_depend_on_random_numbers_are_flaky_and_named(allowing, source):
    result = allowing.capture(source=source("chance"), repeat=20)
    assert result["flaky"] is True
    assert {"breaks", "sites"} <= set(result["mode_detail"]["differs"])
    assert "flaky over 20 captures: breaks" in result["detail"]
    assert any(0 < count < 20 for count in result["mode_detail"]["seen"].values())


def test_a_failed_capture_is_not_repeated(allowing):
    result = allowing.capture({"model_type": "no such type"}, repeat=5)
    assert "flaky" not in result and result["status"] != "graph_breaks"


@pytest.mark.parametrize("given, count", [(None, 1), (0, 1), (-3, 1), (True, 1), ("7", 1), (7, 7), (10**9, 100)])
def test_a_repeat_has_a_bound(given, count):
    assert repeat.count_of({"repeat": given}) == count


@pytest.mark.parametrize("change, names", [
    ({}, []), ({"breaks": 3}, ["breaks"]), ({"sites": []}, ["sites"]),
    ({"segments": [{"compile_id": "0/0", "ops": {}, "ended_by": ""}]}, ["segments"]),
    ({"status": "timeout", "breaks": None}, ["status", "breaks"])])
def test_differing_numbers_are_named(change, names):
    said = repeat.verdict([ONCE, ONCE, {**ONCE, **change}])
    assert (said["flaky"], said["mode_detail"]["differs"]) == (bool(names), names)
