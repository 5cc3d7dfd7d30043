"""`make bench`: five figures in one run, each with its goal. Exit code 1 if a goal is missed.

    .venv/bin/python tests/benchmarks/bench.py [--set 60|20] [--record] [--first N] [--baseline-from history]

The set has 60 models by default (`make bench BENCH_SET=20` selects the other). The set of 20 is the one of the first
figures in history.jsonl, with its own goals, and stays comparable with them.

1. Captures per minute. `breakwatch sweep --rebuild always` with two zygotes over the models of bench_models.json is
   compared with baseline_explain.py on the same models: one process for each model, two at a time.
   - The time is that of the whole sweep, from the start of the program to its end. It includes the start of the
     zygotes and the second capture, at full depth, of every model that breaks. A model counts as one capture, although
     the baseline makes no second one.
   - Only models with a result on both sides count. The time of the other models is included for breakwatch, but not
     for the baseline, because the sizes that it tries are not bounded. The baseline's time is that of its counted
     processes, as if two of them had always run.
   - The figure is also reported in processor time, which does not depend on other load. The goal is about wall time.
   - Nothing is exported, and no model is verified at random. Both sides run once before, on one model, so that the disk
     cache is warm. Each baseline process has one thread, as each zygote has.
   - The start of a zygote is also reported separately.
   - Both the figure and its ratio to the baseline have a goal. `--baseline-from history` uses the last recorded
     baseline of the set: for development only, such a run is never recorded.
2. Share of core time inside tracing: processor time of the captures' create, eager and capture phases, divided by that
   of all processes of the sweep: the program, the sandbox, the zygotes with their imports, all children. The process
   tree is sampled in /proc, and the highest sum counts. This misses at most the last SAMPLE_S.
3. Peak memory: resident memory of the largest capture, as measured by its own process.
4. Resident memory at rest: VmRSS of `breakwatch serve` alone, on the store of that sweep, after its metrics were read.
"""

import argparse
import concurrent.futures
import contextlib
import datetime
import json
import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import bench_figures as figures

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "build/release/breakwatch"
SNAPSHOT = ROOT / "collectors/hub/snapshot"
WORKER = ROOT / "collectors/capture/worker"
BASELINE = HERE / "baseline_explain.py"
HISTORY = HERE / "history.jsonl"
AT_ONCE = 2
SAMPLE_S = 0.2
REST_S = 5.0
LIMIT_S = 1800
EXPLAIN_LIMIT_S = 90


class Stop(Exception):
    """The benchmark cannot run."""


# --- what is captured


def load_models(name: str, first: int) -> list:
    """The models of a set as {model, config, task}."""
    chosen = json.loads((HERE / "bench_models.json").read_text())["sets"][name]["models"][:first]
    with open(SNAPSHOT / "models.jsonl", encoding="utf-8") as file:
        entries = {entry["id"]: entry for entry in map(json.loads, file)}
    if missing := [model for model in chosen if model not in entries]:
        raise Stop(f"not in the snapshot any more: {', '.join(missing)}")
    return [{
        "model": model,
        "config": str(SNAPSHOT / "files" / model.replace("/", "--") / entries[model]["sha"] / "config.json"),
        "task": entries[model].get("pipeline_tag") or "",
    } for model in chosen]


def environment(folder: Path) -> dict:
    """The same for both sides; the user's cache is neither read nor written."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "BREAKWATCH_"))}
    return {**kept, "HF_HOME": str(folder / "hf"), "HF_HUB_CACHE": str(folder / "hf/hub")}


# --- processor time of a tree of processes


def _children(pid: int) -> list:
    try:
        return [int(word) for task in os.listdir(f"/proc/{pid}/task")
                for word in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except OSError:
        return []


def tree_seconds(pid: int) -> float:
    """Processor seconds used so far by `pid`, all processes below it, and the children that they have waited for."""
    total, queue = 0.0, [pid]
    while queue:
        process = queue.pop()
        with contextlib.suppress(OSError):
            total += figures.parse_stat(Path(f"/proc/{process}/stat").read_text())
            queue += _children(process)
    return total / os.sysconf("SC_CLK_TCK")


class TreeClock(threading.Thread):
    """Samples a process tree until it is stopped. The time of a killed zygote disappears from the tree, so the highest
    sum counts."""

    def __init__(self, pid: int):
        super().__init__(name="tree-clock", daemon=True)
        self.seconds = 0.0
        self._pid, self._over = pid, threading.Event()

    def run(self) -> None:
        while not self._over.wait(SAMPLE_S):
            self.seconds = max(self.seconds, tree_seconds(self._pid))

    def stop(self) -> float:
        self._over.set()
        self.join()
        return self.seconds


# --- the two sides


def sweep(models: list, folder: Path) -> dict:
    command = [PROGRAM, "sweep", "--quiet", "--rebuild", "always", "--state-dir", folder / "state", "--hub.source",
               "snapshot", "--hub.snapshot_dir", SNAPSHOT, "--capture.zygotes", str(AT_ONCE), "--capture.verify_share",
               "0", "--exporters.file.enabled=false"]
    command += [word for model in models for word in ("--model", model["model"])]
    begun = time.monotonic()
    process = subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    clock = TreeClock(process.pid)
    clock.start()
    try:
        output, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        raise Stop(f"the sweep took longer than {LIMIT_S} s") from None
    finally:
        cpu_s = clock.stop()
    wall_s = time.monotonic() - begun
    if process.returncode != 0:
        raise Stop(f"the sweep ended with {process.returncode}:\n{output[-2000:]}")
    with open(folder / "state/latest/results.jsonl", encoding="utf-8") as file:
        return {"wall_s": wall_s, "cpu_s": cpu_s, "results": [json.loads(line) for line in file]}


def explain(model: dict, folder: Path) -> dict:
    """One process of the baseline."""
    command = [sys.executable, BASELINE, model["config"], "--task", model["task"]]
    output = folder / f"{model['model'].replace('/', '--')}.json"
    begun = time.monotonic()
    with open(output, "wb") as file:
        process = subprocess.Popen(command, cwd=folder, env={**environment(folder), "OMP_NUM_THREADS": "1"},
                                   stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.DEVNULL)
    end = threading.Timer(EXPLAIN_LIMIT_S, process.kill)
    end.start()
    _, status, usage = os.wait4(process.pid, 0)
    end.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    row = {"model": model["model"], "ok": process.returncode == 0, "wall_s": time.monotonic() - begun,
           "cpu_s": usage.ru_utime + usage.ru_stime}
    if row["ok"]:
        row.update(json.loads(output.read_text().splitlines()[-1]))
    return row


def baseline(models: list, folder: Path) -> dict:
    begun = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        rows = list(pool.map(lambda model: explain(model, folder), models))
    return {"wall_s": time.monotonic() - begun, "rows": rows}


def zygote_start_s(folder: Path) -> float:
    """From the start of a single zygote to its first line."""
    begun = time.monotonic()
    process = subprocess.Popen([sys.executable, "-m", "breakwatch_worker"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               env={**environment(folder), "PYTHONPATH": str(WORKER)})
    try:
        if json.loads(process.stdout.readline() or "{}").get("type") != "hello":
            raise Stop("the worker does not start")
        return time.monotonic() - begun
    finally:
        process.communicate('{"type":"exit"}\n', timeout=60)


# --- the daemon at rest


def _read(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except OSError:
        return b""


def resident_at_rest_mb(folder: Path) -> float:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    command = [PROGRAM, "serve", "--state-dir", folder / "state", "--hub.source", "snapshot", "--hub.snapshot_dir",
               SNAPSHOT, "--web.listen_address", address, "--exporters.file.enabled=false"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment(folder), stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while not _read(f"http://{address}/-/ready"):
            if time.monotonic() > end or process.poll() is not None:
                raise Stop("the daemon does not answer")
            time.sleep(0.1)
        if b"compile_breaks_total" not in _read(f"http://{address}/metrics/models"):
            raise Stop("the daemon does not know the sweep's results")
        _read(f"http://{address}/metrics")
        time.sleep(REST_S)
        return figures.parse_resident_mb(Path(f"/proc/{process.pid}/status").read_text())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


# --- the run


def machine() -> dict:
    cpu, memory = "", 0
    with contextlib.suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
        memory = int(Path("/proc/meminfo").read_text().split()[1]) * 1024
    return {"cpu": cpu, "cores": len(os.sched_getaffinity(0)), "memory_gib": round(memory / 2**30, 1),
            "kernel": platform.release()}


def versions(results: list) -> dict:
    program = json.loads(subprocess.run([PROGRAM, "version", "--json"], capture_output=True, text=True,
                                        check=True).stdout)
    return {"breakwatch": program["version"], **{name: results[0][name] for name in (
        "worker", "torch", "transformers", "python")}}


def last_baseline(name: str) -> dict:
    """The baseline's result in the last recorded run of the set."""
    lines = HISTORY.read_text().splitlines() if HISTORY.exists() else []
    found = [entry for entry in map(json.loads, lines) if str(entry.get("set", 20)) == name]
    if not found:
        raise Stop(f"no run over the set of {name} is recorded")
    return found[-1]


def measure(models: list, folder: Path, with_baseline: bool) -> dict:
    load = [round(os.getloadavg()[0], 2)]
    print(f"bench: {len(models)} models, load {load[0]}; warming up", flush=True)
    warm = folder / "warm"
    warm.mkdir()
    explain(models[0], warm)
    sweep(models[:1], warm)
    start_s = zygote_start_s(warm)
    print(f"bench: a zygote starts in {start_s:.1f} s; sweeping", flush=True)
    ours = sweep(models, folder)
    load.append(round(os.getloadavg()[0], 2))
    print(f"bench: swept in {ours['wall_s']:.1f} s; explaining, one process a model", flush=True)
    theirs = baseline(models, folder) if with_baseline else None
    load.append(round(os.getloadavg()[0], 2))
    rest_mb = resident_at_rest_mb(folder)
    return {"load": load, "zygote_start_s": start_s, "ours": ours, "theirs": theirs, "rest_mb": rest_mb}


def print_models(measured: dict) -> None:
    theirs = measured["theirs"]["rows"] if measured["theirs"] else []
    rows = {row["model"]: row for row in theirs}
    print(f"\n{'MODEL':50} {'STATUS':14} {'DEPTH':9} {'CPU/S':>6} {'PEAK/MB':>8} {'ONE PROCESS':>12} {'CPU/S':>7} "
          f"{'WALL/S':>7}")
    for result in measured["ours"]["results"]:
        row = rows.get(result["model"], {})
        said = "explained" if row.get("ok") else "failed" if row else "not run"
        print(f"{result['model'][:50]:50} {result['status']:14} {result.get('depth') or '':9} "
              f"{result.get('cpu_s') or 0:6.2f} {result.get('peak_rss_mb') or 0:8.0f} {said:>12} "
              f"{row.get('cpu_s', 0):7.2f} {row.get('wall_s', 0):7.2f}")
    for model in figures.disagreements(measured["ours"]["results"], theirs):
        print(f"note: {model} breaks on one side only")


def compared(results: list, theirs: dict, past: dict) -> tuple:
    """(models counted, figures of the baseline): of this run, or of a recorded one."""
    if theirs is None:
        counted = {result["model"] for result in results if result["status"] in figures.CAPTURED}
        names = ("baseline_per_minute", "baseline_counted_wall_s", "baseline_counted_cpu_s")
        return counted, {name: past[name] for name in names}
    counted = figures.common(results, theirs["rows"])
    wall_s = figures.total(theirs["rows"], counted, "wall_s") / AT_ONCE
    return counted, {"baseline_per_minute": figures.per_minute(len(counted), wall_s),
                     "baseline_counted_wall_s": wall_s,
                     "baseline_counted_cpu_s": figures.total(theirs["rows"], counted, "cpu_s")}


def conclude(measured: dict, name: str, past: dict) -> tuple:
    """(what is recorded, the figures that have a goal)."""
    ours = measured["ours"]
    results = ours["results"]
    both, baseline_figures = compared(results, measured["theirs"], past)
    tracing_s = figures.purpose_seconds(results)
    other_cpu_s = baseline_figures["baseline_counted_cpu_s"]
    values = {
        "set": int(name), "models": len(results), "counted": len(both),
        "captures_per_minute": figures.per_minute(len(both), ours["wall_s"]),
        "sweep_wall_s": ours["wall_s"], "sweep_cpu_s": ours["cpu_s"],
        "captures_cpu_s": sum(result.get("cpu_s") or 0 for result in results), "tracing_cpu_s": tracing_s,
        "full_depth_too": sum(result.get("depth") == "full" for result in results),
        "zygote_start_s": measured["zygote_start_s"], **baseline_figures,
        "ratio_in_core_time": figures.ratio(other_cpu_s, ours["cpu_s"]),
        "ratio_of_captures_alone": figures.ratio(other_cpu_s, figures.total(results, both, "cpu_s")),
        "tracing_share": figures.share(tracing_s, ours["cpu_s"]),
        "peak_mb": max((result.get("peak_rss_mb") or 0 for result in results), default=0),
        "rest_mb": measured["rest_mb"], "load": measured["load"],
    }
    values["ratio"] = figures.ratio(values["captures_per_minute"], values["baseline_per_minute"])
    rounded = {key: round(value, 3) if isinstance(value, float) else value for key, value in values.items()}
    return rounded, figures.with_goals(values, name)


def record(values: dict, results: list) -> None:
    entry = {"at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"), "machine": machine(),
             "versions": versions(results), **values}
    with open(HISTORY, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=("60", "20"), default="60", dest="name", help="which models (default: 60)")
    parser.add_argument("--baseline-from", choices=("history",), help="use the last recorded baseline of the set")
    parser.add_argument("--record", action="store_true", help="append the figures to history.jsonl")
    parser.add_argument("--first", type=int, default=None, metavar="N", help="only N models, to try the benchmark out")
    options = parser.parse_args()
    if options.record and (options.first or options.baseline_from):
        parser.error("only a whole run with a baseline of its own is recorded")
    past = last_baseline(options.name) if options.baseline_from else {}
    if not PROGRAM.exists():
        raise Stop(f"{PROGRAM} is not built")
    folder = Path(tempfile.mkdtemp(prefix="breakwatch-bench-"))
    try:
        measured = measure(load_models(options.name, options.first), folder, not past)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print_models(measured)
    values, goals = conclude(measured, options.name, past)
    print("\n" + "\n".join(f"{name:22} {value}" for name, value in values.items()))
    if options.record:
        record(values, measured["ours"]["results"])
    print(f"\n{figures.summary(goals)}")
    return 0 if all(figure.hit for figure in goals) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Stop as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(2)
