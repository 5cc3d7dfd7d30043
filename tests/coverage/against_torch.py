"""Compares captures by breakwatch with plain torch, for modules that breakwatch was not developed against.

    make against-torch AGAINST_FLAGS='[--only TEXT] [--modes eval,train] [--toolchain NAME] [--oracle] [--fresh]'

Every module of against_torch/unseen is captured in every mode, once by `breakwatch sweep --allow-factories`, in one
sweep of one worker process, and once by against_torch/oracle.py, which imports torch and nothing of breakwatch. Status,
breaks, sites, graphs, Dynamo's counter, reason ids and places are compared. The oracle's answers are cached in
build/against-torch by the digests of module, oracle and torch's version.

Exit code 1 if a difference is not in explained.json, which states for each difference why it is not an error of
breakwatch.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "against_torch"))

import answers  # noqa: E402
import compare  # noqa: E402
import modules  # noqa: E402

ROOT = HERE.parents[1]
BUILD = ROOT / "build/against-torch"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="modules whose selector contains this; repeatable")
    parser.add_argument("--modes", default=",".join(modules.MODES))
    parser.add_argument("--toolchain", default="", help="NAME of .venv-NAME; default: .venv")
    parser.add_argument("--program", default=str(ROOT / "build/release/breakwatch"))
    parser.add_argument("--oracle", action="store_true", help="only ask plain torch, and keep the answers")
    parser.add_argument("--fresh", action="store_true", help="an interpreter for each answer, not a fork of one")
    return parser.parse_args()


def swept(options, selectors: list, modes: list, python: Path) -> dict:
    """(selector, mode) -> result, of one sweep in its own state directory."""
    state = BUILD / "state"
    subprocess.run(["rm", "-rf", str(state)], check=True)
    command = [options.program, "--state-dir", str(state), "--capture.zygotes", "1", "--capture.worker",
               json.dumps([str(python), "-m", "breakwatch_worker"]), "sweep", "--allow-factories", "--quiet",
               "--modes", ",".join(modes)]  # fmt: skip
    for selector in selectors:
        command += ["--model", selector]
    # The table is not read here; differences are printed below, capture by capture.
    done = subprocess.run(command, cwd=modules.HERE, stdout=subprocess.DEVNULL)
    lines = state / "latest/results.jsonl"
    if not lines.exists():
        sys.exit(f"the sweep left no results, exit code {done.returncode}")
    found = {}
    for result in map(json.loads, lines.read_text().splitlines()):
        # The name of a script's module is the script and its hash; each script here calls one module.
        found[result["model"].split("::")[0], result["mode"]] = result
    return found


def say(job: dict, answer: dict) -> None:
    outcome = answer.get("status") or ("exported" if answer.get("exported") else "not exported")
    print(f"plain torch: {job['module']} {job['mode']}: {outcome}", file=sys.stderr, flush=True)


def report(chosen: list, wanted: dict, results: dict) -> int:
    explained = json.loads((modules.HERE / "explained.json").read_text())
    agree, unexplained = 0, 0
    for selector, mode, _ in chosen:
        result = results.get((selector, mode))
        found = compare.differences(mode, wanted[selector, mode], result)
        if not found:
            agree += 1
            continue
        entry = compare.explanation(explained, selector, mode, found)
        unexplained += entry is None
        print(f"{selector} {mode}: {'explained: ' + entry['reason'] if entry else 'DIFFERS'}")
        for name, (plain, ours) in found.items():
            print(f"    {name}: plain torch {plain}, breakwatch {ours}")
        if entry is None:
            print(f"    breakwatch reports: {(result or {}).get('status_detail') or 'nothing'}")
            for answer in wanted[selector, mode]:
                if answer.get("error"):
                    print(f"    plain torch reports: {' '.join(answer['error'].split())[:300]}")
    print(f"{len(chosen) - agree - unexplained} explained, {unexplained} not")
    print(f"against-torch: {agree} of {len(chosen)} captures agree")
    return 1 if unexplained else 0


def main() -> int:
    options = arguments()
    modes = options.modes.split(",")
    paths = {selector: path for selector, path in modules.selectors().items()
             if not options.only or any(text in selector for text in options.only)}  # fmt: skip
    chosen = [(selector, mode, path) for mode in modes for selector, path in paths.items()]
    python = ROOT / (f".venv-{options.toolchain}" if options.toolchain else ".venv") / "bin/python"
    kept = BUILD / ("fresh.jsonl" if options.fresh else "oracle.jsonl")
    oracle = answers.Answers(str(python), kept, options.fresh)
    wanted = answers.wanted(oracle, chosen, say)
    if options.oracle:
        print(f"{len(wanted)} answers of plain torch in {kept}")
        return 0
    return report(chosen, wanted, swept(options, list(paths), modes, python))


if __name__ == "__main__":
    sys.exit(main())
