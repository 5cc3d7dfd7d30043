"""Reduces widths, experts, lengths and the vocabulary of a config. The keys are in sizes.yaml."""

import copy
import functools
import math

from . import images, windows
from .size_rules import is_int, load_rules, nodes

_FACTORS = (32, 16, 14, 8, 7, 6, 5, 4, 3, 2)


def narrowings(base: dict, cut_windows: bool = True):
    """(tree, notes) of each reduction other than depth. First all widths by one divisor; if this divisor is small and
    that of the text is not, each part by a divisor of its own. Last no widths, only experts, images, the vocabulary and
    windows (with `cut_windows`): this works if parts name each other's widths by unknown keys."""
    narrowed = functools.partial(_narrowed, base, cut_windows)
    common, parts = _factor(base), _part_factors(base)
    if common <= 2 and parts.get("text_config", 1) >= 2 * common:
        chosen = [parts]
        if common == 1 and len(parts) > 1:  # the parts may name each other's widths by unknown keys
            chosen.append({"text_config": parts["text_config"]})
        for factors in chosen:
            note = ", ".join(f"{name} /{factor}" for name, factor in factors.items())
            yield narrowed(functools.partial(_divide_parts, factors=factors), f"widths of {note}")
    if common > 1:
        yield narrowed(lambda tree: _divide_all(tree, common), f"widths /{common}")
    yield narrowed(lambda tree: None, "")


def _part_factors(base: dict) -> dict:
    """The divisor of each part that has one."""
    factors = {name: _factor(part) for name, part in base.items() if isinstance(part, dict) and "model_type" in part}
    return {name: factor for name, factor in factors.items() if factor > 1}


def _narrowed(base: dict, cut_windows: bool, divide, note: str) -> tuple:
    tree = copy.deepcopy(base)
    divide(tree)
    notes = [note] if note else []
    experts = 0
    for _, node in nodes(tree):
        experts = max(experts, _fewer_experts(node))
    if experts:
        notes.append(f"experts {experts}->{load_rules()['experts_kept']}")
    notes += [note for path, node in nodes(tree)
              for cut in (images.shrink_windows, images.shrink_image, _shorter, *[windows.cut] * cut_windows)
              for note in cut(path, node)]
    notes += images.match_images(base, tree)
    images.shrink_maps(base, tree)
    if (cut := _cut_vocabulary(tree)):
        notes.append(f"vocabulary {cut}->{load_rules()['vocabulary_kept']}")
    return tree, notes


def _divide_all(tree: dict, factor: int) -> None:
    rules, free = load_rules(), _free_nodes(tree)
    hidden = {node["hidden_size"] for _, node in free if is_int(node.get("hidden_size"))}
    for _, node in free:
        for key in rules["bound_widths"] & node.keys():
            if node[key] in hidden:
                node[key] //= factor
        _divide(node, factor)


def _divide_parts(tree: dict, factors: dict) -> None:
    """Divides each part by its own divisor. Keys elsewhere that name the width of the text follow the text."""
    rules = load_rules()
    width = tree["text_config"].get("hidden_size")
    inside = {id(node) for _, node in nodes(tree["text_config"])}
    named = [(node, key) for _, node in nodes(tree) if id(node) not in inside
             for key in rules["text_widths"] & node.keys() | output_widths(node) if node[key] == width]
    for name, factor in factors.items():
        _divide_all(tree[name], factor)
    for node, key in named:
        node[key] = width // factors["text_config"]


def output_widths(node: dict) -> set:
    """Keys of a part for the width of its output, recognised by the keys beside them."""
    return {key for key, beside in load_rules()["output_widths"].items() if key in node and beside in node}


def _free_nodes(tree: dict):
    """The nodes whose widths the config sets."""
    return [(path, node) for path, node in nodes(tree) if node.get("model_type") not in load_rules()["node_kept"]]


def _values(tree: dict, keys: set) -> list:
    found = []
    for _, node in _free_nodes(tree):
        for key in keys & node.keys():
            value = node[key]
            found += [value] if is_int(value) else [item for item in value if is_int(item)] if isinstance(
                value, list) else []
    return [value for value in found if value > 0]


def _factor(tree: dict) -> int:
    """The largest divisor of all widths and heads of the tree."""
    rules = load_rules()
    if any(node.get("model_type") in rules["width_kept"] for _, node in nodes(tree)):
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
        if all(_divides(width, factor) for width in widths) and _divides_heads(tree, factor):
            return factor
    return 1


def _divides(width: int, factor: int) -> bool:
    """Whether the width can be divided. Rows stay multiples of 16 bytes, which grouped matrix products require."""
    return width % factor == 0 and width // factor >= 4 and (width % 4 > 0 or width // factor % 4 == 0)


def _divides_heads(tree: dict, factor: int) -> bool:
    rules = load_rules()
    for _, node in _free_nodes(tree):
        heads = [node[key] for key in rules["heads"] & node.keys() if is_int(node[key]) and node[key] > 0]
        grouped = [node[key] for key in rules["key_value_heads"] & node.keys() if is_int(node[key]) and node[key] > 0]
        if any(head % factor for head in heads if head > 1):
            return False
        for count in grouped:
            smaller = _fewer(count, factor)
            # Grouped attention must stay grouped, and a single head takes another code path than several.
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
            if is_int(value) and value > 0:
                node[key] = _inner(value, factor) if inner else value // factor
            elif isinstance(value, list) and all(map(is_int, value)):
                node[key] = [_inner(item, factor) if inner else item // factor for item in value]
        elif key in rules["heads"] and is_int(value) and value > 1:
            node[key] = value // factor
        elif key in rules["key_value_heads"] and is_int(value) and value > 0:
            node[key] = _fewer(value, factor)


def _inner(width: int, factor: int) -> int:
    """A width that need not match another. It stays even, with rows of multiples of 16 bytes."""
    return width // factor if _divides(width, factor) else max(width // factor // 8 * 8, 8)


def _fewer_experts(node: dict) -> int:
    rules = load_rules()
    kept, before = rules["experts_kept"], 0
    for key in rules["experts"] & node.keys():
        if is_int(node[key]) and node[key] > kept:
            before, node[key] = max(before, node[key]), kept
    if not before:
        return 0
    groups = 1
    for key in rules["expert_groups"] & node.keys():
        if is_int(node[key]) and node[key] > 1:
            node[key] = groups = rules["expert_groups_kept"]
    for key in rules["expert_groups_chosen"] & node.keys():
        if is_int(node[key]):
            node[key] = min(node[key], groups)
    for key in rules["experts_per_token"] & node.keys():
        if is_int(node[key]):
            node[key] = min(node[key], rules["experts_per_token_kept"])
    return before


def _shorter(path: str, node: dict) -> list:
    """Cuts long lengths that the input must have exactly."""
    notes = []
    for key, rule in load_rules()["lengths"].items():
        value = node.get(key)
        if not is_int(value) or not any(other in node for other in rule["beside"]) or rule.get("without") in node:
            continue
        units = [node[unit] for unit in rule["units"] if is_int(node.get(unit)) and node[unit] > 0]
        least = max([rule["least"], *(unit * rule["times"] for unit in units)])
        whole = math.lcm(rule["whole"], *units)
        shorter = next((value // factor for factor in range(value // least, 1, -1)
                        if value % factor == 0 and value // factor % whole == 0), value)
        if shorter < value:
            node[key] = shorter
            notes.append(f"{path}{key} {value}->{shorter}")
    return notes


def _cut_vocabulary(tree: dict) -> int:
    rules = load_rules()
    kept, before = rules["vocabulary_kept"], 0
    maps = [node[key] for _, node in nodes(tree) for key in rules["vocabulary_maps"] & node.keys()]
    if any(is_int(token) and token >= kept for named in maps if isinstance(named, dict) for token in named.values()):
        return 0
    for _, node in nodes(tree):
        for key in rules["vocabularies"] & node.keys():
            if is_int(node[key]) and node[key] > rules["vocabulary_floor"]:
                before, node[key] = max(before, node[key]), kept
    if not before:
        return 0
    moved = {}

    def new_id(value):
        if is_int(value) and value >= kept:
            return moved.setdefault(value, kept - 1 - len(moved) % (kept // 2))
        return value

    suffixes = tuple(rules["token_suffixes"])
    for _, node in nodes(tree):
        for key, value in node.items():
            if isinstance(key, str) and key.endswith(suffixes):
                if is_int(value):
                    node[key] = new_id(value)
                elif isinstance(value, list) and all(map(is_int, value)):
                    node[key] = [new_id(item) for item in value]
    return before
