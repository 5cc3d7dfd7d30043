"""Fixes configs that lack a value or have contradicting values. The fixes are in config_fixes.yaml; the result
lists them."""

import contextlib
import copy
import functools
import inspect
import pathlib
import re

from ..inputs.forward_inputs import PLACEHOLDERS, TOKEN_SUFFIXES
from ..inputs.make_values import NodeSizes, Sizes, sub_configs
from ..tables import for_release, read_beside
from . import architecture, narrow

_MISSING = object()


@functools.cache
def load_fixes() -> dict:
    """The fixes for the installed release of transformers."""
    return for_release(read_beside(__file__, "config_fixes.yaml"))


def make_config(config_class, values: dict) -> tuple:
    """(config, notes) of architecture.make_config. If the config needs them, with the `default_parts` of
    config_fixes.yaml."""
    composed = load_fixes()["default_parts"].get(config_class.model_type, {})
    missing = {key: part for key, part in composed.items() if values.get(key) is None}
    try:
        config, notes = architecture.make_config(config_class, values)
        if all(getattr(config, key, None) is not None for key in missing):
            return config, notes
    except architecture.Stop:
        raise
    except Exception:
        if not missing:
            raise
    config, notes = architecture.make_config(config_class, {**values, **copy.deepcopy(missing)})
    return config, notes + [f"{key} set" for key in missing]


def fill_tokens(config) -> list:
    """Gives placeholder tokens that are null one of the last ids of the vocabulary. Returns notes."""
    notes = []
    vocab = Sizes(config, {})("vocab")
    for node in sub_configs(config):
        for offset, key in enumerate(key for keys, _, _ in PLACEHOLDERS for key in keys):
            if key in vars(node) and vars(node)[key] is None and vocab > 64:
                setattr(node, key, vocab - 2 - offset)
                notes.append(f"{key} set")
    return notes


def fill_padding(model_class, config) -> list:
    """Sets a padding token for sequence classifiers: without one they reject a batch of two."""
    if not model_class.__name__.endswith("ForSequenceClassification"):
        return []
    node = Sizes(config, {}).text
    if vars(node).get("pad_token_id", 0) is not None:
        return []
    node.pad_token_id = load_fixes()["missing_values"]["pad_token_id"]
    return ["pad_token_id set"]


def fix(config, error: str) -> list:
    """Fixes the config for the error of a model. Returns notes on what was set.

    A null is replaced if the model could not be built, or if the error names the key or a null. A missing key is added
    if the error names it. Then contradicting values are corrected. """
    notes = []
    missed = re.search(r"'(\w+)' object has no attribute '(\w+)'", error)
    any_null = error.startswith("create:") or "None" in error or "non-empty" in error
    for node in sub_configs(config):
        for key, value in load_fixes()["missing_values"].items():
            here = vars(node).get(key, _MISSING)
            null = (here is None or here in ([], ())) and (any_null or key in error)
            absent = missed and missed.groups() == (type(node).__name__, key)
            if not (null or absent):
                continue
            try:
                setattr(node, key, _value_for(value, NodeSizes(node)))
            except Exception:  # the config's own check rejects the value
                continue
            notes.append(f"{key} set")
    return list(dict.fromkeys(notes + _correct_contradictions(config, error)))


def is_contradiction(config, error: str) -> bool:
    """Whether the error is about config values that contradict each other, which no other size fixes."""
    return bool(_correct_contradictions(copy.deepcopy(config), error))


def _correct_contradictions(config, error: str) -> list:
    notes = []
    node_fixes = [(correct, node) for node in sub_configs(config) for correct in (_fix_node, _apply_type_fixes)]
    whole_fixes = (_fix_token_ids, _fix_text_widths, _fix_read_widths, _fix_folding_grid, _fix_tiles)
    for correct, part in node_fixes + [(correct, config) for correct in whole_fixes]:
        with contextlib.suppress(Exception):  # as above
            notes += correct(part, error)
    return notes


def _fix_token_ids(config, error: str) -> list:
    """Moves token ids that are outside the vocabulary into it. Equal ids stay equal."""
    vocab, moved = Sizes(config, {})("vocab"), {}
    if "index out of range" not in error or vocab <= 64:
        return []
    for node in sub_configs(config):
        for key, value in vars(node).items():
            if key.endswith(TOKEN_SUFFIXES) and type(value) is int and value >= vocab:
                setattr(node, key, moved.setdefault(value, vocab - 2 - len(moved)))
    return [f"{len(moved)} tokens moved into the vocabulary"] if moved else []


def _fix_text_widths(config, error: str) -> list:
    """Sets the output widths of parts to the width of the text, if features do not fit their placeholder tokens. Some
    models report how many numbers the features have: then only the width that gives this number is changed. Others
    report only that there are too few."""
    found = re.search(r"tokens:? (\d+),? features:? (\d+)", error)
    too_few = "elements of source < number of ones in mask" in error
    text = Sizes(config, {}).text
    width = getattr(text, "hidden_size", None)
    if not (found or too_few) or not isinstance(width, int):
        return []
    tokens, features = map(int, found.groups()) if found else (1, 1)
    each = features // tokens if tokens and features % tokens == 0 else 0
    notes = []
    for node in sub_configs(config):
        own = {"hidden_size"} if node is config else narrow.output_widths(vars(node))
        for key in [*load_fixes()["text_widths"], *sorted(own)]:
            before = vars(node).get(key)
            if node is not text and isinstance(before, int) and before != width and each in (1, before):
                setattr(node, key, width)
                notes.append(f"{key} {before}->{width}")
    return notes


def _fix_read_widths(config, error: str) -> list:
    """Sets the input width of a part to the width that it gets."""
    found = re.search(r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", error)
    given, stated = map(int, found.groups()) if found else (0, 0)
    notes = []
    for node in sub_configs(config) if found else ():
        for key in load_fixes()["read_widths"]:
            if vars(node).get(key) == stated:
                setattr(node, key, given)
                notes.append(f"{key} {stated}->{given}")
    return notes


def _fix_folding_grid(config, error: str) -> list:
    """Makes the side of a patch grid a multiple of the fold, which is 2 if the config has none."""
    if "is invalid for input of size" not in error:
        return []
    notes, fold = [], Sizes(config, {}).find("pixel_shuffle_factor", 2)
    for node in sub_configs(config):
        image, patch = vars(node).get("image_size"), vars(node).get("patch_size")
        side = image // patch if isinstance(image, int) and isinstance(patch, int) and patch > 1 else 0
        if side > fold and side % fold:
            node.image_size = patch * (side - side % fold)
            notes.append(f"image_size {image}->{node.image_size}")
    return notes


def _fix_tiles(config, error: str) -> list:
    """Makes the possible image sizes multiples of the tile size, which is the image size of the encoder."""
    points, vision = vars(config).get("image_grid_pinpoints"), vars(config).get("vision_config")
    side = vars(vision).get("image_size") if vision is not None else None
    if "does not line up" not in error or not points or not isinstance(side, int):
        return []
    config.image_grid_pinpoints = [[side * max(1, round(length / side)) for length in point] for point in points]
    return [] if config.image_grid_pinpoints == points else ["image_grid_pinpoints set"]


def _apply_type_fixes(node, error: str) -> list:
    """Applies the fixes for defaults of this model type: `type_fixes` in config_fixes.yaml."""
    notes = []
    for entry in load_fixes()["type_fixes"]:
        if node.model_type not in listed(entry["part"]) or not re.search(entry["error"], error):
            continue
        equal = {path: getattr(node, key, None) for path, key in entry.get("equal", {}).items()}
        for path, value in {**entry.get("set", {}), **equal}.items():
            *owners, key = path.split(".")
            owner = functools.reduce(lambda here, name: getattr(here, name, None), owners, node)
            if owner is None:
                continue
            wanted = _value_for(value, NodeSizes(owner)) if isinstance(value, dict) and "per_layer" in value else value
            if getattr(owner, key, None) != wanted:
                setattr(owner, key, copy.deepcopy(wanted))
                notes.append(f"{path} set")
    return notes


def listed(value) -> list:
    return value if isinstance(value, list) else [value]


def _value_for(value, sizes: NodeSizes):
    if isinstance(value, dict) and "per_layer" in value:
        return [value["per_layer"]] * sizes(value.get("layers", "num_hidden_layers"))
    if isinstance(value, dict) and "text" in value:
        return value["text"]
    if isinstance(value, dict) and "first_of" in value:
        return sizes.first_of(value["first_of"])
    if isinstance(value, dict) and "numbered" in value:
        return _numbered(value, Sizes(sizes.config, {}))
    return copy.deepcopy(sizes(value))


def _numbered(value: dict, sizes: Sizes) -> dict:
    """A vocabulary map: token names, then numbered names (some write the number in letters), each with its own id."""
    names, count = {name: sizes(token) for name, token in value["names"].items()}, sizes(value["count"])
    for pattern in value["numbered"]:
        for number in range(count):
            letters = "".join(chr(ord("A") + int(digit)) for digit in str(number))
            names[pattern.format(number=number, letters=letters)] = 16 + len(names)
    return names


def _fix_node(node, error: str) -> list:
    """Corrects contradictions in one node that defaults of the library have."""
    if (stages := _stages_wanted(node, error)):
        return stages
    rope = vars(node).get("rope_parameters")
    kinds = vars(node).get("layer_types")
    width, heads = vars(node).get("hidden_size"), vars(node).get("num_attention_heads")
    uneven = "divisible" in error or "must match the size of tensor" in error
    if uneven and isinstance(width, int) and isinstance(heads, int) and heads > 0 and width % heads:
        node.num_attention_heads = next(count for count in range(heads, 0, -1) if width % count == 0)
        return [f"num_attention_heads {heads}->{node.num_attention_heads}"]
    if "multiple of 16 bytes" in error:  # grouped matrix products of experts require it
        odd = [key for key in ("moe_intermediate_size", "intermediate_size") if isinstance(vars(node).get(key), int)
               and vars(node)[key] % 4]
        for key in odd:
            setattr(node, key, vars(node)[key] // 4 * 4)
        return [f"{key} rounded" for key in odd]
    if "is_decoder=True" in error and vars(node).get("is_decoder") is False:
        node.is_decoder = True
        return ["is_decoder set"]
    if "stride should not be zero" in error and isinstance(vars(node).get("mm_tokens_per_image"), int):
        sizes = Sizes(node, {})  # more pooled features than patches
        side = sizes("height") // sizes("patch")
        node.mm_tokens_per_image = max(side // 2, 1) ** 2
        return [f"mm_tokens_per_image set to {node.mm_tokens_per_image}"]
    if rope == {} and isinstance(kinds, list):
        node.rope_parameters = {kind: {"rope_type": "default", "rope_theta": 10000.0} for kind in kinds}
        return ["rope_parameters set"]
    if (sections := _rotary_sections(node, error)):
        return sections
    sections = re.search(r"sum exactly to (\d+) .*split_sizes=\[(\d+), (\d+), (\d+)\]", error)
    if sections and isinstance(rope, dict) and "rope_theta" in rope and "mrope_section" not in rope:
        total, *parts = map(int, sections.groups())
        first, second = (part * total // sum(parts) for part in parts[:2])
        node.rope_parameters = {**rope, "mrope_section": [first, second, total - first - second]}
        return ["mrope_section set"]
    return []


def _rotary_sections(node, error: str) -> list:
    """Sets how image positions share the rotary dimensions, which defaults leave out. The number of sections follows
    from the model; the widths are like those of published configs, a quarter and the rest."""
    key = next((name for name in ("rope_parameters", "rope_scaling") if name in vars(node)), "")
    rope, heads = vars(node).get(key), vars(node).get("num_attention_heads")
    width = vars(node).get("hidden_size")
    is_text = isinstance(heads, int) and isinstance(width, int) and "vocab_size" in vars(node)
    four = "RoPE axes" in error or ("'NoneType' has no len()" in error and _has_mrope_attribute(node))
    of_null = re.search("'NoneType' object (is not subscriptable|has no attribute 'get')", error)
    is_null = key == "rope_scaling" and rope is None and of_null
    three = "'mrope_section'" in error or (is_null and _has_mrope_code(node))
    if not key or not is_text or not (four or three) or "mrope_section" in (rope or {}):
        return []
    rotated = int((vars(node).get("head_dim") or width // heads) * (vars(node).get("partial_rotary_factor") or 1))
    half = (rotated + 1) // 2
    rest = [half - half // 4 * 3] if four else [(half - half // 4) // 2, half - half // 4 - (half - half // 4) // 2]
    sections = ([half // 4] * 3 if four else [half // 4]) + rest
    kind = {} if rope else {"type": "default", "rope_type": "default"}
    setattr(node, key, {**(rope or {}), **kind, "mrope_section": sections})
    return ["mrope_section set"]


def _has_mrope_attribute(node) -> bool:
    return any("mrope" in name for name in dir(node))


def _has_mrope_code(node) -> bool:
    """Whether the code of the config or of its model uses sections. Without that, the null is another one."""
    if _has_mrope_attribute(node):
        return True
    with contextlib.suppress(OSError, TypeError):  # it has no source file
        path = pathlib.Path(inspect.getsourcefile(type(node)))
        beside = (path, path.with_name(path.name.replace("configuration_", "modeling_")))
        return any("mrope" in file.read_text(encoding="utf-8") for file in beside)
    return False


def _stages_wanted(node, error: str) -> list:
    """Lets the backbone return the maps of all stages, for a head that is made for all of them."""
    found = re.search(r"to have (\d+) channels, but got (\d+) channels", error)
    backbone = vars(node).get("backbone_config")
    stages = len(getattr(backbone, "stage_names", None) or []) - 1
    if not found or stages < 2 or int(found.group(1)) != int(found.group(2)) * stages:
        return []
    backbone.out_indices = list(range(1, stages + 1))
    return ["backbone_config.out_indices set"]
