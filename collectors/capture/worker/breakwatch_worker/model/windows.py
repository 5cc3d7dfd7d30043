"""The windows, blocks and chunks of a text: reduced in the config, and exceeded by the input's length
(windows.yaml)."""

import functools
import math

from ..inputs.make_values import CannotMake, NodeSizes, stated, sub_configs
from ..tables import read_beside
from .size_rules import is_int


@functools.cache
def load_windows() -> dict:
    return read_beside(__file__, "windows.yaml")


def cut(path: str, node: dict) -> list:
    """Reduces the windows of one node of a config. Returns notes."""
    notes = []
    for entry in _entries(node):
        key, before = entry["key"], node[entry["key"]]
        node[key] = _cut(before, entry, _target(node, entry))
        if node[key] != before:
            notes.append(f"{path}{key} {_text_of(before)}->{_text_of(node[key])}")
    return notes


class Length:
    """The number of `tokens` of a text that exceeds every window of a config, at least `usual`. `trains`: in training,
    some models need a text of one exact length."""

    def __init__(self, config, usual: int, trains: bool = False):
        self._wanted = [found for node in sub_configs(config) for entry in _entries(vars(node))
                        if (trains or "exactly" not in entry) and (found := _wanted(node, entry)) is not None]
        exact = [past for _, past, _, exactly in self._wanted if exactly]
        unit = math.lcm(*(unit for _, past, unit, _ in self._wanted if self._fits(past, config)))
        needed = max([usual, *(past for _, past, *_ in self._wanted if self._fits(past, config))])
        self.tokens = next((past for past in exact if past >= needed and past % unit == 0 and self._fits(past, config)),
                           -(-needed // unit) * unit)
        if not self._fits(self.tokens, config):
            self.tokens = usual

    def missed(self, tokens: int) -> list:
        """The keys of the windows that a text with so many tokens does not exceed."""
        return list(dict.fromkeys(key for key, past, _, exactly in self._wanted if tokens < past and not exactly))

    @staticmethod
    def _fits(tokens: int, config) -> bool:
        places = [value for node in sub_configs(config) for key in load_windows()["positions"]
                  if is_int(value := vars(node).get(key)) and value > 1]
        return tokens <= min([load_windows()["longest"], *places])


def _entries(node: dict):
    """The entries of the table that apply to a node."""
    for entry in load_windows()["windows"]:
        if entry["key"] in node and _largest(node[entry["key"]], entry) and (
                "beside" not in entry or any(other in node for other in entry["beside"])):
            yield entry


def _items(value) -> list:
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _lengths(value) -> list:
    """The window lengths in a value; empty for null and for values that mean no window."""
    return [item for item in _items(value) if is_int(item) and item > 0]


def _largest(value, entry: dict) -> int:
    items = _lengths(value)
    return 0 if not items else math.prod(items) if "product" in entry else max(items)


def _target(node: dict, entry: dict) -> int | None:
    """The value that a larger one is reduced to; None for an entry with a product."""
    unit = node.get(entry.get("multiple_of"))
    if "product" in entry or not (is_int(unit) and unit > 0):
        return entry.get("to")
    return -(-entry["to"] // unit) * unit


def _cut(value, entry: dict, target: int | None):
    if "product" in entry:
        return _factors(value, entry["product"])
    if isinstance(value, dict):
        return {name: _cut(item, entry, target) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(item, entry, target) for item in value]
    return min(value, target) if is_int(value) and value > 0 else value


def _factors(value, product: int):
    """The same number of factors, powers of two, with the smaller product."""
    if not isinstance(value, (list, tuple)) or not all(map(is_int, value)) or math.prod(value) <= product:
        return value
    side = 2 ** ((product.bit_length() - 1) // len(value))
    return [side] * (len(value) - 1) + [product // side ** (len(value) - 1)]


def _wanted(node, entry: dict):
    """(key, length of the shortest text that exceeds the window, unit of the length, whether it must be exact)."""
    value = _largest(stated(node, entry["key"]), entry)
    try:
        past = value if "product" in entry else _NodeSizes(node, value)(entry.get("past", "value+1"))
    except CannotMake:
        return None
    # Layers may have windows of different lengths: the text has a whole number of each.
    unit = math.lcm(*_lengths(stated(node, entry["key"]))) if entry.get("whole") else 1
    return entry["key"], past, unit, entry.get("exactly", False)


class _NodeSizes(NodeSizes):
    """The names of one node, and `value`."""

    def __init__(self, node, value: int):
        super().__init__(node)
        self._value = value

    def _named(self, name: str):
        return self._value if name == "value" else super()._named(name)


def _text_of(value) -> str:
    """The text of a value; a list of equal items is written as one of them."""
    items = _items(value)
    return str(items[0]) if len(items) > 1 and len(set(map(str, items))) == 1 else str(value)
