"""`make shrink-proof`: compares reduced captures with captures of the same models as configured.

    .venv/bin/python tests/coverage/shrink_proof.py [--every N] [--first N] [--all]

The models are the base classes of every EVERY-th model type of the library by the alphabet, at most FIRST of them, with
their default configurations. Each is captured as for users (depth `auto`), and then unchanged (depth `original`: full
width and full depth). Sites and, for a model with breaks, events must be equal. A model that is too large for this is
captured at full width and reduced depth (`wide`), and the sites must be equal. A model that is still too large proves
nothing and does not count. The same holds for a model that was not reduced. Writes shrink.csv. Exit code 1 if results
differ, or if fewer than GOAL architectures were proven.
"""

import argparse
import datetime
import sys
from pathlib import Path

import cover
import tables

TABLE = Path(__file__).with_name("shrink.csv")
RESULTS = cover.RESULTS.with_name("shrink.jsonl")
EVERY, FIRST, GOAL = 5, 100, 60
COLUMNS = ("model_type", "class", "proof", "against", "verdict", "sites", "events", "their_sites", "their_events",
           "made_smaller", "worker")


def proof_of(reduced: dict, wide: dict) -> str:
    """"same", "nothing smaller", "no answer", or the difference."""
    if reduced["status"] not in cover.GOOD:
        return "no answer"
    if not _made_smaller(reduced):
        return "nothing smaller"
    if wide["status"] not in cover.GOOD:
        return "no answer"
    ours, theirs = ({site["site_id"] for site in result.get("sites") or []} for result in (reduced, wide))
    if ours != theirs:
        return f"sites differ: {len(ours - theirs)} only when smaller, {len(theirs - ours)} only at full size"
    if wide["asked"] == "original" and reduced["breaks"] != wide["breaks"]:
        return "events differ"
    return "same"


def _made_smaller(result: dict) -> bool:
    return result.get("depth") != "original" or "widths" in result["detail"] or "->" in result["detail"]


def captured(zygote, case: dict, depths: tuple) -> dict:
    """The first of these depths that fits into memory."""
    for depth in depths:
        result = {**zygote.capture(case, depth), "asked": depth}
        if result["status"] not in ("skipped_too_large", "out_of_memory"):
            break
    return result


def row_of(case: dict, reduced: dict, wide: dict) -> dict:
    return {
        "model_type": case["model_type"], "class": case["class"], "proof": proof_of(reduced, wide),
        "against": wide["asked"], "verdict": reduced["status"], "sites": reduced.get("break_sites", ""),
        "events": reduced.get("breaks", ""), "their_sites": wide.get("break_sites", ""),
        "their_events": wide.get("breaks", ""),
        "made_smaller": reduced["detail"] if reduced["status"] in cover.GOOD else "",
        "worker": (reduced.get("toolchain") or {}).get("worker", ""),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", type=int, default=EVERY)
    parser.add_argument("--first", type=int, default=FIRST)
    parser.add_argument("--all", action="store_true", help="make every proof anew")
    parser.add_argument("--known", action="store_true", help="write the table of what is known, capture nothing")
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--table", type=Path, default=TABLE)
    options = parser.parse_args()
    cases = cover.cases_of(["base"], "", options.every)[:options.first]
    here = cover.toolchain()
    known = {} if options.all else {
        entry["case"]: entry["result"] for entry in tables.read_lines(options.results)}
    zygote, rows = cover.Zygote(options.nice), []
    for number, case in enumerate(cases, 1):
        key = f"{cover.identity(case)} {here['torch']} {here['transformers']}"
        if key not in known and options.known:
            continue
        if key not in known:
            reduced = captured(zygote, case, ("auto",))
            worth = reduced["status"] in cover.GOOD and _made_smaller(reduced)
            wide = captured(zygote, case, ("original", "wide")) if worth else {"status": "", "asked": ""}
            known[key] = row_of(case, reduced, wide)
            tables.append_line(options.results, {"case": key, "result": known[key]})
        rows.append(known[key])
        print(f"{number}/{len(cases)} {case['class']}: {known[key]['proof']} {known[key]['against']}", flush=True)
    zygote.close()
    tables.write_rows(options.table, COLUMNS, rows)
    same = [row for row in rows if row["proof"] == "same"]
    differing = [row for row in rows if "differ" in row["proof"]]
    for row in differing:
        print(f"  {row['class']}: {row['proof']}")
    whole = sum(row["against"] == "original" for row in same)
    print(f"{datetime.date.today()}: proven the same: {len(same)} architectures ({whole} at full width and full depth, "
          f"{len(same) - whole} at full width), {len(differing)} differ")
    return 0 if not differing and len(same) >= min(GOAL, len(cases) // 2) else 1


if __name__ == "__main__":
    sys.exit(main())
