"""Makes the helpers of this folder and of tests/worker importable."""

import pathlib
import sys

_HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_HERE), str(_HERE.parent / "worker")]
