"""Captures the zoo and small models with every torch release that the worker supports, one after the other.

    make every-torch EVERY_TORCH_FLAGS='[--only 2.9.1,2.14.1] [--keep]'

`make toolchain` makes each toolchain (5 GB, minutes) from the packages in TOOLCHAIN_PACKAGES, unless it exists, and a
new toolchain is removed afterwards. A release passes if no event of the zoo is unexplained and the models end as
expected: without breaks, or with breaks for a model that branches on data. Also reported are the number of modules with
as many events as the zoo expects, the number of modules with every expected number and id (they are those of torch 2.13
and later), and the modules on which only that release's Dynamo fails with an error. Writes torch_releases.csv, one
dated row for each release; exit code 1 if a release fails.
"""

import argparse
import datetime
import json
import shutil
import subprocess
import sys
from pathlib import Path

import cover
import tables
import workers

HERE = Path(__file__).parent
ZOO = cover.ROOT / "tests/worker/zoo_run.py"
TABLE = HERE / "torch_releases.csv"
# The newest release of each minor version from the oldest that the worker supports, with a transformers of about the
# same date.
RELEASES = {
    "2.6.0": "4.57.6", "2.7.1": "4.57.6", "2.8.0": "4.57.6", "2.9.1": "4.57.6", "2.10.0": "5.8.0", "2.11.0": "5.8.0",
    "2.12.1": "5.8.0", "2.13.0": "5.8.0", "2.14.1": "5.8.0",
}
# Class -> its result on any release: derived from the model's code, not from a run.
MODELS = {"bert": "full_graph", "gpt2": "full_graph", "vit": "full_graph", "longformer": "graph_breaks"}
COLUMNS = ("torch", "transformers", "python", "date", "modules", "same_events", "as_stated", "unexplained",
           "failed_modules", "models", "verdict", "worker")


def venv_of(torch: str, transformers: str) -> Path:
    return cover.ROOT / f".venv-torch{torch}-transformers{transformers}"


def make(torch: str, transformers: str) -> None:
    subprocess.run(["make", "toolchain", f"TORCH={torch}", f"TRANSFORMERS={transformers}"], cwd=cover.ROOT, check=True)


def zoo_of(python: str) -> tuple:
    """(modules, those that fail with an unexpected error, those with the expected number of events, those with every
    expected number, unexplained events)."""
    sys.path.insert(0, str(ZOO.parent))
    import zoo_counts
    import zoo_run

    stated = {kind.__name__: kind.expected for kind in zoo_run.kinds()}
    done = subprocess.run(["nice", python, str(ZOO)], stdout=subprocess.PIPE, text=True, timeout=1800, check=True,
                          env=workers.environment())
    first, *found = map(json.loads, done.stdout.splitlines())
    failed, same, events = [], 0, 0
    for module in found:
        expected = zoo_counts.for_torch(stated[module["name"]], tuple(first["torch"]))
        events += module["events"] == expected["events"]
        same += all(module[name] == value for name, value in expected.items())
        if module["error"] and not expected["error"]:
            failed.append(f"{module['name']}={module['error']}")
    return len(found), failed, events, same, sum(module["unexplained"] for module in found)


def row_of(torch: str, transformers: str) -> dict:
    python = str(venv_of(torch, transformers) / "bin/python")
    modules, failed, events, same, unexplained = zoo_of(python)
    zygote, said, chain = cover.Zygote(10, python), [], {}
    for name, wanted in MODELS.items():
        result = zygote.capture({"model_type": name, "class": "", "kind": "file", "config": {"model_type": name}})
        chain = result.get("toolchain") or chain
        said.append((name, result["status"], result["status"] == wanted and not result["unexplained_events"]))
    zygote.close()
    good = not unexplained and all(right for *_, right in said)
    return {
        "torch": torch, "transformers": transformers, "python": chain.get("python", ""),
        "date": datetime.date.today().isoformat(), "modules": modules, "same_events": events, "as_stated": same,
        "unexplained": unexplained,
        "failed_modules": " ".join(failed), "models": " ".join(f"{name}={status}" for name, status, _ in said),
        "verdict": "works" if good else "fails", "worker": chain.get("worker", ""),
    }


def kept_rows() -> dict:
    return {row["torch"]: row for row in tables.read_rows(TABLE)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="releases, separated by commas")
    parser.add_argument("--keep", action="store_true", help="leave the toolchains that were made")
    options = parser.parse_args()
    wanted = options.only.split(",") if options.only else list(RELEASES)
    rows = {}
    for torch in wanted:
        transformers = RELEASES[torch]
        here = venv_of(torch, transformers)
        was_here = here.exists()
        if not was_here:
            make(torch, transformers)
        row = row_of(torch, transformers)
        print(" ".join(f"{name}={row[name]}" for name in COLUMNS[:-1]), flush=True)
        if not was_here and not options.keep:
            shutil.rmtree(here)
        rows = {**kept_rows(), torch: row}  # read only now: another run may have written meanwhile
        tables.write_rows(TABLE, COLUMNS, [rows[name] for name in RELEASES if name in rows])
    good = [name for name in RELEASES if name in rows and rows[name]["verdict"] == "works"]
    print(f"{datetime.date.today()}: the worker runs on {len(good)} of {len(RELEASES)} torch releases before the "
          f"default: {', '.join(good)}")
    return 0 if all(rows[name]["verdict"] == "works" for name in wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
