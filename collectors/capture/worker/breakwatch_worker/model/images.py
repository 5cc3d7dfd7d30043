"""Reduces image sizes, and the sizes that follow from them. The keys are in sizes.yaml."""

from .size_rules import is_int, load_rules, nodes


def shrink_image(path: str, node: dict) -> list:
    rules = load_rules()
    notes = []
    patch = node.get("patch_size")
    unit = patch if is_int(patch) and patch > 8 else 32
    floors = dict.fromkeys(rules["image_sizes"], rules["image_floor"])
    least = max(4 * unit, _last_window(node))
    if "tubelet_size" in node:
        floors.update(dict.fromkeys(rules["clip_sizes"], rules["clip_floor"]))
    for key in floors.keys() & node.keys():
        factor = _image_factor(node[key], floors[key], unit, least)
        if factor > 1:
            before = node[key]
            node[key] = before // factor if is_int(before) else [side // factor for side in before]
            for grid in rules["image_grids"] & node.keys():
                if is_int(node[grid]) and node[grid] % factor == 0:
                    node[grid] //= factor
            notes.append(f"{path}{key} {before}->{node[key]}")
    return notes


def shrink_windows(path: str, node: dict) -> list:
    """Reduces windows that are the images of all parts, together with the image sizes of these parts."""
    rules = load_rules()
    notes = []
    for key in rules["image_windows"] & node.keys():
        parts = [part for part in node.values() if isinstance(part, dict) and "image_size" in part]
        if not is_int(node[key]) or not parts or any(part["image_size"] != node[key] for part in parts):
            continue
        factor = _image_factor(node[key], rules["window_floor"], 32, 128)
        if factor > 1:
            notes.append(f"{path}{key} {node[key]}->{node[key] // factor}")
            for holder, name in ((node, key), *((part, "image_size") for part in parts)):
                holder[name] //= factor
    return notes


def match_images(base: dict, tree: dict) -> list:
    """Reduces the image size of nodes without a patch size. It equals the image size of nodes with one, and follows
    them if all of these were reduced by the same factor."""
    keys, notes = load_rules()["image_sizes"], []
    pairs = [(path, was, now) for (path, was), (_, now) in zip(nodes(base), nodes(tree), strict=True)]
    for path, was, node in pairs:
        for key in keys & node.keys():
            if "patch_size" in node or not is_int(was[key]) or was[key] < 1 or was[key] != node[key]:
                continue
            factors = {was[key] // now[other] for _, before, now in pairs for other in keys & now.keys()
                       if "patch_size" in now and before[other] == was[key]}
            if len(factors) == 1 and (factor := factors.pop()) > 1:
                node[key] //= factor
                notes.append(f"{path}{key} {was[key]}->{node[key]}")
    return notes


def shrink_maps(base: dict, tree: dict) -> None:
    """Reduces the sizes of feature maps if all images below their node, or all images, were reduced by one factor."""
    rules = load_rules()
    for (_, before), (_, node) in zip(nodes(base), nodes(tree), strict=True):
        for key in rules["image_maps"] & node.keys():
            factors = _factors_of(before, node) or _factors_of(base, tree)
            maps = [_sides(sides) for sides in node[key]] if isinstance(node[key], list) else []
            factor = factors.pop() if len(factors) == 1 else 1
            if all(maps) and all(side % factor == 0 for sides in maps for side in sides):
                node[key] = [[side // factor for side in sides] for sides in maps] or node[key]


def _factors_of(base: dict, tree: dict) -> set:
    """The factors by which the images below a node were reduced."""
    pairs = zip(nodes(base), nodes(tree), strict=True)
    images = [(_sides(was[key]), _sides(now[key])) for (_, was), (_, now) in pairs
              for key in load_rules()["image_sizes"] & now.keys()]
    return {was[0] // now[0] for was, now in images if was and now and now[0] > 0}


def _last_window(node: dict) -> int:
    """The image size at which the last stage is one window. Each stage before it halves the image."""
    patch, window, depths = node.get("patch_size"), node.get("window_size"), node.get("depths")
    if not is_int(patch) or not is_int(window) or not isinstance(depths, list):
        return 0
    return patch * window * 2 ** (len(depths) - 1)


def _image_factor(value, floor: int, unit: int, least: int) -> int:
    sides = _sides(value)
    if max(sides, default=0) <= floor:
        return 1
    return next((factor for factor in range(max(sides) // floor + 1, 1, -1)
                 if all(_cuts(side, factor, unit, least) for side in sides)), 1)


def _cuts(side: int, factor: int, unit: int, least: int) -> bool:
    """Whether the reduced side has a whole number of units, an even one if it was even: grids are folded in two."""
    even = side // factor % (2 * unit) == 0 or side % (2 * unit) > 0
    return side % (unit * factor) == 0 and side // factor >= least and even


def _sides(value) -> list:
    return [value] if is_int(value) else value if isinstance(value, list) and all(map(is_int, value)) else []
