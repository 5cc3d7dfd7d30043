"""Reads and writes the files of results: CSV tables, which are published, and lines of JSON, which grow in a run."""

import csv
import json
from pathlib import Path


def read_rows(path: Path) -> list:
    """The rows of a table; none if there is no file."""
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write_rows(path: Path, columns: tuple, rows) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def read_lines(path: Path):
    """The objects of a file, a line each; none if there is no file. A torn last line is of a run that was stopped."""
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else []:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def append_line(path: Path, entry: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
