"""Builds and checks a package of each model class in architectures.yaml: `make artifacts`.

Prints a line for each and a summary, and writes packages.csv with the date. Exits 1 if fewer packages are whole than
`--least`: a whole one was built, and breakwatch-runner found its outputs equal to eager's.
"""

import argparse
import csv
import datetime
import pathlib
import sys
import tempfile

import yaml

_HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(_HERE.parent / "worker"))

import packages_support  # noqa: E402

_TABLE = _HERE / "packages.csv"
_COLUMNS = ("date", "class", "model_type", "family", "target", "status", "stage", "cause", "breaks", "graphs",
            "outputs", "max_abs", "detail")
_TARGET = "aot_inductor"


def listed(only=None) -> list:
    entries = yaml.safe_load((_HERE / "architectures.yaml").read_text())["architectures"]
    return [entry for entry in entries if only is None or only(entry)]


def package_of(zygote, entry: dict, folder: pathlib.Path) -> dict:
    """A row of the table: the stage and cause of what failed, or the largest difference from eager."""
    row = {**{name: entry[name] for name in ("class", "model_type", "family")}, "target": _TARGET}
    config = {"model_type": entry["model_type"], "architectures": [entry["class"]]}
    result = packages_support.build(zygote, folder, config, model=entry["class"], family=entry["family"],
                                    targets=[_TARGET])
    row.update(breaks=result.get("breaks"), graphs=result.get("graphs"))
    target = ((result.get("mode_detail") or {}).get("targets") or {}).get(_TARGET)
    if target is None:  # the model itself failed, before a target was built
        return {**row, "status": result["status"], "stage": "capture", "cause": result.get("phase"),
                "detail": result["detail"]}
    if target["status"] != "built":
        return {**row, "status": "failed_build", "stage": "build", "cause": target["cause"], "detail": target["detail"]}
    answer = packages_support.run("check", folder / _TARGET)
    outputs = [output for case in answer["cases"] for output in case["outputs"]]
    differences = [output["max_abs"] for output in outputs if output["max_abs"] is not None]
    return {**row, "status": answer["status"], "stage": "check", "cause": "" if answer["code"] == 0 else "outputs",
            "outputs": len(outputs), "max_abs": f"{max(differences, default=0.0):.3g}", "detail": answer["detail"]}


def is_whole(row: dict) -> bool:
    return row["status"] == "ok"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--least", type=int, default=24, help="fail with fewer whole packages (default 24)")
    parser.add_argument("--only", action="append", help="a class of the list; the table is then not written")
    parser.add_argument("--table", type=pathlib.Path, default=_TABLE)
    arguments = parser.parse_args()
    if not packages_support.RUNNER.exists():
        print("breakwatch-runner was not built: make venv, then make build", file=sys.stderr)
        return 1
    entries = listed((lambda entry: entry["class"] in arguments.only) if arguments.only else None)
    rows = _rows(entries)
    whole = sum(map(is_whole, rows))
    if not arguments.only:
        _write(arguments.table, rows)
    least = min(arguments.least, len(entries)) if arguments.only else arguments.least
    print(f"{whole} of {len(rows)} packages are whole (at least {least})")
    return 0 if whole >= least else 1


def _rows(entries: list) -> list:
    rows = []
    zygote = packages_support.zygote()
    try:
        for entry in entries:
            with tempfile.TemporaryDirectory() as folder:
                row = package_of(zygote, entry, pathlib.Path(folder))
            rows.append(row)
            print(f"{row['class']:40} {row['family']:24} {row['status']:14} {_found(row)}", flush=True)
    finally:
        zygote.close()
    return rows


def _found(row: dict) -> str:
    if is_whole(row):
        return f"max difference {row['max_abs']}"
    return f"{row['stage']}: {row['cause']}: {row['detail']}"


def _write(path: pathlib.Path, rows: list) -> None:
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows({**row, "date": date} for row in rows)


if __name__ == "__main__":
    sys.exit(main())
