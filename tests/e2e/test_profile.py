"""What a model costs: `profile`, with a worker that measures as configs say."""

import json
import re

import pytest
from e2e_support import REAL_WORKER, ROOT, Breakwatch, Program, eventually, get

SITES = [["branching", "GB0170", 2]]
TIMES = {"plain": 0.004, "eager": 0.00401, "inductor": 0.002, "onnxruntime": "cannot convert aten::nonzero"}
FEW = ("--backends", "eager,inductor,onnxruntime")


@pytest.fixture
def profiled(breakwatch, hub):
    hub.model("org/broken", 100, sites=SITES, times=TIMES)
    return breakwatch


def jobs(watch):
    return list(map(json.loads, (watch.tmp_path / "jobs").read_text().splitlines()))


def model_of(watch, *args):
    (model,) = json.loads(watch.run("profile", *args, "--json", "--quiet").stdout)["models"]
    return model


def test_a_profile_has_segments_totals_and_the_cost_of_each_break(profiled):
    text = profiled.run("profile", "org/broken", *FEW).stdout
    assert re.search(r"graph 1 .* inductor +\d+ +\d\.\d+ ", text)
    assert re.search(r"Python after break 1 +fake\.py:11 +branching ", text)
    assert re.search(r"^plain .* 4\.000 ", text, re.MULTILINE)
    assert re.search(r"^eager .* no difference +ok", text, re.MULTILINE)
    assert re.search(r"^inductor .* 2\.00x faster +ok", text, re.MULTILINE)
    assert re.search(r"^onnxruntime .* failed +cannot convert", text, re.MULTILINE)
    assert re.search(r"branching +GB0170 .* 1\.000 .* fullgraph fails", text)
    assert "2 runs discarded because something compiled; 0 recompiles" in text
    assert "on cpu, 1 thread, reduced model" in text
    assert re.search(r"^ *machine +.*, \d+ cores?, \d+ GiB; quiet: 1.0 % spread before", text, re.MULTILINE)


def test_options_reach_the_worker_and_are_in_the_result(profiled):
    model = model_of(profiled, "org/broken", "--batch", "1,8", "--seq", "32", "--dtype", "bfloat16", "--threads", "2",
                     "--full", "--min-runs", "5", "--min-time", "250ms", *FEW)  # fmt: skip
    (job,) = jobs(profiled)
    assert job["mode"] == "profile" and job["dtype"] == "bfloat16" and job["limits"]["capture_s"] == 3600
    assert job["measure"] == {
        "backends": ["eager", "inductor", "onnxruntime"], "batches": [1, 8], "seq": 32, "dynamic": False, "threads": 2,
        "device": "cpu", "full": True, "min_runs": 5, "min_s": 0.25}  # fmt: skip
    assert (model["size"], model["dtype"], model["threads"]) == ("published", "bfloat16", 2)
    assert [(p["batch"], p["seq"]) for p in model["profiles"]] == [(1, 32), (8, 32)]
    plain, eager, inductor, failed = model["profiles"][1]["totals"]
    assert plain["median_ms"] == pytest.approx(32) and inductor["against_plain"] == "2.00x faster"
    assert eager["p_value"] > 0.05 and failed["median_ms"] is None


def test_a_measurement_is_reused_until_its_options_change(profiled):
    assert not model_of(profiled, "org/broken", *FEW)["reused"]
    assert model_of(profiled, "org/broken", *FEW)["reused"]
    assert len(profiled.captures()) == 1
    assert not model_of(profiled, "org/broken", *FEW, "--threads", "2")["reused"]
    assert not model_of(profiled, "org/broken", *FEW, "--rebuild", "always")["reused"]
    assert len(profiled.captures()) == 3


def test_a_profile_changes_neither_the_last_sweep_nor_its_metrics(profiled, hub):
    hub.model("org/whole", 50, times=TIMES)
    profiled.run("sweep", "--quiet")
    swept = json.loads(profiled.run("report", "--json").stdout)
    profiled.run("profile", "org/broken", *FEW, "--quiet")
    profiled.run("profile", "org/whole", *FEW, "--quiet")
    assert json.loads(profiled.run("report", "--json").stdout)["sweep"] == swept["sweep"]
    shown = profiled.run("show", "org/broken").stdout
    assert "profile       plain 4.000 ms, eager 4.010 ms (no difference), inductor 2.000 ms (2.00x faster)" in shown
    assert "Segments" in profiled.run("show", "org/broken", "--mode", "profile").stdout
    _, address = profiled.serve()
    text = get(address + "/metrics/models")[1]
    of_model = r'family="nlp",model="org/broken",commit="[0-9a-f]{40}"'
    assert re.search(rf'^breakwatch_latency_seconds{{{of_model},backend="inductor",quantile="0.5"}} 0.002$', text, re.M)
    assert re.search(rf'^breakwatch_compile_seconds{{{of_model},backend="inductor"}} 1.5$', text, re.M)
    assert re.search(rf'^breakwatch_profile_share{{{of_model},segment="breaks"}} 0.25$', text, re.M)
    assert re.search(rf'^compile_breaks_total{{{of_model},reason="branching",gb_id="GB0170"}} 2$', text, re.M)
    assert 'breakwatch_sweep_models{status="full_graph"} 1' in text


def test_prices_become_the_cost_of_a_million_requests(profiled):
    prices = profiled.tmp_path / "prices.yaml"
    prices.write_text("currency: EUR\nmachines:\n- {name: two, price_per_hour: 3.6, threads: 2}\n")
    model = model_of(profiled, "org/broken", "--prices", prices, *FEW)
    rows = {row["backend"]: row["cost_per_million"] for row in model["profiles"][0]["prices"]}
    assert rows == {"plain": pytest.approx(2), "eager": pytest.approx(2.005), "inductor": pytest.approx(1)}
    prices.write_text("currency: EUR\nmachines:\n- {name: two, price_per_hour: -1, thread: 2}\n")
    error = profiled.run("profile", "org/broken", "--prices", prices, code=78).stderr
    assert 'prices.yaml:3:35: unknown key "thread"' in error and "price_per_hour: expected a price" in error


def test_reasons_by_cost_rank_what_the_profiles_measured(profiled, hub):
    hub.model("org/other", 10, sites=[["printing", "GB0002", 1]], times=TIMES)
    profiled.run("sweep", "--quiet")
    assert "no model has a profile" in profiled.run("reasons", "--by", "cost").stdout
    profiled.run("profile", "org/*", "--quiet", *FEW)
    rows = json.loads(profiled.run("reasons", "--by", "cost", "--json").stdout)
    assert {row["reason"] for row in rows} == {"branching", "printing"}
    for row, downloads in zip(sorted(rows, key=lambda row: row["reason"]), (100, 10), strict=True):
        assert row["cost_ms"] == pytest.approx(1) and row["ms_downloads"] == pytest.approx(downloads)
        assert (row["models"], row["unmeasured"], row["profiled_models"]) == (1, 1, 2)
    assert "from the newest profiles of 2 models" in profiled.run("reasons", "--by", "cost").stdout
    assert "neither --mode" in profiled.run("reasons", "--by", "cost", "--mode", "eval", code=64).stderr


def test_a_model_that_cannot_be_measured_is_a_result_and_exit_1(breakwatch, hub):
    hub.model("org/fails", 1, status="failed_eager")
    done = breakwatch.run("profile", "org/fails", "--quiet", code=1)
    assert "failed_eager: as its config says" in done.stdout
    assert "org/none not found" in breakwatch.run("profile", "org/none", "--quiet", code=1).stderr


def test_wrong_options_are_named(breakwatch):
    assert "aot_inductor" in breakwatch.run("profile", "--list-backends").stdout
    assert "name at least one model" in breakwatch.run("profile", code=64).stderr
    assert "eager, inductor" in breakwatch.run("profile", "org/x", "--backends", "tensorrt", code=78).stderr
    assert "from 1 to 65536" in breakwatch.run("profile", "org/x", "--batch", "0", code=78).stderr


def test_a_noisy_machine_is_reported(breakwatch, hub):
    hub.model("org/noisy", 1, times=TIMES, noisy=True)
    assert " GiB; too noisy" in breakwatch.run("profile", "org/noisy", *FEW).stdout


def test_a_daemon_measures_for_the_command(profiled):
    profiled.serve()
    model = model_of(profiled, "org/broken", "--threads", "3", *FEW)
    assert model["threads"] == 3 and jobs(profiled)[-1]["measure"]["threads"] == 3


def test_a_measurement_waits_for_one_of_another_process(profiled, program, hub, tmp_path):
    hub.model("org/slow", 1, times=TIMES, wait_for="done")
    other = Breakwatch(program, tmp_path, hub)
    other.settings[1] = str(tmp_path / "other")
    slow = profiled.start("profile", "org/slow", "--quiet")
    assert eventually(lambda: profiled.captures() or slow.poll() is not None)
    waiting = other.start("profile", "org/broken")
    log = tmp_path / "serve.log"
    assert eventually(lambda: "waits for another measurement or capture on this machine" in log.read_text())
    assert waiting.poll() is None and len(profiled.captures()) == 1
    (tmp_path / "done").touch()
    assert slow.wait(30) == 0 and waiting.wait(30) == 0
    assert len(profiled.captures()) == 2


def test_the_real_worker_measures_a_small_model(program, tmp_path, hub):
    if not (ROOT / ".venv/bin/python").exists():
        pytest.skip("no toolchain in .venv: make venv")
    hub.model("org/bert", 1)
    watch = Program(program, tmp_path, "--hub.source", "snapshot", "--hub.snapshot_dir", str(hub.folder), *REAL_WORKER,
                    timeout_s=300)  # fmt: skip
    model = model_of(watch, "org/bert", "--backends", "eager", "--min-runs", "3", "--min-time", "10ms", "--batch", "2")
    (profile,) = model["profiles"]
    assert (model["status"], model["size"], profile["batch"]) == ("full_graph", "reduced", 2)
    assert {row["backend"]: row["status"] for row in profile["totals"]} == {"plain": "ok", "eager": "ok"}
    assert any(row["kind"] == "graph" and row["median_ms"] > 0 for row in profile["segments"])
