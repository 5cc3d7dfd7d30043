"""How the figures of `make fixes` are computed."""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import cover_fixes  # noqa: E402

CASE = {"model_type": "m", "class": "M", "kind": "snapshot", "config": {}}
COUNTS = {"breaks": 2, "sites": 1, "graphs": 3, "ops": 9}


def attempt(*names, status="ok", outcome="same", **after) -> dict:
    return {"names": list(names), "status": status, "outcome": outcome, "detail": "", "python": ["long"],
            "after": {**COUNTS, **after}, "seconds": 1.0}


def result(attempts=(), best=-1, left=(), status="graph_breaks") -> dict:
    detail = {"before": COUNTS, "attempts": list(attempts), "best": best, "whole": False, "left": list(left),
              "stopped": ""}
    return cover_fixes.Fixer.kept({"status": status, "detail": "", "breaks": 2, "break_sites": 1, "graphs": 3,
                                   "mode_detail": detail})


def row(*arguments, **named) -> dict:
    return cover_fixes.row_of(CASE, result(*arguments, **named))


SITE = {"site_id": "s", "gb_id": "GB1", "reason": "r", "file": "a/b.py", "line": 7, "owner": "library", "stack": []}
WHOLE = row([attempt("a"), attempt("a", "b", outcome="whole", breaks=0, sites=0, graphs=1)], 1)
BETTER = row([attempt("a", outcome="better", breaks=1), attempt("b", status="crashed", outcome="")], 0, [SITE])
NAMED = row([attempt("a", outcome="different_result")], -1, [SITE])
NOTHING = row([attempt("a")])


def test_a_row_names_the_recommended_fix_and_the_lines_that_are_left():
    assert (WHOLE["fix"], WHOLE["outcome"], WHOLE["graphs_after"], WHOLE["alone"]) == ("a+b", "whole", 1, "a:same")
    assert (BETTER["fix"], BETTER["breaks_after"], BETTER["not_ok"]) == ("a", 1, 1)
    assert (BETTER["left_at"], BETTER["owner"], BETTER["alone"]) == ("a/b.py:7", "library", "a:better b:crashed")
    assert (NAMED["outcome"], NAMED["fix"], NOTHING["outcome"]) == ("different_result", "", "same")


def test_the_last_line_has_both_shares_and_the_goals_decide():
    lines, met = cover_fixes.summary_of([WHOLE, BETTER, row(status="full_graph")])
    assert met and lines[-1].startswith("fixes: 1 of 2 broken models = 50.0 % are whole with a fix (goal 45 %), 1 bet")
    assert "; 2 = 100.0 % have a fix or a line" in lines[-1]
    assert not cover_fixes.summary_of([WHOLE, BETTER, NAMED])[1]  # too few are whole
    assert not cover_fixes.summary_of([WHOLE, WHOLE, NOTHING])[1]  # too few have an answer
    assert lines[1].split()[:3] == ["a", "0", "1"]  # whole, better, of its attempts alone


def test_results_are_stored_without_python_and_the_table_without_whole_models(tmp_path):
    stored = json.dumps(result([attempt("a")], 0, [SITE]))
    assert "long" not in stored and "stack" not in stored
    table = tmp_path / "fixes.csv"
    cover_fixes.write_table(table, [WHOLE, {**BETTER, "model": "n"}, {**NAMED, "model": "o", "verdict": "full_graph"}],
                            keep_others=False)
    cover_fixes.write_table(table, [{**NAMED, "model": "n"}], keep_others=True)
    assert [line.split(",")[7] for line in table.read_text().splitlines()] == ["outcome", "whole", "different_result"]


def test_the_cases_are_the_snapshot_and_the_broken_base_classes(tmp_path):
    cases = cover_fixes.snapshot_cases()
    assert "facebook/bart-large-mnli" in {case["model_type"] for case in cases} and len(cases) > 150
    assert all(case["config"].get("model_type") for case in cases)
    base = cover_fixes.base_cases()
    assert {"base"} == {case["kind"] for case in base} and len(base) > 100


def test_the_readme_has_the_tables_of_the_committed_run():
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    assert cover_fixes.markdown_of(cover_fixes.tables.read_rows(cover_fixes.TABLE)) in readme
    text = cover_fixes.markdown_of([WHOLE, BETTER])
    assert "| `a` | 2 | 0 | 1 | 1 | 0 | 0 | 0 |" in text and "| 1 combinations | 2 | 1 | 0 |" in text
