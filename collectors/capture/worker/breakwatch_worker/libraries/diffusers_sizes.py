"""Reduces a diffusers config. The keys for widths and depths are in diffusers_sizes.yaml."""

import copy
import functools
import inspect
import math

from ..tables import read_beside


@functools.cache
def load_rules() -> dict:
    return read_beside(__file__, "diffusers_sizes.yaml")


def with_defaults(cls, values: dict) -> dict:
    """The config with missing values from the defaults of the class, so that it has all sizes."""
    merged = {name: copy.deepcopy(parameter.default) for name, parameter in inspect.signature(cls).parameters.items()
              if parameter.default is not parameter.empty}
    merged.update({key: value for key, value in values.items() if not key.startswith("_")})
    return merged


def plans(cls, config: dict, depth: str):
    """(depth, note, config) from the smallest to the original. The first that builds and runs is captured."""
    narrow = list(narrowed(config)) if depth != "original" else []
    if depth not in ("full", "original"):
        short, notes = shortened(config)
        if notes:
            for small, width_note in narrow:
                both, _ = shortened(small)
                yield "reduced", ", ".join(notes + [width_note]), both
            yield "reduced", ", ".join(notes), short
    label = "full" if depth == "full" else "original"
    for small, note in narrow:
        yield label, note, small
    yield label, "", copy.deepcopy(config)


def shortened(config: dict) -> tuple:
    """(config, notes): every group of equal layers cut to its first ones."""
    rules, made, notes = load_rules(), copy.deepcopy(config), []
    least = {owner: config.get(count, count) for key, (owner, count) in rules["kinds"].items() if config.get(key)}
    for key, kept in rules["depths"].items():
        value = made.get(key)
        cut = _cut(value, max(kept, least.get(key, 0)))
        if cut != value:
            made[key] = cut
            notes.append(f"{key} {value}->{cut}")
    for key, (owner, kept) in rules["indices"].items():  # lists of layer numbers: one layer of each kind stays
        if isinstance(made.get(key), (list, tuple)) and made.get(key) and made.get(owner) != config.get(owner):
            made[key] = kept
    return made, notes


def _cut(value, kept: int):
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return min(value, kept)
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, (int, list, tuple)) for item in value):
        return [_cut(item, kept) for item in value]
    return value


def narrowed(config: dict):
    """(config, note): fewer heads, then narrower blocks, the narrowest first."""
    yield from _fewer_heads(config)
    yield from _narrower_blocks(config)


def _factors(common: int) -> list:
    found = [factor for factor in range(common, 1, -1) if common % factor == 0]
    return [found[0], found[len(found) // 2]] if len(found) > 2 else found[:1]


def _head_counts(config: dict) -> tuple:
    """({key: count}, the width of all heads together or None). If the config has no number of heads, it follows from
    the width and from the sizes of the position axes of one head."""
    rules = load_rules()
    heads = {key: config[key] for key in rules["heads"] if _is_count(config.get(key))}
    size = next((config[key] for key in rules["head_sizes"] if _is_count(config.get(key))), None)
    inner = next((config[key] for key in rules["inner"] if _is_count(config.get(key))), None)
    axes = config.get("axes_dims")
    size_by_axes = sum(axes) if isinstance(axes, (list, tuple)) and all(map(_is_count, axes)) else 0
    if not heads and inner and size_by_axes and inner % size_by_axes == 0:
        return {"heads": inner // size_by_axes}, inner
    if not heads:
        return {}, None
    first = next(iter(heads.values()))
    return heads, first * size if size else inner if inner and inner % first == 0 else None


def _fewer_heads(config: dict):
    rules = load_rules()
    heads, inner = _head_counts(config)
    if not heads:
        return
    common = functools.reduce(math.gcd, heads.values())
    if common == min(heads.values()) and common > 1:  # keep two heads if possible
        common = common // 2 if common % 2 == 0 else common
    name, count = next(iter(heads.items()))
    for factor in _factors(common):
        made = copy.deepcopy(config)
        for key, value in config.items():
            tied = inner is not None and value == inner and key not in rules["not_widths"]
            if (key in heads or tied or key in rules["widths"]) and _is_count(value) and value % factor == 0:
                made[key] = value // factor
        yield made, f"{name} {count}->{count // factor}"


def _narrower_blocks(config: dict):
    rules = load_rules()
    key = next((name for name in rules["blocks"] if config.get(name)), None)
    widths = [config[key]] if key and _is_count(config[key]) else config.get(key)
    if not isinstance(widths, (list, tuple)) or not all(map(_is_count, widths)):
        return
    unit = rules["units"].get(key) or next((config[name] for name in rules["groups"] if _is_count(config.get(name))),
                                           rules["block_unit"])
    common = math.gcd(*widths)
    # Every width stays a multiple of the groups and of its block's heads. If that is not enough, the next factor is
    # tried.
    heads = next((config[name] for name in rules["block_heads"] if _is_list(config.get(name), len(widths))),
                 [1] * len(widths))
    blocks = list(zip(widths, heads, strict=True))
    fitting = [factor for factor in range(common, 1, -1) if common % factor == 0 and all(
        width // factor % unit == 0 and width // factor % count == 0 for width, count in blocks)]
    for factor in fitting[:rules["block_tries"]]:
        made = copy.deepcopy(config)
        for name in rules["blocks"]:
            value = made.get(name)
            if _is_count(value) and value % factor == 0:
                made[name] = value // factor
            elif isinstance(value, (list, tuple)) and value and all(map(_is_count, value)):
                made[name] = [max(width // factor, 1) for width in value]
        yield made, f"{key} {list(widths)}->{made[key]}"


def _is_list(value, length: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == length and all(map(_is_count, value))


def _is_count(value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
