"""Shared by the tests of user modules: captures of factories, and what plain torch finds in them."""

import functools
import json
import pathlib
import subprocess
import sys

from worker_support import environment

HERE = pathlib.Path(__file__).parent
NUMBERS = ("breaks", "graphs", "dynamo_counter_breaks")


@functools.cache
def _plain_torch() -> subprocess.Popen:
    return subprocess.Popen([sys.executable, str(HERE / "plain_torch.py"), "own_zoo"], stdin=subprocess.PIPE, text=True,
                            stdout=subprocess.PIPE, env=environment(PYTHONPATH=str(HERE)))


@functools.cache
def plain(name: str, mode: str) -> dict:
    """What plain torch finds, counted on first use. It ends with this process, because its standard input is a pipe
    from it."""
    process = _plain_torch()
    process.stdin.write(json.dumps({"name": name, "mode": mode}) + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def capture(zygote, name: str, mode: str = "eval", **more) -> dict:
    """For a factory of own_zoo.py, or `module:factory`."""
    factory = name if ":" in name else f"own_zoo:{name}"
    return zygote.capture(source={"kind": "python", "factory": factory, "path": [str(HERE)], **more}, mode=mode)
