"""Paths and names for all tests of this folder."""

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
JOB, POOL = "breakwatch", "eu"  # of the group to which the exporter pushes
RULES = sorted((ROOT / "dashboards" / "rules").glob("*.yml"))


def program(name):
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found
