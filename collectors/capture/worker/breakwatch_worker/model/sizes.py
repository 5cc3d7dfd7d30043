"""The size policy: reduces the depth of a config without changing the kinds of its layers. Widths are in narrow.py."""

import copy
import dataclasses
import math
import re

from . import architecture, narrow
from .size_rules import is_int, load_rules, nodes

_STAGE = re.compile(r"^stage(\d+)$")


@dataclasses.dataclass
class Size:
    """One size to build the model at. `make` returns a new config object each time."""

    depth: str  # "reduced", "full" or "original"
    note: str
    values: dict = None  # the changed config; None: the original object
    original: object = None

    def make(self, config_class):
        if self.values is None:
            return copy.deepcopy(self.original)
        try:
            return architecture.from_dict(config_class, copy.deepcopy(self.values))
        except ValueError as error:
            rejected = set(re.findall(r"'(\w+)': ", str(error))) if "unknown kwargs" in str(error) else set()
            if not rejected:
                raise
            return architecture.from_dict(config_class, _without(copy.deepcopy(self.values), rejected))


def _without(tree: dict, rejected: set) -> dict:
    """The tree without the rejected keys in its parts: every config has them, and some parts do not accept them."""
    for path, node in nodes(tree):
        for key in rejected & node.keys() if path else ():
            del node[key]
    return tree


def cuts(config) -> list:
    """The depth keys that a reduced run cuts, by their paths in the config."""
    return [note.split(" ")[0] for note in _shortened(config.to_dict())[1]]


def plans(config, depth: str, uncut=None, cut_windows: bool = True):
    """The sizes from the smallest to the original; the first that builds and runs is captured. With `uncut`, full depth
    means that only these depth keys are not cut. `cut_windows` is false if the caller sets the length of the input."""
    base = config.to_dict()
    if depth in ("wide", "original"):  # to test the size policy
        short, notes = _shortened(base) if depth == "wide" else (None, [])
        yield Size("reduced", ", ".join(notes), short) if notes else Size("original", "", None, config)
        return
    narrowed = [(tree, notes) for tree, notes in narrow.narrowings(base, cut_windows) if notes]
    if depth == "full":
        for small, width_notes in [*narrowed, (base, [])]:
            short, depth_notes = _shortened(small, uncut) if uncut is not None else (small, [])
            notes = depth_notes + width_notes
            yield Size("full", ", ".join(notes), short if notes else None, config)
        return
    short, depth_notes = _shortened(base)
    if depth_notes:
        for small, width_notes in narrowed:
            yield Size("reduced", ", ".join(depth_notes + width_notes), _shortened(small)[0])
        yield Size("reduced", ", ".join(depth_notes), short)
    for small, width_notes in narrowed:
        yield Size("original", ", ".join(width_notes), small)
    yield Size("original", "", None, config)


def _shortened(base: dict, uncut=()) -> tuple:
    tree = copy.deepcopy(base)
    notes = []
    moved = _move_into_parts(tree)
    for path, node in nodes(tree):
        notes += _shorten_node(path, node, uncut)
    for owner, key, part in moved:
        owner[key] = part.pop(key)
    return tree, notes


def _move_into_parts(tree: dict) -> list:
    """Moves keys that name layers of a part from the parent into this part, so that they are cut with it."""
    rules = load_rules()
    moved = []
    for name, keys in rules["taken_of"].items():
        part = tree.get(name)
        if not isinstance(part, dict) or not rules["layer_counts"] & part.keys():
            continue
        for _, node in list(nodes(tree)):
            for key in node.keys() & set(keys):
                values = node[key] if isinstance(node[key], list) else [node[key]]
                if node is not part and key not in part and any(is_int(item) and abs(item) > 2 for item in values):
                    part[key] = node[key]
                    moved.append((node, key, part))
    return moved


def _shorten_node(path: str, node: dict, uncut) -> list:
    rules = load_rules()
    notes = []
    stages = {len(node[key]) for key in rules["stage_counts"] & node.keys() if isinstance(node[key], list)}
    counts = {key: node[key] for key in node if key in rules["layer_counts"] and is_int(node[key]) and node[key] > 2
              and node[key] not in stages}  # a number of stages is not a depth
    counted = {node[key] for key in rules["layer_counts"] & node.keys() if is_int(node[key])}
    listed = {key: len(node[key]) for key in node if key in rules["layer_lists"] and isinstance(node[key], list)
              and len(node[key]) > 2 and len(node[key]) not in counted}
    changed = {}
    for total in sorted({*counts.values(), *listed.values()}):
        keys = [key for key, value in counts.items() if value == total]
        kept = _kept_layers(node, total)
        key_path = f"{path}{(keys or [key for key, value in listed.items() if value == total])[0]}"
        if len(kept) >= total or key_path in uncut:
            continue
        changed.update(_remapped(node, total, kept))
        changed.update({key: len(kept) for key in keys})
        notes.append(f"{key_path} {total}->{len(kept)}")
    for key in node:
        value = node[key]
        if key not in rules["stage_counts"] or not isinstance(value, list) or not all(map(is_int, value)):
            continue
        if max(value, default=0) > 2 and f"{path}{key}" not in uncut:
            changed[key] = [min(count, 2) for count in value]
            notes.append(f"{path}{key} {value}->{changed[key]}")
    for key in rules["depth_factors"] & node.keys():
        if isinstance(node[key], float) and node[key] > 1 and f"{path}{key}" not in uncut:
            changed[key] = 1.0
            notes.append(f"{path}{key} {node[key]:g}->1")
    notes += _shorten_named(path, node, uncut)
    node.update(changed)
    names = node.get("stage_names")
    if counts and changed and isinstance(names, list) and len(names) - 1 in counts.values():
        deepest = max(changed.get(key, 0) for key in counts)
        node["stage_names"] = ["stem"] + [f"stage{index + 1}" for index in range(deepest)]
    return notes


def _shorten_named(path: str, node: dict, uncut) -> list:
    """Cuts a network outside the library, of which the config has only the name and the arguments."""
    named = load_rules()["named_depths"]
    name, arguments = node.get("architecture"), node.get(named["arguments"]) or {}
    key_path = f"{path}{named['arguments']}.{named['key']}"
    if not isinstance(name, str) or not re.match(named["names"], name) or arguments.get("features_only") or (
            key_path in uncut):
        return []
    node[named["arguments"]] = {**arguments, named["key"]: named["kept"]}
    return [f"{key_path} ->{named['kept']}"]


def _lists_of(node: dict, total: int) -> dict:
    """Lists with one entry for each layer. A list of the numbers of all layers is not one: it names layers."""
    rules = load_rules()
    numbers = rules["kind_indices"] | rules["taken_indices"] | rules["taken_states"] | {"stage_names"}
    return {key: value for key, value in node.items()
            if isinstance(value, list) and len(value) == total and key not in numbers
            and value != list(range(total)) and not any(isinstance(item, dict) for item in value)}


def _kept_layers(node: dict, total: int) -> list:
    rules = load_rules()
    lists = _lists_of(node, total)
    periods = [node[key] for key in node if key in rules["periods"] and is_int(node[key]) and 1 < node[key] <= total]
    periods += [len(node[key]) for key in rules["patterns"] & node.keys() if isinstance(node[key], list)
                and 1 < len(node[key]) < total]
    indices = {key: set(node[key]) for key in node
               if key in rules["kind_indices"] and key not in lists and _are_indices(node[key], total)}

    def kind(layer: int) -> str:
        members = [layer in members for members in indices.values()]
        before = [layer < node[key] for key in node if key in rules["prefix_counts"] and is_int(node[key])]
        after = [layer >= total - node[key] for key in node if key in rules["suffix_counts"] and is_int(node[key])]
        return repr(([value[layer] for value in lists.values()], members, before, after, _own(node).get(layer)))

    if periods:  # a pattern is counted from the start, so the first layers must stay
        needed = min(total, max(2, math.lcm(*periods) + 1 if math.lcm(*periods) < 16 else max(periods) + 1))
        seen = {kind(layer) for layer in range(needed)}
        while needed < total and any(kind(layer) not in seen for layer in range(needed, total)):
            seen.add(kind(needed))
            needed += 1
        if node.get("model_type") in rules["kinds_twice"]:
            while needed < total and any(
                    sum(kind(layer) == one for layer in range(needed)) < 2 for one in {kind(0), *seen}):
                needed += 1
        return list(range(needed))
    kept = {0, total - 1}
    seen = {kind(0), kind(total - 1)}
    for layer in range(total):
        if kind(layer) not in seen:
            seen.add(kind(layer))
            kept.add(layer)
    for key, value in node.items():
        kept |= _taken(key, value, total)
    return sorted(kept)


def _own(node: dict) -> dict:
    """Settings of single layers, by layer number."""
    own = node.get("per_layer_config")
    return {int(layer): value for layer, value in own.items()} if isinstance(own, dict) else {}


def _are_indices(value, total: int) -> bool:
    return isinstance(value, list) and bool(value) and all(is_int(item) and 0 <= item < total for item in value)


def _taken(key: str, value, total: int) -> set:
    """The layers whose output the config uses, by number."""
    rules = load_rules()
    values = value if isinstance(value, list) else [value]
    if key in rules["taken_indices"] and all(map(is_int, values)):
        return {item for item in values if 0 <= item < total}
    if key in rules["taken_states"] and all(map(is_int, values)):
        return {item - 1 for item in values if 0 < item <= total} | {total + item for item in values
                                                                     if -total <= item < 0 and item != -1}
    if key in rules["taken_stages"] and value and all(isinstance(item, str) for item in values):
        found = [_STAGE.match(item) for item in values]
        return {int(match.group(1)) - 1 for match in found if match and int(match.group(1)) <= total}
    return set()


def _remapped(node: dict, total: int, kept: list) -> dict:
    """New values for the keys that name layers, for the kept layers."""
    rules = load_rules()
    place = {layer: index for index, layer in enumerate(kept)}
    changed = {key: [value[layer] for layer in kept] for key, value in _lists_of(node, total).items()}

    if _own(node):
        changed["per_layer_config"] = {place[layer]: value for layer, value in _own(node).items() if layer in place}

    def state(item):  # counted from the embedding, or from the end
        if item <= 0:
            return item if item > -2 else -(len(kept) - place.get(total + item, 0))
        return place[item - 1] + 1 if item - 1 in place else item

    for key, value in node.items():
        if key in changed or value is None:
            continue
        if key in rules["kind_indices"] | rules["taken_indices"] and _are_indices(value, total):
            changed[key] = [place[item] for item in value if item in place]
        elif isinstance(value, list) and total > 1 and value == list(range(total)):
            changed[key] = list(range(len(kept)))
        elif key in rules["taken_states"] and is_int(value) and value <= total:
            changed[key] = state(value)
        elif key in rules["taken_states"] and isinstance(value, list) and all(map(is_int, value)):
            changed[key] = [state(item) for item in value]
        elif key in rules["taken_stages"] and isinstance(value, list):
            changed[key] = [_stage(item, place) for item in value]
        elif key in rules["prefix_counts"] and is_int(value):
            changed[key] = sum(layer < value for layer in kept)
        elif key in rules["suffix_counts"] and is_int(value):
            changed[key] = sum(layer >= total - value for layer in kept)
        elif key in rules["last_indices"] and is_int(value):
            changed[key] = max([place[layer] for layer in kept if layer <= value], default=0)
    return changed


def _stage(name, place: dict):
    match = _STAGE.match(name) if isinstance(name, str) else None
    return f"stage{place[int(match.group(1)) - 1] + 1}" if match and int(match.group(1)) - 1 in place else name
