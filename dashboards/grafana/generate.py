#!/usr/bin/env python3
"""Writes the Grafana dashboards beside this file. Run it after a change, with the Python of the tests
(`make test-venv`); a test compares the two.

The classic JSON format is used, because not every Grafana can provision the newer schema from files.
"""

import importlib
import json
import sys
from pathlib import Path

from frame import DASHBOARDS
from grafana_foundation_sdk.cog.encoder import JSONEncoder


def render(name):
    made = importlib.import_module(name).build()
    return json.dumps(made, cls=JSONEncoder, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parent
    for name in DASHBOARDS:
        (folder / f"{name}.json").write_text(render(name), encoding="utf-8")
