"""The benchmark of whole models: `bench`, and the comparison of two benchmarks."""

import csv
import io
import json
import re

import pytest

COLUMNS = [
    "model", "author", "class", "parameters", "hash", "task", "license", "inputs", "batch", "backend", "device",
    "dtype", "threads", "mean_ms", "median_ms", "low_ms", "high_ms", "p90_ms", "p95_ms", "p99_ms", "throughput",
    "compile_s", "peak_mb", "status", "detail"]  # fmt: skip
FEW = ("--backends", "eager,inductor", "--quiet")


def rows_of(watch, *args, code=0):
    text = watch.run("bench", *args, "--format", "csv", code=code).stdout
    assert text.splitlines()[0].split(",") == COLUMNS
    return list(csv.DictReader(io.StringIO(text)))


def newest_sweep(watch):
    return json.loads(watch.run("report", "--list", "--json").stdout)[0]["sweep_id"]


def test_the_table_has_fixed_columns_and_empty_cells(breakwatch, hub):
    hub.model("org/fast", 2, times={"eager": 0.004, "inductor": 0.001})
    hub.model("plain", 1, status="failed_create")
    hub.models["org/fast"]["tags"].append("license:apache-2.0")
    hub._write_listing()
    rows = rows_of(breakwatch, "org/fast", "plain", "--batch", "1,4", *FEW)
    measured = [(r["model"], r["author"], r["batch"], r["backend"], float(r["median_ms"])) for r in rows[:4]]
    assert measured == [("org/fast", "org", "1", "eager", 4), ("org/fast", "org", "1", "inductor", 1),
                        ("org/fast", "org", "4", "eager", 16), ("org/fast", "org", "4", "inductor", 4)]  # fmt: skip
    assert rows[0]["inputs"] == "input_ids int64 [1, 16]" and rows[0]["class"] == "Fake"
    assert [row["license"] for row in (rows[0], rows[4])] == ["apache-2.0", ""]
    assert (rows[3]["throughput"], rows[3]["compile_s"], rows[3]["peak_mb"]) == ("1000.0", "1.5", "321.0")
    assert rows[4]["status"] == "failed_create" and not any(rows[4][c] for c in ("author", "median_ms", "batch"))
    assert "org/fast: batch 1, length 16, float32 on cpu" in breakwatch.run("bench", "org/fast", *FEW).stdout


@pytest.fixture
def compared(breakwatch, hub):
    """Two benchmarks: inductor became 8 % slower, eager only differs within its interval."""
    sweeps = []
    for eager, inductor in ((0.004, 0.001), (0.00401, 0.00108)):
        hub.model("org/model", 1, times={"eager": eager, "inductor": inductor})
        breakwatch.run("bench", "org/model", *FEW, "--rebuild", "always")
        sweeps.append(newest_sweep(breakwatch))
    return breakwatch, *sweeps


def test_compare_shows_significant_differences_only(compared):
    watch, old, new = compared
    document = json.loads(watch.run("compare", old, new, "--json").stdout)
    (model,) = document["models"]
    assert model["verdict"] == "worse"
    eager, inductor = model["latencies"]
    assert (eager["verdict"], inductor["verdict"]) == ("no difference", "worse")
    assert inductor["ratio"] == pytest.approx(1.08) and inductor["p_value"] < 0.05 < eager["p_value"]
    text = watch.run("compare", "previous", "latest", "--mode", "bench").stdout
    assert re.search(r"org/model +inductor +1 +worse +1\.000 +0\.990 +1\.010 +1\.080 ", text)


def test_a_tolerance_decides_what_is_worse(compared):
    watch, old, new = compared
    watch.run("compare", old, new, "--fail-on", "worse", code=2)
    done = watch.run("compare", old, new, "--fail-on", "worse", "--latency-tolerance", "10%")
    assert "within tolerance" in done.stdout
    watch.run("compare", old, new, "--fail-on", "worse", "--ignore", "latency")
    watch.run("compare", new, old, "--fail-on", "worse")
    assert "from 0% to 1000%" in watch.run("compare", old, new, "--latency-tolerance", "x", code=64).stderr


def test_times_of_other_conditions_are_not_compared(compared):
    watch, old, _ = compared
    watch.run("bench", "org/model", *FEW, "--threads", "2")
    done = watch.run("compare", old, newest_sweep(watch))
    assert "threads 1 -> 2" in done.stdout and "no_baseline" in done.stdout


def test_a_baseline_keeps_times_for_the_gate(compared):
    watch, old, new = compared
    baseline = watch.tmp_path / "times.tsv"
    watch.run("baseline", "update", baseline, "--sweep", old)
    done = watch.run("compare", "--baseline", baseline, new, code=2)
    assert "org/model: inductor with batch 1 1.000 ms -> 1.080 ms" in done.stdout
    watch.run("compare", "--baseline", baseline, new, "--latency-tolerance", "10%")
