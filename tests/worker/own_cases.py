"""Shared by the tests of user modules: captures of factories, and what plain torch finds in them."""

import functools
import pathlib

from worker_support import Answers

HERE = pathlib.Path(__file__).parent
NUMBERS = ("breaks", "graphs", "dynamo_counter_breaks")


@functools.cache
def _plain_torch() -> Answers:
    return Answers("plain_torch.py", "own_zoo")


@functools.cache
def plain(name: str, mode: str) -> dict:
    """What plain torch finds, counted when first asked for."""
    return _plain_torch().to({"name": name, "mode": mode})


def capture(zygote, name: str, mode: str = "eval", **more) -> dict:
    """For a factory of own_zoo.py, or `module:factory`."""
    factory = name if ":" in name else f"own_zoo:{name}"
    return zygote.capture(source={"kind": "python", "factory": factory, "path": [str(HERE)], **more}, mode=mode)
