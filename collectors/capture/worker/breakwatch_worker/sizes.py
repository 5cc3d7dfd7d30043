"""The size policy: a config made smaller without changing what its graph looks like. The keys are in sizes.yaml."""

import copy
import dataclasses
import functools
import math
import os
import re

import yaml

_STAGE = re.compile(r"^stage(\d+)$")
_FACTORS = (32, 16, 8, 6, 5, 4, 3, 2)


@functools.cache
def load_rules() -> dict:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "sizes.yaml"), encoding="utf-8") as file:
        rules = yaml.safe_load(file)
    return {key: set(value) if isinstance(value, list) and key != "token_suffixes" else value
            for key, value in rules.items()}


@dataclasses.dataclass
class Size:
    """One way to build the model. `make` gives a config object of its own each time."""

    depth: str  # "reduced", "full" or "original"
    note: str
    values: dict = None  # the changed config; None: the original object
    original: object = None

    def make(self, config_class):
        if self.values is None:
            return copy.deepcopy(self.original)
        return config_class.from_dict(copy.deepcopy(self.values))


def plans(config, depth: str):
    """From the smallest to the original; the first that builds and runs is captured."""
    base = config.to_dict()
    if depth in ("wide", "original"):  # to prove the rest by
        short, notes = _shortened(base) if depth == "wide" else (None, [])
        yield Size("reduced", ", ".join(notes), short) if notes else Size("original", "", None, config)
        return
    narrowed = [(tree, notes) for tree, notes in _all_narrowed(base) if notes]
    if depth == "full":
        for narrow, width_notes in narrowed:
            yield Size("full", ", ".join(width_notes), narrow)
        yield Size("full", "", None, config)
        return
    short, depth_notes = _shortened(base)
    if depth_notes:
        for narrow, width_notes in narrowed:
            yield Size("reduced", ", ".join(depth_notes + width_notes), _shortened(narrow)[0])
        yield Size("reduced", ", ".join(depth_notes), short)
    for narrow, width_notes in narrowed:
        yield Size("original", ", ".join(width_notes), narrow)
    yield Size("original", "", None, config)


def _nodes(tree: dict, path: str = ""):
    yield path, tree
    for key, value in tree.items():
        if isinstance(value, dict) and key not in ("id2label", "label2id", "rope_parameters", "rope_scaling"):
            yield from _nodes(value, f"{path}{key}.")
        elif isinstance(value, list):  # a few configs hold a list of configs
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from _nodes(item, f"{path}{key}.{index}.")


def _is_int(value) -> bool:
    return type(value) is int


# Depth


def _shortened(base: dict) -> tuple:
    tree = copy.deepcopy(base)
    notes = []
    lent = _lend_to_vision(tree)
    for path, node in _nodes(tree):
        notes += _shorten_node(path, node)
    for owner, key in lent:
        owner[key] = tree["vision_config"].pop(key)
    return tree, notes


def _lend_to_vision(tree: dict) -> list:
    """Keys beside the vision part that name its layers are put into it for a while, and are cut along with it."""
    rules = load_rules()
    vision = tree.get("vision_config")
    if not isinstance(vision, dict) or not rules["layer_counts"] & vision.keys():
        return []
    lent = []
    for _, node in list(_nodes(tree)):
        for key in rules["taken_of_vision"] & node.keys():
            values = node[key] if isinstance(node[key], list) else [node[key]]
            if node is not vision and key not in vision and any(_is_int(item) and abs(item) > 2 for item in values):
                vision[key] = node[key]
                lent.append((node, key))
    return lent


def _shorten_node(path: str, node: dict) -> list:
    rules = load_rules()
    notes = []
    stages = {len(node[key]) for key in rules["stage_counts"] & node.keys() if isinstance(node[key], list)}
    counts = {key: node[key] for key in node if key in rules["layer_counts"] and _is_int(node[key]) and node[key] > 2
              and node[key] not in stages}  # what counts stages is no depth
    changed = {}
    for total in sorted(set(counts.values())):
        keys = [key for key, value in counts.items() if value == total]
        kept = _kept_layers(node, total)
        if len(kept) >= total:
            continue
        changed.update(_remapped(node, total, kept))
        changed.update({key: len(kept) for key in keys})
        notes.append(f"{path}{keys[0]} {total}->{len(kept)}")
    for key in node:
        value = node[key]
        if key not in rules["stage_counts"] or not isinstance(value, list) or not all(map(_is_int, value)):
            continue
        if max(value, default=0) > 2:
            changed[key] = [min(count, 2) for count in value]
            notes.append(f"{path}{key} {value}->{changed[key]}")
    for key in rules["depth_factors"] & node.keys():
        if isinstance(node[key], float) and node[key] > 1:
            changed[key] = 1.0
            notes.append(f"{path}{key} {node[key]:g}->1")
    node.update(changed)
    names = node.get("stage_names")
    if counts and changed and isinstance(names, list) and len(names) - 1 in counts.values():
        deepest = max(changed.get(key, 0) for key in counts)
        node["stage_names"] = ["stem"] + [f"stage{index + 1}" for index in range(deepest)]
    return notes


def _lists_of(node: dict, total: int) -> dict:
    """Lists with one entry per layer. A list of all layers' numbers is none: it names layers."""
    rules = load_rules()
    numbers = rules["kind_indices"] | rules["taken_indices"] | rules["taken_states"] | {"stage_names"}
    return {key: value for key, value in node.items()
            if isinstance(value, list) and len(value) == total and key not in numbers
            and value != list(range(total)) and not any(isinstance(item, dict) for item in value)}


def _kept_layers(node: dict, total: int) -> list:
    rules = load_rules()
    lists = _lists_of(node, total)
    periods = [node[key] for key in node if key in rules["periods"] and _is_int(node[key]) and 1 < node[key] <= total]
    periods += [len(node[key]) for key in rules["patterns"] & node.keys() if isinstance(node[key], list)
                and 1 < len(node[key]) < total]
    indices = {key: set(node[key]) for key in node
               if key in rules["kind_indices"] and key not in lists and _are_indices(node[key], total)}

    def kind(layer: int) -> str:
        members = [layer in members for members in indices.values()]
        before = [layer < node[key] for key in node if key in rules["prefix_counts"] and _is_int(node[key])]
        after = [layer >= total - node[key] for key in node if key in rules["suffix_counts"] and _is_int(node[key])]
        return repr(([value[layer] for value in lists.values()], members, before, after, _own(node).get(layer)))

    if periods:  # what repeats is counted from the start, so the start is what must stay
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
    """Settings of single layers, by layer."""
    own = node.get("per_layer_config")
    return {int(layer): value for layer, value in own.items()} if isinstance(own, dict) else {}


def _are_indices(value, total: int) -> bool:
    return isinstance(value, list) and bool(value) and all(_is_int(item) and 0 <= item < total for item in value)


def _taken(key: str, value, total: int) -> set:
    """Layers whose output the config asks for by number."""
    rules = load_rules()
    values = value if isinstance(value, list) else [value]
    if key in rules["taken_indices"] and all(map(_is_int, values)):
        return {item for item in values if 0 <= item < total}
    if key in rules["taken_states"] and all(map(_is_int, values)):
        return {item - 1 for item in values if 0 < item <= total} | {total + item for item in values
                                                                     if -total <= item < 0 and item != -1}
    if key in rules["taken_stages"] and value and all(isinstance(item, str) for item in values):
        found = [_STAGE.match(item) for item in values]
        return {int(match.group(1)) - 1 for match in found if match and int(match.group(1)) <= total}
    return set()


def _remapped(node: dict, total: int, kept: list) -> dict:
    """The node's keys that speak of layers, said again for the kept ones."""
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
        elif key in rules["taken_states"] and _is_int(value) and value <= total:
            changed[key] = state(value)
        elif key in rules["taken_states"] and isinstance(value, list) and all(map(_is_int, value)):
            changed[key] = [state(item) for item in value]
        elif key in rules["taken_stages"] and isinstance(value, list):
            changed[key] = [_stage(item, place) for item in value]
        elif key in rules["prefix_counts"] and _is_int(value):
            changed[key] = sum(layer < value for layer in kept)
        elif key in rules["suffix_counts"] and _is_int(value):
            changed[key] = sum(layer >= total - value for layer in kept)
        elif key in rules["last_indices"] and _is_int(value):
            changed[key] = max([place[layer] for layer in kept if layer <= value], default=0)
    return changed


def _stage(name, place: dict):
    match = _STAGE.match(name) if isinstance(name, str) else None
    return f"stage{place[int(match.group(1)) - 1] + 1}" if match and int(match.group(1)) - 1 in place else name


# Width


def _all_narrowed(base: dict):
    """(tree, notes) of each way to make the rest smaller: all widths, or where they have no common divisor the text's
    alone, then only what is no width: experts, pictures, the vocabulary."""
    if (factor := _factor(base)) > 1:
        yield _narrowed(base, lambda tree: _divide_all(tree, factor), f"widths /{factor}")
        return
    text = base.get("text_config")
    if isinstance(text, dict) and (factor := _factor(text)) > 1:
        yield _narrowed(base, lambda tree: _divide_text(tree, factor), f"widths of the text /{factor}")
    yield _narrowed(base, lambda tree: None, "")


def _narrowed(base: dict, divide, note: str) -> tuple:
    tree = copy.deepcopy(base)
    divide(tree)
    notes = [note] if note else []
    experts = 0
    for _, node in _nodes(tree):
        experts = max(experts, _fewer_experts(node))
    if experts:
        notes.append(f"experts {experts}->{load_rules()['experts_kept']}")
    notes += [note for path, node in _nodes(tree) for note in _smaller_picture(path, node)]
    if (cut := _cut_vocabulary(tree)):
        notes.append(f"vocabulary {cut}->{load_rules()['vocabulary_kept']}")
    return tree, notes


def _divide_all(tree: dict, factor: int) -> None:
    for _, node in _free_nodes(tree):
        _divide(node, factor)


def _divide_text(tree: dict, factor: int) -> None:
    """The text's widths, and those by which other parts say how wide the text is."""
    rules = load_rules()
    width = tree["text_config"].get("hidden_size")
    _divide_all(tree["text_config"], factor)
    for _, node in _nodes(tree):
        for key in rules["text_widths"] & node.keys():
            if node[key] == width:
                node[key] //= factor


def _free_nodes(tree: dict):
    """Nodes whose widths the config decides."""
    return [(path, node) for path, node in _nodes(tree) if node.get("model_type") not in load_rules()["node_kept"]]


def _values(tree: dict, keys: set) -> list:
    found = []
    for _, node in _free_nodes(tree):
        for key in keys & node.keys():
            value = node[key]
            found += [value] if _is_int(value) else [item for item in value if _is_int(item)] if isinstance(
                value, list) else []
    return [value for value in found if value > 0]


def _factor(tree: dict) -> int:
    """The largest divisor that all widths and heads of the tree take."""
    rules = load_rules()
    if any(node.get("model_type") in rules["width_kept"] for _, node in _nodes(tree)):
        return 1
    bound = [node for _, node in _free_nodes(tree) if rules["inner_bound"] & node.keys()]
    widths = _values(tree, rules["widths"] - rules["inner_widths"])
    widths += [value for node in bound for value in _values({**node}, rules["inner_widths"])]
    if not widths or max(_values(tree, {"hidden_size", "d_model", "n_embd", "dim", "embed_dim", "hidden_dim"}),
                         default=0) <= rules["width_floor"]:
        return 1
    for factor in _FACTORS:
        if max(widths) // factor < rules["width_aim"]:
            continue
        if all(_divides(width, factor) for width in widths) and _heads_take(tree, factor):
            return factor
    return 1


def _divides(width: int, factor: int) -> bool:
    """Rows of 16 bytes stay rows of 16 bytes: grouped matrix products want them so."""
    return width % factor == 0 and width // factor >= 4 and (width % 4 > 0 or width // factor % 4 == 0)


def _heads_take(tree: dict, factor: int) -> bool:
    rules = load_rules()
    for _, node in _free_nodes(tree):
        heads = [node[key] for key in rules["heads"] & node.keys() if _is_int(node[key]) and node[key] > 0]
        grouped = [node[key] for key in rules["key_value_heads"] & node.keys() if _is_int(node[key]) and node[key] > 0]
        if any(head % factor for head in heads if head > 1):
            return False
        for count in grouped:
            smaller = _fewer(count, factor)
            # Grouped attention stays grouped, and one head alone is another path than several.
            regrouped = any((head > count) != (max(head // factor, 1) > smaller) for head in heads)
            uneven = any(head % count == 0 and head // factor % smaller for head in heads)
            if (regrouped or uneven) and any(head != count for head in heads):
                return False
    return True


def _fewer(count: int, factor: int) -> int:
    return max(min(count, 2), count // factor)


def _divide(node: dict, factor: int) -> None:
    rules = load_rules()
    for key, value in list(node.items()):
        if key in rules["widths"]:
            inner = key in rules["inner_widths"] and not rules["inner_bound"] & node.keys()
            if _is_int(value) and value > 0:
                node[key] = _inner(value, factor) if inner else value // factor
            elif isinstance(value, list) and all(map(_is_int, value)):
                node[key] = [_inner(item, factor) if inner else item // factor for item in value]
        elif key in rules["heads"] and _is_int(value) and value > 1:
            node[key] = value // factor
        elif key in rules["key_value_heads"] and _is_int(value) and value > 0:
            node[key] = _fewer(value, factor)


def _inner(width: int, factor: int) -> int:
    """A width that meets no other: any number will do, in rows of 16 bytes and in halves."""
    return width // factor if _divides(width, factor) else max(width // factor // 8 * 8, 8)


def _fewer_experts(node: dict) -> int:
    rules = load_rules()
    kept, before = rules["experts_kept"], 0
    for key in rules["experts"] & node.keys():
        if _is_int(node[key]) and node[key] > kept:
            before, node[key] = max(before, node[key]), kept
    if not before:
        return 0
    groups = 1
    for key in rules["expert_groups"] & node.keys():
        if _is_int(node[key]) and node[key] > 1:
            node[key] = groups = rules["expert_groups_kept"]
    for key in rules["expert_groups_chosen"] & node.keys():
        if _is_int(node[key]):
            node[key] = min(node[key], groups)
    for key in rules["experts_per_token"] & node.keys():
        if _is_int(node[key]):
            node[key] = min(node[key], rules["experts_per_token_kept"])
    return before


def _smaller_picture(path: str, node: dict) -> list:
    rules = load_rules()
    notes = []
    patch = node.get("patch_size")
    for key in rules["image_sizes"] & node.keys():
        value = node[key]
        sides = [value] if _is_int(value) else value
        if not isinstance(sides, list) or not all(map(_is_int, sides)) or max(sides, default=0) <= rules["image_floor"]:
            continue
        unit = patch if _is_int(patch) and patch > 8 else 32
        factor = next((factor for factor in range(max(sides) // rules["image_floor"] + 1, 1, -1)
                       if all(side % (unit * factor) == 0 and side // factor >= 4 * unit for side in sides)), 1)
        if factor > 1:
            node[key] = value // factor if _is_int(value) else [side // factor for side in sides]
            for grid in rules["image_grids"] & node.keys():
                if _is_int(node[grid]) and node[grid] % factor == 0:
                    node[grid] //= factor
            notes.append(f"{path}{key} {value}->{node[key]}")
    return notes


def _cut_vocabulary(tree: dict) -> int:
    rules = load_rules()
    kept, before = rules["vocabulary_kept"], 0
    for _, node in _nodes(tree):
        for key in rules["vocabularies"] & node.keys():
            if _is_int(node[key]) and node[key] > rules["vocabulary_floor"]:
                before, node[key] = max(before, node[key]), kept
    if not before:
        return 0
    moved = {}

    def new_id(value):
        if _is_int(value) and value >= kept:
            return moved.setdefault(value, kept - 1 - len(moved) % (kept // 2))
        return value

    suffixes = tuple(rules["token_suffixes"])
    for _, node in _nodes(tree):
        for key, value in node.items():
            if isinstance(key, str) and key.endswith(suffixes):
                if _is_int(value):
                    node[key] = new_id(value)
                elif isinstance(value, list) and all(map(_is_int, value)):
                    node[key] = [new_id(item) for item in value]
    return before
