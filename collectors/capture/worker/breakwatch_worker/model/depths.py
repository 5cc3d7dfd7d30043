"""Which config keys set the length of which layer groups (layer_groups.py).

Only a built model shows this. So models are built with one depth key uncut at a time: if a layer group grows, the key
is one of its keys. These models are built and never called, and their weights stay unwritten. """

import torch

from ..dynamo.layer_groups import unnumbered
from . import build, config_fixes, sizes


def keys_of(cls, config, groups: list):
    """The depth keys (sizes.cuts) that must stay uncut so that these layer groups are at full depth. Empty if none of
    the groups is cut, None if that cannot be determined."""
    try:
        return _keys_of(cls, config, set(groups))
    except Exception:  # the run meets the same error when it builds the model, and reports it
        return None


def _keys_of(cls, config, groups: set):
    def lengths(uncut) -> dict:
        size = next(sizes.plans(config, "full", uncut))
        smaller = size.make(type(config))
        config_fixes.fill_tokens(smaller)
        return _lengths(build.construct(cls, smaller, filled=False), groups)

    cuts = set(sizes.cuts(config))
    short, full = lengths(frozenset()), lengths(cuts)
    if short == full or len(cuts) < 2:
        return frozenset() if short == full else None
    found = frozenset(cut for cut in cuts if lengths({cut}) != short)
    return found if found != cuts and lengths(found) == full else None


def _lengths(model: torch.nn.Module, groups: set) -> dict:
    """The number of layers of each group, by its path."""
    found = {}
    for path, _ in model.named_modules(remove_duplicate=False):
        if unnumbered(path) in groups:
            group = path.rstrip("0123456789")
            found[group] = found.get(group, 0) + 1
    return found
