"""When a capture agrees with plain torch, and what the list of explained differences covers."""

import ast
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE / "against_torch"))

import compare  # noqa: E402
import modules  # noqa: E402


def answer(**fields) -> dict:
    return {"status": "graph_breaks", "breaks": 3, "sites": 1, "graphs": 2, "counter": 3, "ids": {"GB0025": 3},
            "places": {"GB0025 views.py:15": 3}, **fields}  # fmt: skip


def result(**fields) -> dict:
    site = {"gb_id": "GB0025", "reason": "Call", "file": "unseen/views.py", "line": 15, "occurrences": 3}
    return {"status": "graph_breaks", "breaks": 3, "break_sites": 1, "graphs": 2, "dynamo_counter_breaks": 3,
            "sites": [site], **fields}  # fmt: skip


def test_equal_captures_agree():
    assert compare.differences("eval", [answer()], result()) == {}


@pytest.mark.parametrize("field, value, name", [
    ("breaks", 2, "breaks"), ("graphs", 3, "graphs"), ("break_sites", 2, "sites"),
    ("dynamo_counter_breaks", 1, "counter"), ("status", "full_graph", "status"), ("status", "failed_inputs", "status"),
])  # fmt: skip
def test_a_number_that_differs_is_named(field, value, name):
    assert list(compare.differences("eval", [answer()], result(**{field: value}))) == [name]


def test_another_place_of_as_many_breaks_differs():
    found = compare.differences("train", [answer(places={"GB0025 views.py:16": 3})], result())
    assert list(found) == ["places"]


def test_a_frozen_module_of_python_is_its_source_file():
    ours = result(sites=[{"gb_id": "GB0007", "reason": "", "file": "os.py", "line": 685, "occurrences": 3}])
    plain = answer(ids={"GB0007": 3}, places={"GB0007 <frozen os>:685": 3})
    assert compare.differences("eval", [plain], ours) == {}


def test_a_reason_without_an_id_is_compared_by_its_place():
    site = {"gb_id": "", "reason": "User error: anti_pattern", "file": "views.py", "line": 15, "occurrences": 3}
    plain = answer(ids={"Could not guard on it": 3}, places={"Could not guard on it views.py:15": 3})
    assert compare.differences("eval", [plain], result(sites=[site])) == {}
    assert list(compare.differences("eval", [plain], result(sites=[{**site, "line": 9}]))) == ["places"]


def test_a_capture_that_is_missing_differs():
    assert compare.differences("eval", [answer()], None) == {"result": ("one", "none")}


def test_an_export_agrees_if_either_exporter_made_a_program():
    answers = [{"exported": False, "ids": {"GB0025": 1}}, {"exported": True}]
    assert compare.differences("export", answers, result(status="full_graph")) == {}
    assert list(compare.differences("export", answers, result())) == ["status"]


def test_an_export_that_fails_has_the_id_of_plain_torch():
    answers = [{"exported": False, "ids": {"": 1}}, {"exported": False, "ids": {"GB0170": 1}}]
    assert list(compare.differences("export", answers, result())) == ["ids"]
    assert compare.differences("export", [{"exported": False, "ids": {"GB0025": 1}}], result()) == {}


def test_calls_of_other_sizes_are_compared_by_the_first_call_only():
    plain = answer(first="graph_breaks", shapes=[[[2, 3]], [[3, 3]], [[5, 3]]])
    ours = result(breaks=9, mode_detail={"shapes": [{"shape": {"x": [2, 3]}}, {"shape": {"x": [2, 24]}}]})
    assert compare.differences("recompile", [plain], ours) == {}
    assert compare.differences("recompile", [plain], {**ours, "status": "full_graph"})
    same = {"shapes": [{"shape": {"x": [2, 3]}}, {"shape": {"x": [3, 3]}}, {"shape": {"x": [5, 3]}}]}
    assert list(compare.differences("recompile", [plain], result(breaks=9, mode_detail=same))) == ["breaks"]


@pytest.mark.parametrize("later, differs", [
    ("RuntimeError: shape '[2, 8]' is invalid", []), ("", ["status"]),
    ("TypeError: jagged() got an unexpected keyword argument 'batch'", ["status"]),
])  # fmt: skip
def test_there_is_no_second_shape_only_if_plain_torchs_second_call_also_fails(later, differs):
    fields = {"shapes": [], "later": later} if later else {"shapes": [[[2, 3]], [[3, 3]]]}
    plain = answer(first="graph_breaks", **fields)
    ours = result(status="failed_inputs", mode_detail={})
    assert list(compare.differences("recompile", [plain], ours)) == differs


def test_a_difference_is_explained_only_with_all_its_fields():
    explained = [{"module": "python:unseen.views:*", "modes": ["train"], "fields": ["graphs"], "reason": "why"}]
    assert compare.explanation(explained, "python:unseen.views:in_place", "train", {"graphs": (1, 2)})
    assert not compare.explanation(explained, "python:unseen.views:in_place", "eval", {"graphs": (1, 2)})
    assert not compare.explanation(explained, "python:unseen.views:in_place", "train", {"graphs": 0, "breaks": 0})


def test_every_explained_difference_has_an_existing_module_and_a_reason():
    for entry in json.loads((modules.HERE / "explained.json").read_text()):
        assert any(compare.explanation([entry], s, entry["modes"][0], {}) for s in modules.selectors()), entry
        assert len(entry["reason"]) > 20 and set(entry["modes"]) <= set(modules.MODES)


def test_the_oracle_imports_nothing_of_breakwatch():
    tree = ast.parse((modules.HERE / "oracle.py").read_text())
    imports = [a.name for node in ast.walk(tree) if isinstance(node, ast.Import) for a in node.names]
    imports += [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = [name for name in imports if name.split(".")[0] not in {*sys.stdlib_module_names, "torch"}]
    assert ours == [] and "torch" in imports
    assert len(modules.selectors()) >= 48
