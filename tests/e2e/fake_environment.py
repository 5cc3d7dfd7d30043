"""Environments without packages but with their metadata: enough to start a fake worker and to combine two of them."""

import sys

from e2e_support import ROOT

SCRIPT = """#!/bin/sh
# Plays an interpreter: the versions are those of the environment it was started in, as it was started.
FAKE_SITE="$(cd "$(dirname "$0")/../lib/python3.11/site-packages" && pwd)" exec "{python}" "{worker}" "$@"
"""


def make_environment(folder, torch, transformers):
    site = folder / "lib/python3.11/site-packages"
    for entry in (f"torch-{torch}.dist-info", "torch", f"transformers-{transformers}.dist-info", "transformers"):
        (site / entry).mkdir(parents=True)
    (folder / "bin").mkdir()
    python = folder / "bin/python"
    python.write_text(SCRIPT.format(python=sys.executable, worker=ROOT / "tests/e2e/fake_worker.py"))
    python.chmod(0o755)
    return python
