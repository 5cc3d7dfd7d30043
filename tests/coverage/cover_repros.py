"""`make repros`: writes a file for 30 models of the bundled snapshot, and compares its breaks with the capture's.

    .venv/bin/python tests/coverage/cover_repros.py [--only REGEX] [--zygotes N] [--whole-only]

The models are every sixth of collectors/hub/snapshot/models.jsonl that has a config.json, from the first on: broken
and whole ones, as they come. A case is one `capture` line of mode `repro` to a real worker, as the daemon sends it, and
a second one with `minimal` if the model breaks.

Each file runs in a new interpreter without this package. What is compared are the places in Dynamo's log of that
process with the sites of the capture: file, line and number of breaks. The file's own assertions must hold too.

Results are stored in var/coverage/repros.jsonl as they arrive, so that a stopped run continues where it stopped. A
complete run renews repros.csv. Exit code 1 if a goal is missed: every file finds the same breaks, at least nine in ten
models have a file, at least nine in ten that break have a minimal one, and every minimal file has 60 lines or fewer.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import cover
import cover_fixes
import tables

RESULTS = cover.ROOT / "var/coverage/repros.jsonl"
TABLE = Path(__file__).with_name("repros.csv")
MODELS, EVERY, MOST_LINES, WITH_FILE = 30, 6, 60, 0.9
RUN_S = 600
COLUMNS = ("model", "class", "verdict", "breaks", "sites", "lines", "same", "minimal", "minimal_same", "reduced", "why",
           "toolchain", "date")
# Runs a file, and prints the places of Dynamo's log.
_LOOK = """
import json, re, runpy, sys
names = runpy.run_path(sys.argv[1], run_name="__main__")
print(json.dumps(re.findall(r" in user code at (.+:\\d+)\\n", "\\n".join(names["messages"]) + "\\n")))
"""


def cases() -> list:
    """The sample: a choice by position, not by result."""
    return cover_fixes.snapshot_cases()[::EVERY][:MODELS]


class Writer(cover.Zygote):
    """A worker process that writes files, and runs them in other processes."""

    mode, fields = "repro", {"repro": {}, "limits": {**cover.LIMITS, "rss_bytes": 2 * cover.LIMITS["rss_bytes"]}}

    @staticmethod
    def kept(result: dict) -> dict:
        repro = (result.get("mode_detail") or {}).get("repro") or {}
        sites = result.get("sites") or []
        seen = compared(repro["script"], sites, repro.get("site_id", "")) if repro.get("script") else ""
        return {**cover.Zygote.kept(result), "repro": {
            **{name: repro.get(name) for name in ("why_not", "differs", "minimal", "why_full", "reduced")},
            "lines": (repro.get("script") or "").count("\n"), "seen": seen}}


class MinimalWriter(Writer):
    fields = {**Writer.fields, "repro": {"minimal": True, "budget_s": 300}}


def compared(text: str, sites: list, site_id: str) -> str:
    """How the breaks of a file differ from the sites of the capture; of one site, where it is alone in a smaller model,
    whether it breaks there. Empty: they do not."""
    places, error = places_of(text)
    if error:
        return error
    wanted = Counter()
    for site in sites:
        if site_id in ("", site["site_id"]):
            wanted[f"{site['file']}:{site['line']}"] += site["occurrences"]
    found = Counter()
    for place in places:
        found[next((name for name in wanted if place.endswith(name)), place)] += 1
    if site_id:
        missing = [name for name in wanted if not found[name]]
        return f"no break at {missing[0]}" if missing else ""
    return "" if found == wanted else f"found {dict(found)}, not {dict(wanted)}"


def places_of(text: str) -> tuple:
    """(the places of Dynamo's log when the file runs in a new interpreter, what went wrong)."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "repro.py")
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([sys.executable, "-c", _LOOK, str(path)], cwd=folder, env=environment, text=True,
                                  capture_output=True, timeout=RUN_S)
        except subprocess.TimeoutExpired:
            return [], f"did not end within {RUN_S} s"
    if done.returncode:
        return [], (done.stderr.strip().splitlines() or ["no output"])[-1][:300]
    return json.loads(done.stdout.splitlines()[-1]), ""


def row_of(case: dict, whole: dict, minimal) -> dict:
    first, second = whole.get("repro") or {}, (minimal or {}).get("repro") or {}
    chain = whole.get("toolchain") or {}
    return {
        "model": case["model_type"], "class": case["class"], "verdict": whole["status"],
        "breaks": whole.get("breaks", ""), "sites": whole.get("break_sites", ""), "lines": first.get("lines") or "",
        "same": _verdict(first), "minimal": second.get("lines") if second.get("minimal") else "",
        "minimal_same": _verdict(second) if second.get("minimal") else "",
        "reduced": "; ".join(second.get("reduced") or []),
        "why": next((text for text in (first.get("why_not"), first.get("differs"), first.get("seen"),
                                       second.get("why_full"), second.get("seen"),
                                       None if second.get("lines") else (minimal or {}).get("detail")) if text),
                    "" if first else whole["detail"])[:200],
        "toolchain": " ".join(chain.get(name, "") for name in ("torch", "transformers", "worker")),
        "date": whole.get("date", ""),
    }


def _verdict(repro: dict) -> str:
    if not repro.get("lines"):
        return ""
    return "no" if repro.get("seen") or repro.get("differs") else "yes"


def summary_of(rows: list, whole_only: bool = False) -> tuple:
    """(the last line, whether the goals are met)."""
    numbers = [row for row in rows if row["verdict"] in ("full_graph", "graph_breaks")]
    files = [row for row in numbers if row["lines"]]
    same = [row for row in files if row["same"] == "yes"]
    broken = [row for row in numbers if row["verdict"] == "graph_breaks"]
    small = [row for row in broken if row["minimal"]]
    short = [row for row in small if int(row["minimal"]) <= MOST_LINES and row["minimal_same"] == "yes"]
    met = (len(same) == len(files) >= WITH_FILE * len(numbers)
           and (whole_only or len(short) == len(small) >= WITH_FILE * len(broken)))
    text = (f"repros: {len(same)} of {len(files)} files find the breaks of their capture ({len(numbers)} models with "
            f"numbers); {len(short)} of {len(broken)} broken models have a minimal file of at most {MOST_LINES} lines "
            "that shows its site")
    return text, met


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--all", action="store_true", help="make every result anew")
    parser.add_argument("--only", default="", help="a pattern of models and classes")
    parser.add_argument("--zygotes", type=int, default=2)
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--whole-only", action="store_true", help="no minimal files")
    options = parser.parse_args()
    chosen = [case for case in cases() if re.search(options.only, f"{case['model_type']} {case['class']}")]
    whole = _captured(chosen, options, options.results, Writer)
    broken = [case for case in chosen if whole.get(cover.identity(case), {}).get("status") == "graph_breaks"]
    results = options.results.with_suffix(".minimal.jsonl")
    minimal = {} if options.whole_only else _captured(broken, options, results, MinimalWriter)
    rows = [row_of(case, whole[cover.identity(case)], minimal.get(cover.identity(case))) for case in chosen
            if cover.identity(case) in whole]
    if not options.only and not options.whole_only:
        tables.write_rows(TABLE, COLUMNS, rows)
    for row in rows:
        print(f"  {row['model']} {row['class']}: {row['verdict']}, {row['lines'] or 'no'} lines, "
              f"same {row['same'] or '-'}; minimal {row['minimal'] or '-'} {row['minimal_same']} {row['why']}")
    text, met = summary_of(rows, options.whole_only)
    print(text)
    return 0 if met else 1


def _captured(chosen: list, options, path: Path, writer) -> dict:
    results = {} if options.all else cover.known_results(path, cover.toolchain(), False)
    cover.run(chosen, results, path, options.zygotes, options.nice, writer)
    return results


if __name__ == "__main__":
    sys.exit(main())
