"""What a config leaves open or at odds, and its model demands: filled in from recipes.yaml, and said in the result."""

import contextlib
import copy
import functools
import inspect
import pathlib
import re

from ..inputs.forward_inputs import PLACEHOLDERS, TOKEN_SUFFIXES, load_recipes
from ..inputs.make_values import NodeSizes, Sizes, sub_configs
from . import architecture, narrow

_MISSING = object()


def make_config(config_class, values: dict) -> tuple:
    """(config, notes), as architecture.make_config gives them; with the parts of recipes.yaml where it takes them."""
    composed = load_recipes()["default_parts"].get(config_class.model_type, {})
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
    """A placeholder token that the config leaves open gets one of the last ids of the vocabulary. Says which."""
    notes = []
    vocab = Sizes(config, {})("vocab")
    for node in sub_configs(config):
        for offset, key in enumerate(key for keys, _, _ in PLACEHOLDERS for key in keys):
            if key in vars(node) and getattr(node, key) is None and vocab > 64:
                setattr(node, key, vocab - 2 - offset)
                notes.append(f"{key} set")
    return notes


def fill_padding(model_class, config) -> list:
    """A classifier of sequences finds their ends by the padding token, and refuses two of them where there is none."""
    if not model_class.__name__.endswith("ForSequenceClassification"):
        return []
    node = Sizes(config, {}).text
    if vars(node).get("pad_token_id", 0) is not None:
        return []
    node.pad_token_id = load_recipes()["missing_values"]["pad_token_id"]
    return ["pad_token_id set"]


def fix(config, why: str) -> list:
    """Values that models need and configs may leave null or out. `why` is what the model said. Says which were set.

    Null is filled where the model could not be made, or named the key, or met a null; a key that is not there where it
    was missed. Then what one value must be to another.
    """
    notes = []
    missed = re.search(r"'(\w+)' object has no attribute '(\w+)'", why)
    any_null = why.startswith("create:") or "None" in why or "non-empty" in why
    for node in sub_configs(config):
        for key, value in load_recipes()["missing_values"].items():
            here = vars(node).get(key, _MISSING)
            null = (here is None or here in ([], ())) and (any_null or key in why)
            absent = missed and missed.groups() == (type(node).__name__, key)
            if not (null or absent):
                continue
            try:
                setattr(node, key, _value_for(value, NodeSizes(node)))
            except Exception:  # whatever a config's own check raises: it takes no such value
                continue
            notes.append(f"{key} set")
    return list(dict.fromkeys(notes + _made_to_agree(config, why)))


def is_contradiction(config, why: str) -> bool:
    """Whether what the model said tells of values at odds with one another, which no size of it mends."""
    return bool(_made_to_agree(copy.deepcopy(config), why))


def _made_to_agree(config, why: str) -> list:
    notes = []
    of_a_node = [(agree, node) for node in sub_configs(config) for agree in (_agreed, _completed)]
    of_all = (_inside_vocabulary, _as_wide_as_text, _as_wide_as_read, _folding_grid, _whole_tiles)
    for agree, part in of_a_node + [(agree, config) for agree in of_all]:
        with contextlib.suppress(Exception):  # as above
            notes += agree(part, why)
    return notes


def _inside_vocabulary(config, why: str) -> list:
    """Tokens that the default puts past the end of its own vocabulary; equal ones stay equal."""
    vocab, moved = Sizes(config, {})("vocab"), {}
    if "index out of range" not in why or vocab <= 64:
        return []
    for node in sub_configs(config):
        for key, value in vars(node).items():
            if key.endswith(TOKEN_SUFFIXES) and type(value) is int and value >= vocab:
                setattr(node, key, moved.setdefault(value, vocab - 2 - len(moved)))
    return [f"{len(moved)} tokens moved into the vocabulary"] if moved else []


def _as_wide_as_text(config, why: str) -> list:
    """As many features as places for them and yet no match: they are not as wide as the text. Some models say how
    many numbers the features have: then one of the widths stated is how many each place would get. Others find too few
    numbers and do not say how many."""
    found = re.search(r"tokens:? (\d+),? features:? (\d+)", why)
    too_few = "elements of source < number of ones in mask" in why
    text = Sizes(config, {}).text
    width = getattr(text, "hidden_size", None)
    if not (found or too_few) or not isinstance(width, int):
        return []
    tokens, features = map(int, found.groups()) if found else (1, 1)
    each = features // tokens if tokens and features % tokens == 0 else 0
    notes = []
    for node in sub_configs(config):
        own = {"hidden_size"} if node is config else narrow.handed_over(vars(node))
        for key in [*load_recipes()["text_widths"], *sorted(own)]:
            before = vars(node).get(key)
            if node is not text and isinstance(before, int) and before != width and each in (1, before):
                setattr(node, key, width)
                notes.append(f"{key} {before}->{width}")
    return notes


def _as_wide_as_read(config, why: str) -> list:
    """A part that says how wide what it reads is, and is given another width."""
    found = re.search(r"cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)", why)
    given, stated = map(int, found.groups()) if found else (0, 0)
    notes = []
    for node in sub_configs(config) if found else ():
        for key in load_recipes()["read_widths"]:
            if vars(node).get(key) == stated:
                setattr(node, key, given)
                notes.append(f"{key} {stated}->{given}")
    return notes


def _folding_grid(config, why: str) -> list:
    """A grid of patches that is folded must have a side that its fold divides: two, where the config does not tell."""
    if "is invalid for input of size" not in why:
        return []
    notes, fold = [], Sizes(config, {}).find("pixel_shuffle_factor", 2)
    for node in sub_configs(config):
        image, patch = vars(node).get("image_size"), vars(node).get("patch_size")
        side = image // patch if isinstance(image, int) and isinstance(patch, int) and patch > 1 else 0
        if side > fold and side % fold:
            node.image_size = patch * (side - side % fold)
            notes.append(f"image_size {image}->{node.image_size}")
    return notes


def _whole_tiles(config, why: str) -> list:
    """A picture is cut into whole tiles, each as large as the encoder's picture: every size that it may be cut from."""
    points, vision = vars(config).get("image_grid_pinpoints"), vars(config).get("vision_config")
    side = vars(vision).get("image_size") if vision is not None else None
    if "does not line up" not in why or not points or not isinstance(side, int):
        return []
    config.image_grid_pinpoints = [[side * max(1, round(length / side)) for length in point] for point in points]
    return [] if config.image_grid_pinpoints == points else ["image_grid_pinpoints set"]


def _completed(node, why: str) -> list:
    """What the default of one type leaves out and nothing else tells: recipes.yaml says of which, and why."""
    notes = []
    for entry in load_recipes()["type_fixes"]:
        if node.model_type not in listed(entry["part"]) or not re.search(entry["error"], why):
            continue
        equal = {path: getattr(node, key, None) for path, key in entry.get("equal", {}).items()}
        for path, value in {**entry.get("set", {}), **equal}.items():
            *way, key = path.split(".")
            owner = functools.reduce(lambda here, name: getattr(here, name, None), way, node)
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
    """Names of tokens, and after them those that carry a number, which some write in letters, each with its own id."""
    names, count = {name: sizes(token) for name, token in value["names"].items()}, sizes(value["count"])
    for pattern in value["numbered"]:
        for number in range(count):
            letters = "".join(chr(ord("A") + int(digit)) for digit in str(number))
            names[pattern.format(number=number, letters=letters)] = 16 + len(names)
    return names


def _agreed(node, why: str) -> list:
    """Values that defaults of the library leave at odds with one another."""
    if (stages := _stages_wanted(node, why)):
        return stages
    rope = vars(node).get("rope_parameters")
    kinds = vars(node).get("layer_types")
    width, heads = vars(node).get("hidden_size"), vars(node).get("num_attention_heads")
    uneven = "divisible" in why or "must match the size of tensor" in why
    if uneven and isinstance(width, int) and isinstance(heads, int) and heads > 0 and width % heads:
        node.num_attention_heads = next(count for count in range(heads, 0, -1) if width % count == 0)
        return [f"num_attention_heads {heads}->{node.num_attention_heads}"]
    if "multiple of 16 bytes" in why:  # what the products of groups of experts want
        odd = [key for key in ("moe_intermediate_size", "intermediate_size") if isinstance(vars(node).get(key), int)
               and vars(node)[key] % 4]
        for key in odd:
            setattr(node, key, vars(node)[key] // 4 * 4)
        return [f"{key} rounded" for key in odd]
    if "is_decoder=True" in why and vars(node).get("is_decoder") is False:
        node.is_decoder = True
        return ["is_decoder set"]
    if "stride should not be zero" in why and isinstance(vars(node).get("mm_tokens_per_image"), int):
        sizes = Sizes(node, {})  # pooled to more places than there are patches
        side = sizes("height") // sizes("patch")
        node.mm_tokens_per_image = max(side // 2, 1) ** 2
        return [f"mm_tokens_per_image set to {node.mm_tokens_per_image}"]
    if rope == {} and isinstance(kinds, list):
        node.rope_parameters = {kind: {"rope_type": "default", "rope_theta": 10000.0} for kind in kinds}
        return ["rope_parameters set"]
    if (sections := _rotary_sections(node, why)):
        return sections
    sections = re.search(r"sum exactly to (\d+) .*split_sizes=\[(\d+), (\d+), (\d+)\]", why)
    if sections and isinstance(rope, dict) and "rope_theta" in rope and "mrope_section" not in rope:
        total, *parts = map(int, sections.groups())
        first, second = (part * total // sum(parts) for part in parts[:2])
        node.rope_parameters = {**rope, "mrope_section": [first, second, total - first - second]}
        return ["mrope_section set"]
    return []


def _rotary_sections(node, why: str) -> list:
    """How the positions of a picture share the rotary dimensions: of published configs, left out by defaults. As many
    sections as the model speaks of; the widths follow the published ones, a quarter and the rest."""
    key = next((name for name in ("rope_parameters", "rope_scaling") if name in vars(node)), "")
    rope, heads = vars(node).get(key), vars(node).get("num_attention_heads")
    width = vars(node).get("hidden_size")
    is_text = isinstance(heads, int) and isinstance(width, int) and "vocab_size" in vars(node)
    four = "RoPE axes" in why or ("'NoneType' has no len()" in why and _names_sections(node))
    of_null = re.search("'NoneType' object (is not subscriptable|has no attribute 'get')", why)
    is_null = key == "rope_scaling" and rope is None and of_null
    three = "'mrope_section'" in why or (is_null and _speaks_of_sections(node))
    if not key or not is_text or not (four or three) or "mrope_section" in (rope or {}):
        return []
    rotated = int((vars(node).get("head_dim") or width // heads) * (vars(node).get("partial_rotary_factor") or 1))
    half = (rotated + 1) // 2
    rest = [half - half // 4 * 3] if four else [(half - half // 4) // 2, half - half // 4 - (half - half // 4) // 2]
    sections = ([half // 4] * 3 if four else [half // 4]) + rest
    kind = {} if rope else {"type": "default", "rope_type": "default"}
    setattr(node, key, {**(rope or {}), **kind, "mrope_section": sections})
    return ["mrope_section set"]


def _names_sections(node) -> bool:
    return any("mrope" in name for name in dir(node))


def _speaks_of_sections(node) -> bool:
    """Whether the config, or the model beside it, has code for sections: any text's may meet a null somewhere else."""
    if _names_sections(node):
        return True
    with contextlib.suppress(OSError, TypeError):  # no file of its own
        path = pathlib.Path(inspect.getsourcefile(type(node)))
        beside = (path, path.with_name(path.name.replace("configuration_", "modeling_")))
        return any("mrope" in file.read_text(encoding="utf-8") for file in beside)
    return False


def _stages_wanted(node, why: str) -> list:
    """A head made for the maps of every stage, of a backbone whose default gives the last one's alone."""
    found = re.search(r"to have (\d+) channels, but got (\d+) channels", why)
    backbone = vars(node).get("backbone_config")
    stages = len(getattr(backbone, "stage_names", None) or []) - 1
    if not found or stages < 2 or int(found.group(1)) != int(found.group(2)) * stages:
        return []
    backbone.out_indices = list(range(1, stages + 1))
    return ["backbone_config.out_indices set"]
