"""`make fixes`: tries the fixes on every broken model of the bundled snapshot and every broken base class of table.csv.

    .venv/bin/python tests/coverage/cover_fixes.py [--only REGEX] [--sets snapshot,base] [--zygotes N]
    .venv/bin/python tests/coverage/cover_fixes.py --markdown   # the table of README.md, from fixes.csv

The cases come from collectors/hub/snapshot and from the rows of kind `base` with the verdict graph_breaks in table.csv.
A case is one `capture` line of mode `fix` to a real worker, as the daemon sends it.

Results are stored in var/coverage/fixes.jsonl as they arrive, so that a stopped run continues where it stopped. A
result of the same worker, torch and transformers is used again, except with --all. A complete run renews fixes.csv;
with --renew, a run of some cases renews their rows.

Exit code 1 if a goal is missed: the share of broken models with a fix that makes them whole or better, or with a named
line that no fix moves; and the share that a fix makes whole.
"""

import argparse
import json
import re
import sys
from collections import Counter
from pathlib import Path

import cover
import tables

SNAPSHOT = cover.ROOT / "collectors/hub/snapshot"
RESULTS = cover.ROOT / "var/coverage/fixes.jsonl"
TABLE = Path(__file__).with_name("fixes.csv")
ANSWERED, WHOLE = 0.90, 0.45  # the goals
OUTCOMES = ("whole", "better", "same", "worse", "different_result")
GAINS = OUTCOMES[:2]
COLUMNS = ("set", "model", "class", "verdict", "breaks", "sites", "graphs", "outcome", "fix", "breaks_after",
           "sites_after", "graphs_after", "left", "left_at", "owner", "tried", "alone", "not_ok", "stopped", "cpu_s",
           "detail", "toolchain", "date")


class Fixer(cover.Zygote):
    """A worker process that tries fixes."""

    # Attempts share the model's memory with their parent, and a limit is for all of them together: twice the usual one.
    mode, fields = "fix", {"fix": {}, "limits": {**cover.LIMITS, "rss_bytes": 2 * cover.LIMITS["rss_bytes"]}}

    @staticmethod
    def kept(result: dict) -> dict:
        """The attempts without their Python code, and where the sites are that no fix removes."""
        detail = result.get("mode_detail") or {}
        attempts = [{name: each[name] for name in ("names", "status", "outcome", "detail", "after", "seconds")
                     if name in each} for each in detail.get("attempts", [])]
        left = [{name: site[name] for name in ("site_id", "gb_id", "reason", "file", "line", "owner")}
                for site in detail.get("left", [])]
        short = {name: detail.get(name) for name in ("before", "best", "whole", "stopped")}
        return {**cover.Zygote.kept(result), "fixes": {**short, "attempts": attempts, "left": left}}


def snapshot_cases(folder: Path = SNAPSHOT) -> list:
    cases = []
    for model in tables.read_lines(folder / "models.jsonl"):
        paths = sorted((folder / "files" / model["id"].replace("/", "--")).glob("*/config.json"))
        if paths:
            config = json.loads(paths[0].read_text(encoding="utf-8"))
            cases.append({"model_type": model["id"], "class": (config.get("architectures") or [""])[0],
                          "kind": "snapshot", "config": config, "library": model.get("library_name") or ""})
    return cases


def base_cases(table: Path = cover.TABLE) -> list:
    return [{"model_type": row["model_type"], "class": row["class"], "kind": "base",
             "config": {"model_type": row["model_type"]}} for row in tables.read_rows(table)
            if row["kind"] == "base" and row["verdict"] == "graph_breaks"]


def row_of(case: dict, result: dict) -> dict:
    found, chain = result.get("fixes") or {}, result.get("toolchain") or {}
    attempts, best = found.get("attempts") or [], found.get("best")
    best = attempts[best] if attempts and best is not None and best >= 0 else {}
    after, left = best.get("after") or {}, found.get("left") or []
    return {
        "set": case["kind"], "model": case["model_type"], "class": case["class"], "verdict": result["status"],
        "breaks": result.get("breaks", ""), "sites": result.get("break_sites", ""), "graphs": result.get("graphs", ""),
        "outcome": best.get("outcome") or _without_gain(attempts), "fix": "+".join(best.get("names") or []),
        **{f"{name}_after": after.get(name, "") for name in ("breaks", "sites", "graphs")},
        "left": len(left), "left_at": " ".join(f"{site['file']}:{site['line']}" for site in left[:8]),
        "owner": " ".join(sorted({site["owner"] for site in left})), "tried": len(attempts),
        "alone": " ".join(f"{each['names'][0]}:{each['outcome'] or each['status']}" for each in attempts
                          if len(each["names"]) == 1),
        "not_ok": sum(each["status"] != "ok" for each in attempts), "stopped": found.get("stopped") or "",
        "cpu_s": f"{result['cpu_s']:.1f}" if "cpu_s" in result else "",
        "detail": re.sub(cover.NOT_OF_THE_MODEL, "", result["detail"])[:200],
        "toolchain": " ".join(chain.get(name, "") for name in ("torch", "transformers", "worker")),
        "date": result.get("date", ""),
    }


def _without_gain(attempts: list) -> str:
    """The best outcome of attempts of which none is a gain."""
    found = {each["outcome"] for each in attempts}
    return next((outcome for outcome in OUTCOMES[2:] if outcome in found), "")


def is_broken(row: dict) -> bool:
    return row["verdict"] == "graph_breaks"


def by_fix(rows: list) -> dict:
    """fix -> outcome or status of its attempts alone -> models."""
    found = {}
    for row in filter(is_broken, rows):
        for text in row["alone"].split():
            name, _, outcome = text.partition(":")
            found.setdefault(name, Counter())[outcome] += 1
    return dict(sorted(found.items(), key=lambda item: (-item[1]["whole"], -item[1]["better"], item[0])))


def recommended(rows: list) -> dict:
    """The combination that is recommended, "" for none -> outcome -> broken models."""
    found = {}
    for row in filter(is_broken, rows):
        found.setdefault(row["fix"] if row["outcome"] in GAINS else "", Counter())[row["outcome"]] += 1
    return dict(sorted(found.items(), key=lambda item: (-item[1]["whole"], -item[1]["better"], item[0])))


def markdown_of(rows: list) -> str:
    """The tables of README.md."""
    lines = ["| fix, alone | tried | whole | better | same | worse | different result | failed |",
             "| --- |" + " --- |" * 7]
    for name, outcomes in by_fix(rows).items():
        others = sum(outcomes.values()) - sum(outcomes[each] for each in OUTCOMES)
        numbers = (sum(outcomes.values()), *(outcomes[each] for each in OUTCOMES), others)
        lines.append(f"| `{name}` | " + " | ".join(str(number) for number in numbers) + " |")
    lines += ["", "| recommended | fixes of it | whole | better |", "| --- | --- | --- | --- |"]
    by_size = {}
    for name, outcomes in recommended(rows).items():
        if name:
            by_size.setdefault(name.count("+") + 1, []).append((name, outcomes))
    for size, found in sorted(by_size.items()):
        if size > 1:
            total = sum((outcomes for _, outcomes in found), Counter())
            lines.append(f"| {len(found)} combinations | {size} | {total['whole']} | {total['better']} |")
        else:
            lines += [f"| `{name}` | 1 | {outcomes['whole']} | {outcomes['better']} |" for name, outcomes in found]
    kinds = sorted({row["set"] for row in filter(is_broken, rows)})
    goals = [f"- {kind}: {_goals([row for row in rows if is_broken(row) and row['set'] == kind])[0]}" for kind in kinds]
    return "\n".join([*lines, "", *goals, f"- both: {_goals(list(filter(is_broken, rows)))[0]}"])


def summary_of(rows: list) -> tuple:
    """(lines, whether both goals are met): the last line has the shares."""
    broken = [row for row in rows if is_broken(row)]
    lines = [f"{'fix':36}" + "".join(f"{name:>18}" for name in (*OUTCOMES, "not ok"))]
    for name, outcomes in by_fix(rows).items():
        others = sum(outcomes.values()) - sum(outcomes[each] for each in OUTCOMES)
        numbers = (*(outcomes[each] for each in OUTCOMES), others)
        lines.append(f"{name:36}" + "".join(f"{number:>18}" for number in numbers))
    for kind in sorted({row["set"] for row in broken}):
        lines.append(f"{kind}: {_goals([row for row in broken if row['set'] == kind])[0]}")
    text, met = _goals(broken)
    return [*lines, f"fixes: {text}"], met


def _goals(broken: list) -> tuple:
    whole = sum(row["outcome"] == "whole" for row in broken)
    answered = sum(row["outcome"] in GAINS or bool(row["left_at"]) for row in broken)
    better = sum(row["outcome"] == "better" for row in broken)
    share = max(len(broken), 1)
    text = (f"{whole} of {len(broken)} broken models = {100 * whole / share:.1f} % are whole with a fix "
            f"(goal {100 * WHOLE:.0f} %), {better} better; {answered} = {100 * answered / share:.1f} % have a fix or a "
            f"line that no fix moves (goal {100 * ANSWERED:.0f} %)")
    return text, whole >= WHOLE * len(broken) and answered >= ANSWERED * len(broken)


def write_table(table: Path, rows: list, keep_others: bool) -> None:
    """Rows of broken models and of those without numbers. With `keep_others`, rows of other cases are kept."""
    def key(row: dict) -> tuple:
        return row["set"], row["model"], row["class"]

    found = {key(row): row for row in (tables.read_rows(table) if keep_others else [])}
    found.update({key(row): row for row in rows})
    tables.write_rows(table, COLUMNS, [found[name] for name in sorted(found) if found[name]["verdict"] != "full_graph"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--all", action="store_true", help="make every result anew")
    parser.add_argument("--sets", default="snapshot,base", help="snapshot,base")
    parser.add_argument("--only", default="", help="a pattern of models and classes")
    parser.add_argument("--zygotes", type=int, default=2)
    parser.add_argument("--nice", type=int, default=10)
    parser.add_argument("--renew", action="store_true", help="renew the table's rows of these cases alone")
    parser.add_argument("--markdown", action="store_true", help="print the tables of README.md from fixes.csv")
    options = parser.parse_args()
    if options.markdown:
        print(markdown_of(tables.read_rows(TABLE)))
        return 0
    chosen = options.sets.split(",")
    cases = [case for case in snapshot_cases() + base_cases() if case["kind"] in chosen
             and re.search(options.only, f"{case['model_type']} {case['class']}")]
    results = {} if options.all else cover.known_results(options.results, cover.toolchain(), False)
    cover.run(cases, results, options.results, options.zygotes, options.nice, Fixer)
    rows = [row_of(case, results[cover.identity(case)]) for case in cases if cover.identity(case) in results]
    complete = not options.only and set(chosen) == {"snapshot", "base"}
    if complete or options.renew:
        write_table(TABLE, rows, keep_others=not complete)
    for row in filter(is_broken, rows):
        print(f"  {row['model']} {row['class']}: {row['breaks']} breaks, {row['graphs']} graphs; "
              f"{row['outcome'] or 'nothing tried'} {row['fix']}; left {row['left_at'] or 'nothing'}")
    lines, met = summary_of(rows)
    print("\n".join(lines))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
