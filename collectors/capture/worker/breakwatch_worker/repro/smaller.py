"""Smaller variants of a draft: of its config, its arguments and their sizes. Which of them still break is found by
captures."""

import copy
import dataclasses
import functools

import torch

from .. import restore
from ..model import narrow, size_rules
from ..model.size_rules import is_int, nodes
from .draft import Draft

_FLOOR, _AIM = 16, 32  # as width_floor and width_aim in sizes.yaml
_MOST_LAYERS = 8  # keys for numbers of layers that are tried one by one


def narrower(tree: dict):
    """A config tree with the widths that a tiny model has; None if there is nothing to reduce."""
    rules = {**size_rules.load_rules(), "width_floor": _FLOOR, "width_aim": _AIM}
    with restore.replaced(narrow, load_rules=lambda: rules):
        return next((found for found, notes in narrow.narrowings(tree, False) if notes and found != tree), None)


def layer_keys(tree: dict, one_by_one: bool) -> list:
    """The keys for numbers of layers above one, together or each alone."""
    keys = size_rules.load_rules()["layer_counts"]
    found = [(path, key) for path, node in nodes(tree) for key in node
             if key in keys and is_int(node[key]) and node[key] > 1]
    if one_by_one:
        return [[each] for each in found[:_MOST_LAYERS]] if len(found) > 1 else []
    return [found] if found else []


def with_one_layer(tree: dict, keys: list) -> dict:
    smaller = copy.deepcopy(tree)
    by_path = dict(nodes(smaller))
    for path, key in keys:
        node = by_path[path]
        total, node[key] = node[key], 1
        for name, value in node.items():  # lists with one entry for each layer
            if isinstance(value, list) and len(value) == total and name not in ("stage_names",):
                node[name] = value[:1]
    return smaller


def without_keys(tree: dict) -> list:
    """The paths of the values that a config tree can be made without."""
    return [(path, key) for path, node in nodes(tree) for key in node]


def removed(tree: dict, paths: list) -> dict:
    smaller = copy.deepcopy(tree)
    by_path = dict(nodes(smaller))
    for path, key in paths:
        by_path[path].pop(key, None)
    return smaller


def optional_arguments(draft: Draft) -> list:
    """Names of arguments, the last ones first: the first is the input itself."""
    return list(draft.named)[:0:-1]


def without_argument(draft: Draft, name: str) -> Draft:
    return dataclasses.replace(draft, named={key: value for key, value in draft.named.items() if key != name})


def sizes(draft: Draft) -> list:
    """The different sizes of dimensions of the arguments, the first dimension's first, then the largest first."""
    tensors = _tensors((draft.positional, draft.named))
    first = [tensor.shape[0] for tensor in tensors if tensor.dim()]
    others = sorted({size for tensor in tensors for size in tensor.shape}, reverse=True)
    return [size for size in dict.fromkeys([*first[:1], *others]) if size > 1]


def with_size(draft: Draft, size: int, new: int, first: int = 0) -> Draft:
    """Every dimension of this size keeps `new` entries only, from the entry `first` on."""
    cut = functools.partial(_cut, size=size, new=new, first=first)
    return dataclasses.replace(draft, positional=_mapped(draft.positional, cut), named=_mapped(draft.named, cut))


def _cut(tensor: torch.Tensor, size: int, new: int, first: int) -> torch.Tensor:
    for dimension, length in enumerate(tensor.shape):
        if length == size:
            tensor = tensor.narrow(dimension, first, new)
    return tensor.contiguous()


def _mapped(value, change):
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(_mapped(item, change) for item in value)
    return {name: _mapped(item, change) for name, item in value.items()} if type(value) is dict else value


def _tensors(value) -> list:
    found = []
    _mapped(value, lambda tensor: found.append(tensor) or tensor)
    return found
