"""`make coverage-diffusers`: captures every model class of the installed diffusers from its configuration.

    .venv/bin/python tests/coverage/cover_diffusers.py [--only CLASS ...]

A class is captured from its defaults. Where these lack what every published file contains, it is captured from its
entry in diffusers_sized.json, which has the sizes that models are published with; the detail of the row then begins
with `sized`. Renews diffusers.csv; with --only, the rows of those classes.
"""

import argparse
import importlib
import inspect
import json
import re
import sys
from pathlib import Path

import cover
import tables

TABLE = Path(__file__).with_name("diffusers.csv")
SIZED = Path(__file__).with_name("diffusers_sized.json")
# Models that only the folder of one pipeline uses; a pipeline's file names the folder as their library.
OF_PIPELINES = {
    "ltx": ["LTXLatentUpsamplerModel"],
    "ltx2": ["LTX2DurationHead", "LTX2LatentUpsamplerModel", "LTX2TextConnectors", "LTX2Vocoder", "LTX2VocoderWithBWE"],
}
COLUMNS = ("class", "verdict", "breaks", "break_sites", "detail", "toolchain")


def classes() -> dict:
    """{class name: library}"""
    import diffusers

    found = {}
    for name in dir(diffusers):
        try:
            cls = getattr(diffusers, name)
        except (ImportError, AttributeError, RuntimeError):  # it needs a library that is not installed
            continue
        if inspect.isclass(cls) and issubclass(cls, diffusers.ModelMixin) and cls is not diffusers.ModelMixin:
            found[cls.__name__] = "diffusers"
    for library, names in OF_PIPELINES.items():
        module = importlib.import_module(f"diffusers.pipelines.{library}")
        found.update({name: library for name in names if hasattr(module, name)})
    return dict(sorted(found.items()))


def row_of(name: str, result: dict, sized: bool, versions: str) -> dict:
    detail = re.sub(r"/\S*site-packages/", "", result["detail"])
    return {"class": name, "verdict": result["status"], "breaks": result.get("breaks", ""),
            "break_sites": result.get("break_sites", ""), "detail": (("sized; " if sized else "") + detail)[:160],
            "toolchain": versions}


def capture(zygote: cover.Zygote, name: str, library: str, values: dict) -> dict:
    return zygote.capture({"model_type": "diffusers", "class": name, "kind": "file", "library": library,
                           "config": {"_class_name": name, **values}})


def main() -> int:
    import diffusers
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="names of classes")
    parser.add_argument("--nice", type=int, default=10)
    options = parser.parse_args()
    versions = f"torch {torch.__version__.split('+')[0]} diffusers {diffusers.__version__}"
    sized, libraries = json.loads(SIZED.read_text(encoding="utf-8")), classes()
    known = {row["class"]: row for row in tables.read_rows(TABLE)}
    rows = {name: row for name, row in known.items() if name in libraries}
    asked = [name for name in libraries if not options.only or name in options.only]
    zygote = cover.Zygote(options.nice)
    for index, name in enumerate(asked):
        result = capture(zygote, name, libraries[name], sized.get(name, {}))
        rows[name] = row_of(name, result, name in sized, versions)
        # Each time, so that a run that is stopped has renewed what it got to.
        tables.write_rows(TABLE, COLUMNS, [rows[name] for name in sorted(rows)])
        unexplained = result.get("unexplained_events")
        print(f"{index + 1}/{len(asked)} {name}: {result['status']}, {result['detail'][:160]}"
              + (f"; {unexplained} unexplained" if unexplained else ""), file=sys.stderr, flush=True)
    zygote.close()
    if left := [name for name in libraries if name not in rows]:
        print(f"not captured yet: {', '.join(left)}")
    good = sum(row["verdict"] in cover.GOOD for row in rows.values())
    print(f"{good} of {len(libraries)} = {100 * good / len(libraries):.1f} % end in full_graph or graph_breaks")
    return 0


if __name__ == "__main__":
    sys.exit(main())
