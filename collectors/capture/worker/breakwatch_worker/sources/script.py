"""Runs a script as `python SCRIPT ARGS` would, in this process."""

import os
import runpy
import sys


def run(path: str, arguments: list) -> str:
    """Runs the script and returns how it ended: '' at its end, else the argument of `sys.exit`. Raises its
    exceptions."""
    sys.argv = [path, *map(str, arguments)]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        if end.code not in (None, 0):
            return f"exit {end.code}"
    return ""
