"""Which stacks must be at full depth, of a model in which only some are met layer by layer (layer_groups.py).

Nothing but the model tells which key of its config says how long a stack is: models are made with one cut left out at a
time, and those cuts whose stacks grew are not made. Made only, never called: their weights stay unwritten.
"""

import torch

from ..dynamo.layer_groups import unnumbered
from . import build, config_fixes, sizes


def needed(cls, config, stacks: list):
    """The cuts (sizes.cuts) that must not be made for these stacks to be at full depth; empty where none of them was
    cut, None where that cannot be told."""
    try:
        return _needed(cls, config, set(stacks))
    except Exception:  # whatever stands in the way is met again, and told, where the model is made to be captured
        return None


def _needed(cls, config, stacks: set):
    def lengths(whole) -> dict:
        size = next(sizes.plans(config, "full", whole))
        smaller = size.make(type(config))
        config_fixes.fill_gaps(smaller)
        return _lengths(build.construct(cls, smaller, filled=False), stacks)

    cuts = set(sizes.cuts(config))
    short, full = lengths(frozenset()), lengths(cuts)
    if short == full or len(cuts) < 2:
        return frozenset() if short == full else None
    found = frozenset(cut for cut in cuts if lengths({cut}) != short)
    return found if found != cuts and lengths(found) == full else None


def _lengths(model: torch.nn.Module, stacks: set) -> dict:
    """How many layers each of the stacks has, by its path."""
    found = {}
    for path, _ in model.named_modules(remove_duplicate=False):
        if unnumbered(path) in stacks:
            stack = path.rstrip("0123456789")
            found[stack] = found.get(stack, 0) + 1
    return found
