"""`make coverage`: captures every model class of the installed transformers from its default configuration.

    .venv/bin/python tests/coverage/cover.py [--sample] [--all] [--kinds base,head] [--types REGEX] [--zygotes N]
    .venv-NAME/bin/python tests/coverage/cover.py --toolchain NAME [...]

The cases come from the library's own tables:

- base: the class of MODEL_MAPPING of every model type
- head: every class of the other MODEL_*_MAPPING tables
- file: every config.json of ../shared/hub/configs, if that folder exists
- sized: the configurations of sized.jsonl. They have the sizes that models are published with; their parts fit
  together, which those of the library's defaults often do not
- part: only on request, the exported classes that no table names, such as the parts of speech models

A case is one `capture` line to a real zygote, as the daemon sends it.

Results are stored in var/coverage/results.jsonl as they arrive, so that a stopped run continues where it stopped. A
result of the same worker, torch and transformers is used again, except with --all. --kept also uses good results of
other worker versions; each row of the table names its worker.

A complete run renews table.csv, or table-NAME.csv of another toolchain. Exit code 1 if the share is below the goal. A
sample (the base class of every SAMPLE_EVERY-th model type by the alphabet) and a run of some kinds or types renew
nothing; with --renew they renew the rows of the cases that they captured.
"""

import argparse
import concurrent.futures
import datetime
import hashlib
import json
import queue
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import tables
import workers

ROOT = Path(__file__).resolve().parents[2]
CONFIGS = ROOT.parent / "shared/hub/configs"
RESULTS = ROOT / "var/coverage/results.jsonl"
TABLE = Path(__file__).with_name("table.csv")  # of the default toolchain; table-NAME.csv of the one called NAME
SIZED = Path(__file__).with_name("sized.jsonl")
WITH_CONFIG = ("file", "sized", "snapshot")  # kinds whose config itself names its class
GOAL = 0.97
SAMPLE_EVERY = 16
GOOD = ("full_graph", "graph_breaks")
# Results of a file that are correct: its model is not a class of the library.
NO_MODEL_OF_THE_LIBRARY = ("skipped_custom_code", "skipped_unsupported_library", "skipped_no_config")
SECONDS, MEMORY_MB = 2.0, 6144  # limits of a capture: nine of ten types within the first, all under the second
SECONDS_SHARE = 0.9
# Left out of an error's text: where this machine keeps its packages, addresses in memory, and those to install from.
NOT_OF_THE_MODEL = r"/\S*site-packages/| at 0x[0-9a-f]+|https?://\S+"
# Wall time, and therefore generous: the goals are about core time.
LIMITS = {"create_s": 300, "inputs_s": 120, "eager_s": 300, "capture_s": 600, "rss_bytes": 6 << 30}
COLUMNS = ("model_type", "class", "kind", "verdict", "breaks", "sites", "graphs", "depth", "cpu_s", "peak_mb",
           "unexplained", "inputs_digest", "inputs", "detail", "suggestion", "toolchain", "date")


def mapped_classes() -> list:
    """(model type, class name, kind), each class once per type; the tables of processors and configs are not included.
    """
    from transformers.models.auto import modeling_auto

    found = {}
    for name in sorted(vars(modeling_auto)):
        if not re.fullmatch(r"MODEL_.*MAPPING_NAMES", name):
            continue
        kind = "base" if name == "MODEL_MAPPING_NAMES" else "head"
        for model_type, classes in vars(modeling_auto)[name].items():
            for cls in classes if isinstance(classes, (tuple, list)) else [classes]:
                if kind == "base" or (model_type, cls) not in found:
                    found[model_type, cls] = kind
    return sorted((model_type, cls, kind) for (model_type, cls), kind in found.items())


def unmapped_classes() -> list:
    """(folder of the model, class name) of exported classes that no table names. Nothing is imported for this."""
    import transformers

    mapped = {cls for _, cls, _ in mapped_classes()}
    found = []
    for name, module in transformers._class_to_module.items():
        parts = module.split(".")
        is_model = parts[-1].startswith("modeling_") and not parts[-1].startswith(("modeling_tf_", "modeling_flax_"))
        if is_model and name not in mapped and re.search(r"(Model|For[A-Z][A-Za-z]+)$", name) and "rained" not in name:
            found.append((parts[1], name))
    return sorted(found)


def known_types() -> set:
    from transformers import CONFIG_MAPPING

    return set(CONFIG_MAPPING)


def cases_of(kinds: list, types: str, every: int) -> list:
    """All cases; with `every`, those of every n-th model type."""
    cases = [{"model_type": model_type, "class": cls, "kind": kind, "config": {"model_type": model_type}}
             for model_type, cls, kind in mapped_classes() if kind in kinds]
    if every:
        kept = sorted({case["model_type"] for case in cases})[::every]
        return [case for case in cases if case["model_type"] in kept]
    if "part" in kinds:
        cases += [{"model_type": folder, "class": cls, "kind": "part", "config": {"architectures": [cls]}}
                  for folder, cls in unmapped_classes()]
    if "file" in kinds and CONFIGS.is_dir():
        for path in sorted(CONFIGS.glob("*.json")):
            config = json.loads(path.read_text(encoding="utf-8"))
            names = config.get("architectures") or [""]
            cases.append({"model_type": path.stem, "class": names[0], "kind": "file", "config": config})
    if "sized" in kinds:
        known = known_types()
        for entry in map(json.loads, SIZED.read_text(encoding="utf-8").splitlines()):
            if entry["config"]["model_type"] not in known:
                continue  # this release does not have it yet
            cases.append({"model_type": entry["name"], "class": entry["config"]["architectures"][0], "kind": "sized",
                          "config": entry["config"]})
    return [case for case in cases if re.search(types, case["model_type"])]


def identity(case: dict) -> str:
    text = json.dumps([case["model_type"], case["class"], case["kind"], case["config"]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class Zygote(workers.Worker):
    """A worker process that captures cases."""

    mode, fields = "eval", {}  # of the job

    def capture(self, case: dict, depth: str = "auto") -> dict:
        return self.ask({
            "type": "capture", "job": identity(case), "model": case["model_type"], "revision": "", "task": "",
            "config": case["config"], "architecture": "" if case["kind"] in WITH_CONFIG else case["class"],
            "library": case.get("library", ""), "mode": self.mode, "depth": depth, "structure": "", "limits": LIMITS,
            **self.fields})

    @staticmethod
    def kept(result: dict) -> dict:
        """What is stored of a result: not the fields that no table shows, so that the file stays small."""
        long = ("sites", "segments", "output_tail", "mode_detail")
        return {name: value for name, value in result.items() if name not in long}


def toolchain() -> dict:
    told = subprocess.run([sys.executable, "-m", "breakwatch_worker", "--describe"], capture_output=True, check=True,
                          env=workers.environment())
    return json.loads(told.stdout)


def known_results(path: Path, here: dict, kept: bool, bad_too: bool = False) -> dict:
    """The newest usable result of each case."""
    found = {}
    for entry in tables.read_lines(path):
        chain = entry["result"].get("toolchain") or {}
        same = all(chain.get(name) == here[name] for name in ("torch", "transformers", "python"))
        good = entry["result"]["status"] in GOOD
        if same and (chain.get("worker") == here["worker"] or (kept and (good or bad_too))):
            found[entry["case"]] = entry["result"]
    return found


def row_of(case: dict, result: dict) -> dict:
    chain = result.get("toolchain") or {}
    names = [f"{name}{_shape(value)}" for name, value in (result.get("inputs") or {}).items()]
    return {
        "model_type": case["model_type"], "class": case["class"], "kind": case["kind"], "verdict": result["status"],
        "breaks": result.get("breaks", ""), "sites": result.get("break_sites", ""), "graphs": result.get("graphs", ""),
        "depth": result.get("depth", ""), "cpu_s": f"{result['cpu_s']:.1f}" if "cpu_s" in result else "",
        "peak_mb": round(result["peak_rss_mb"]) if "peak_rss_mb" in result else "",
        "unexplained": result.get("unexplained_events", ""), "inputs_digest": result.get("inputs_digest", ""),
        "inputs": " ".join(names), "detail": re.sub(NOT_OF_THE_MODEL, "", result["detail"])[:300],
        "suggestion": result.get("suggestion", ""),
        "toolchain": " ".join(chain.get(name, "") for name in ("torch", "transformers", "worker")),
        "date": result.get("date", ""),
    }


def _shape(value) -> str:
    if isinstance(value, dict) and isinstance(value.get("shape"), list):
        return "[" + ",".join(map(str, value["shape"])) + "]"
    return "=..." if isinstance(value, (dict, list)) else f"={value}"


def summary_of(rows: list) -> tuple:
    """(lines, share): the last line is the share of the goal."""
    asked = [row for row in rows if row["verdict"] not in NO_MODEL_OF_THE_LIBRARY or row["kind"] != "file"]
    good = [row for row in asked if row["verdict"] in GOOD]
    types = {}
    for row in good:
        types.setdefault(row["model_type"], []).append(row)
    quick = [name for name, rows in types.items() if all(float(row["cpu_s"]) <= SECONDS for row in rows)]
    heavy = [row for row in asked if row["peak_mb"] and row["peak_mb"] >= MEMORY_MB]
    first = [row for row in good if row["kind"] == "base"]
    lines = [f"{kind}: {sum(row in good for row in asked if row['kind'] == kind)} of "
             f"{sum(row['kind'] == kind for row in asked)}" for kind in sorted({row["kind"] for row in asked})]
    lines.append(f"model types with every class within {SECONDS:g} s of core time: {_share(len(quick), len(types))}")
    lines.append(f"base classes within {SECONDS:g} s: "
                 f"{_share(sum(float(row['cpu_s']) <= SECONDS for row in first), len(first))}")
    lines.append(f"at {MEMORY_MB} MB or above: {', '.join(row['class'] for row in heavy) or 'none'}")
    lines.append(f"with unexplained events: {sum(bool(row['unexplained']) for row in good)}")
    share = len(good) / max(len(asked), 1)
    lines.append(f"coverage: {_share(len(good), len(asked))} end in full_graph or graph_breaks")
    return lines, share


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} = {100 * part / max(whole, 1):.1f} %"


def run(cases: list, results: dict, path: Path, zygotes: int, niceness: int, worker=Zygote) -> None:
    """Captures the cases without a result, and writes each result to the file as it arrives."""
    waiting = queue.SimpleQueue()
    left = [case for case in cases if identity(case) not in results]
    # In steps over the alphabet, so that the results of a stopped run are a sample of all.
    left = [case for first in range(SAMPLE_EVERY) for case in left[first::SAMPLE_EVERY]]
    for case in left:
        waiting.put(case)
    lock, began, done = threading.Lock(), time.monotonic(), [0]
    path.parent.mkdir(parents=True, exist_ok=True)

    def work(file) -> None:
        zygote = worker(niceness)
        while not waiting.empty():
            try:
                case = waiting.get_nowait()
            except queue.Empty:
                break
            result = {**worker.kept(zygote.capture(case)), "date": datetime.date.today().isoformat()}
            with lock:
                results[identity(case)] = result
                file.write(json.dumps({"case": identity(case), "result": result}) + "\n")
                file.flush()
                done[0] += 1
                print(f"{done[0]}/{len(left)} {time.monotonic() - began:.0f} s {case['model_type']} {case['class']}: "
                      f"{result['status']}, {result['detail'][:160]}", flush=True)
        zygote.close()

    with open(path, "a", encoding="utf-8") as file, concurrent.futures.ThreadPoolExecutor(zygotes) as pool:
        for future in [pool.submit(work, file) for _ in range(min(zygotes, len(left)))]:
            future.result()


def table_of(name: str) -> Path:
    return TABLE.with_name(f"table-{name}.csv") if name else TABLE


def write_table(table: Path, rows: list, keep_others: bool) -> None:
    """With `keep_others`, rows of cases that are not among these are kept."""
    def key(row: dict) -> tuple:
        return row["model_type"], row["kind"], row["class"]

    found = {key(row): row for row in (tables.read_rows(table) if keep_others else [])}
    found.update({key(row): row for row in rows})
    tables.write_rows(table, COLUMNS, [found[name] for name in sorted(found)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", action="store_true")
    parser.add_argument("--every", type=int, default=SAMPLE_EVERY, help="which model types a sample takes")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--all", action="store_true", help="make every result anew")
    parser.add_argument("--kept", action="store_true", help="take good results of other worker versions")
    parser.add_argument("--kinds", default="", help="base,head,file,sized,part; all but the last by default")
    parser.add_argument("--types", default="", help="a pattern of model types")
    parser.add_argument("--zygotes", type=int, default=2)
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--table", action="store_true", help="write the table of what is known, capture nothing")
    parser.add_argument("--renew", action="store_true", help="renew the table's rows of these cases alone")
    parser.add_argument("--toolchain", default="", help="the name of the toolchain that runs this, if not the default")
    options = parser.parse_args()
    kinds = (options.kinds or ("base" if options.sample else "base,head,file,sized")).split(",")
    cases = cases_of(kinds, options.types, options.every if options.sample else 0)
    results = {} if options.all else known_results(options.results, toolchain(), options.kept, options.table)
    if not options.table:
        run(cases, results, options.results, options.zygotes, options.nice)
    rows = [row_of(case, results[identity(case)]) for case in cases if identity(case) in results]
    whole = not options.sample and not options.types and not options.kinds
    if whole or options.table or options.renew:
        write_table(table_of(options.toolchain), rows, keep_others=options.renew)
    for row in rows:
        if row["verdict"] not in (*GOOD, *NO_MODEL_OF_THE_LIBRARY):
            print(f"  {row['model_type']} {row['class']}: {row['verdict']}, {row['detail']}")
    lines, share = summary_of(rows)
    if len(rows) < len(cases):
        print(f"not captured yet: {len(cases) - len(rows)} of {len(cases)}")
    print("\n".join(lines))
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
