"""The arithmetic of the benchmark: what it reads, what it divides, and when a goal is missed."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import bench_figures as figures
import pytest

HERE = Path(__file__).resolve().parent
SNAPSHOT = HERE.parents[1] / "collectors/hub/snapshot/models.jsonl"


def result(status="full_graph", cpu_s=2.0, model="a", **phases):
    return {"model": model, "status": status, "cpu_s": cpu_s, "phase_s": phases}


def explained(model, wall_s=4.0, ok=True):
    return {"model": model, "ok": ok, "wall_s": wall_s}


def test_only_models_with_an_answer_on_both_sides_count():
    ours = [result("full_graph", model="a"), result("graph_breaks", model="b"), result("failed_eager", model="c"),
            result("timeout", model="d"), result("full_graph", model="e")]
    theirs = [explained("a"), explained("b"), explained("c"), explained("d"), explained("e", ok=False)]
    assert figures.common(ours, theirs) == {"a", "b"}


def test_a_model_captured_at_two_depths_is_one_capture():
    assert len(figures.common([{**result("graph_breaks"), "depth": "full"}], [explained("a")])) == 1


def test_the_baseline_is_not_charged_for_models_that_do_not_count():
    theirs = [explained("a", 3.0), explained("b", 5.0), explained("huge", 90.0, ok=False)]
    assert figures.total(theirs, {"a", "b"}, "wall_s") == 8.0


def test_captures_per_minute_are_none_where_no_time_passed():
    assert figures.per_minute(20, 60.0) == 20.0
    assert figures.per_minute(0, 10.0) == 0.0
    assert figures.per_minute(5, 0.0) == 0.0


def test_a_baseline_that_captured_nothing_is_not_beaten():
    assert figures.ratio(30.0, 3.0) == 10.0
    assert figures.ratio(30.0, 0.0) == 0.0


def test_making_inputs_is_not_tracing():
    assert figures.purpose_seconds([result(cpu_s=4.0, create=1.0, inputs=1.0, eager=1.0, capture=1.0)]) == 3.0


def test_phases_that_waited_for_a_core_count_their_processor_time_only():
    waited = result(cpu_s=2.0, create=1.0, inputs=0.0, eager=1.0, capture=6.0)
    assert figures.purpose_seconds([waited]) == pytest.approx(2.0)


def test_processor_time_outside_the_phases_is_not_tracing():
    assert figures.purpose_seconds([result(cpu_s=9.0, create=1.0, capture=2.0)]) == 3.0


def test_a_capture_without_phases_adds_nothing():
    assert figures.purpose_seconds([result(cpu_s=3.0), {"model": "b", "status": "worker_lost"}]) == 0.0


def test_the_share_of_nothing_is_nothing():
    assert figures.share(8.0, 10.0) == 0.8
    assert figures.share(1.0, 0.0) == 0.0


def test_a_process_whose_name_holds_brackets_is_read():
    numbers = " ".join(str(number) for number in range(4, 53))
    assert figures.parse_stat(f"42 (a) b (c) S {numbers}") == 14 + 15 + 16 + 17


def test_resident_memory_is_in_millions_of_bytes():
    assert figures.parse_resident_mb("Name:\tbreakwatch\nVmHWM:\t  30000 kB\nVmRSS:\t  10000 kB\n") == 10.24


def test_a_process_that_has_ended_has_no_resident_memory():
    with pytest.raises(ValueError, match="ended"):
        figures.parse_resident_mb("Name:\tbreakwatch\nState:\tZ (zombie)\n")


def test_goals_are_inclusive_below_and_exclusive_above():
    assert figures.Figure("ratio", 8.0, 8.0, True).hit
    assert not figures.Figure("ratio", 7.99, 8.0, True).hit
    assert not figures.Figure("memory", 20.0, 20.0, False).hit
    assert figures.Figure("memory", 19.9, 20.0, False).hit


def test_the_summary_is_one_line_with_every_goal_and_verdict():
    line = figures.summary([figures.Figure("ratio", 3.5, 8.0, True), figures.Figure("rest", 14.0, 20.0, False, " MB")])
    assert line == "bench: ratio 3.50 (goal >= 8: missed); rest 14.00 MB (goal < 20 MB: hit)"


def test_a_model_with_breaks_on_one_side_only_is_reported():
    ours = [result("full_graph", model="a"), result("graph_breaks", model="b"), result("failed_eager", model="c")]
    theirs = [{"model": "a", "ok": True, "graph_break_count": 2}, {"model": "b", "ok": True, "graph_break_count": 1},
              {"model": "c", "ok": True, "graph_break_count": 1}]
    assert figures.disagreements(ours, theirs) == ["a"]


def test_the_figures_of_a_set_are_held_to_its_own_goals():
    values = {"captures_per_minute": 100.0, "ratio": 9.0, "tracing_share": 0.85, "peak_mb": 3000.0, "rest_mb": 14.0}
    assert [(figure.name, figure.hit) for figure in figures.with_goals(values, "60")] == [
        ("captures per minute", False), ("captures per minute, times the baseline's", False),
        ("core time inside tracing", False), ("largest capture", True), ("daemon at rest", True)]
    assert all(figure.hit for figure in figures.with_goals(values, "20"))


@pytest.mark.parametrize("name", ["60", "20"])
def test_the_models_are_those_of_the_rule(name):
    chosen = json.loads((HERE / "bench_models.json").read_text())
    models, every = chosen["sets"][name]["models"], chosen["sets"][name]["every"]
    ids = [json.loads(line)["id"] for line in SNAPSHOT.read_text(encoding="utf-8").splitlines()]
    assert len(set(models)) == int(name)
    assert set(models) <= set(ids)
    if hashlib.sha256("\n".join(ids).encode()).hexdigest() != chosen["snapshot_ids_sha256"]:
        pytest.skip("the snapshot has changed since the models were chosen; the list stays")
    assert models == ids[::every][:int(name)]


def test_the_baseline_script_prints_a_result(tmp_path):
    pytest.importorskip("transformers")
    config = tmp_path / "config.json"
    config.write_text(json.dumps({"model_type": "bert", "num_hidden_layers": 1}))
    script = Path(__file__).with_name("baseline_explain.py")
    run = subprocess.run([sys.executable, str(script), str(config), "--architecture", "BertModel"],
                         capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr[-2000:]
    assert json.loads(run.stdout)["graph_count"] == 1
