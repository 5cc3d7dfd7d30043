"""The cost of a capture besides create, eager and capture: the fork, the confinement, the inputs, the result, the exit.

    .venv/bin/python tests/benchmarks/overhead.py [--set 20
    60] [--first N]

Runs the benchmark's models in one zygote. From the processor time of each capture (of its own processes, as counted by
the kernel), it subtracts the time that the child measured inside those three phases. Processor time hardly depends on
the load of the machine. Prints each model and, as the last line, the median and the maximum; exit code 1 if the median
is above the goal. The time of making inputs is included and also printed separately: models with images or sound among
text are called for the number of their features.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import bench

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "coverage"))

import workers  # noqa: E402

GOAL_S = 0.050
PURPOSE = ("create", "eager", "capture")


def captures(models: list):
    """The result of each model, in turn, from one zygote."""
    worker = workers.Worker()
    try:
        for model in models:
            with open(model["config"], encoding="utf-8") as file:
                yield worker.ask({"type": "capture", "job": model["model"], "model": model["model"],
                                  "config": json.load(file), "task": model["task"], "depth": "auto"})
    finally:
        worker.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", choices=("60", "20"), default="20", dest="name")
    parser.add_argument("--first", type=int, default=None, metavar="N")
    options = parser.parse_args()
    rows = []
    for result in captures(bench.load_models(options.name, options.first)):
        phases = result.get("phase_cpu_s")
        if result["status"] not in ("full_graph", "graph_breaks") or not phases:
            continue
        runs = 2 if result["depth"] == "full" else 1
        inside = sum(phases.get(name, 0.0) for name in PURPOSE)
        overhead = (result["cpu_s"] - inside) / runs
        rows.append(overhead)
        print(f"{result['job'][:50]:50} cpu {result['cpu_s']:7.3f} s, inputs {phases.get('inputs', 0) / runs:6.3f} s, "
              f"outside {overhead:6.3f} s a run", flush=True)
    if not rows:
        print("overhead: nothing was captured")
        return 2
    middle, worst = statistics.median(rows), max(rows)
    print(f"overhead: median {middle * 1000:.0f} ms, worst {worst * 1000:.0f} ms of {len(rows)} captures "
          f"(goal <= {GOAL_S * 1000:.0f} ms: {'hit' if middle <= GOAL_S else 'missed'})")
    return 0 if middle <= GOAL_S else 1


if __name__ == "__main__":
    sys.exit(main())
