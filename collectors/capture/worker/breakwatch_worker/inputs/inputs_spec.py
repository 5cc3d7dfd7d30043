"""The user's specification of the arguments of forward: the job's `inputs_spec`, applied after all recipes.

    {"sizes": {"seq": 128, "time": "2*seq"},
     "arguments": {"pixel_values": {"kind": "normal", "shape": ["batch", 3, 224, 224]}, "bbox": null},
     "add": ["token_type_ids"], "omit": ["attention_mask"]}

An argument with a recipe is passed, one with null is not. `add` passes arguments that recipes.yaml can make.
"""

from ..model.architecture import Stop

_KINDS = {"normal", "uniform", "ones", "zeros", "ids", "range", "flattened_patches", "patch_places", "mask", "boxes",
          "tensor", "value", "list"}
_WITHOUT_SHAPE = {"tensor", "value", "list"}
_KEYS = {"sizes", "arguments", "add", "omit"}
_MAX_ELEMENTS = 1 << 28


def checked(spec, names: set) -> dict:
    """The specification as the last step of a plan. Raises Stop with failed_inputs and the name of an invalid key."""
    if spec is None:
        return {}
    if not isinstance(spec, dict):
        _reject("inputs_spec", "an object was expected")
    for key in spec.keys() - _KEYS:
        _reject(key, f"unknown; known are {', '.join(sorted(_KEYS))}")
    for name, value in _object(spec, "sizes").items():
        _check_size(f"sizes.{name}", value)
    arguments = _object(spec, "arguments")
    for name, recipe in arguments.items():
        _check_name(f"arguments.{name}", name, names)
        if recipe is not None:
            _check_recipe(f"arguments.{name}", recipe)
    for key in ("add", "omit"):
        if not isinstance(spec.get(key, []), list):
            _reject(key, "a list of argument names was expected")
        for name in spec.get(key, []):
            _check_name(key, name, names)
    given = {name: recipe for name, recipe in arguments.items() if recipe is not None}
    return {"sizes": spec.get("sizes") or {}, "arguments": given, "add": [*spec.get("add", []), *given],
            "omit": [*spec.get("omit", []), *(arguments.keys() - given.keys())]}


def _reject(key: str, why: str):
    raise Stop("failed_inputs", f"inputs_spec: {key}: {why}", f"correct {key} in the inputs file")


def _object(spec: dict, key: str) -> dict:
    value = spec.get(key) or {}
    if not isinstance(value, dict):
        _reject(key, "an object was expected")
    return value


def _check_name(key: str, name, names: set) -> None:
    if not isinstance(name, str):
        _reject(key, "the name of an argument was expected")
    if name not in names:
        _reject(key, f"forward has no argument {name[:80]!r}; it has {', '.join(sorted(names))[:200]}")


def _check_size(key: str, value) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not (number and 0 <= value <= _MAX_ELEMENTS or isinstance(value, str) and 0 < len(value) <= 200):
        _reject(key, f"a number up to {_MAX_ELEMENTS} or an expression of sizes was expected")


def _check_recipe(key: str, recipe) -> None:
    if not isinstance(recipe, dict):
        _reject(key, "a recipe (an object with a kind) or null was expected")
    kind = recipe.get("kind", "normal")
    if kind not in _KINDS:
        _reject(f"{key}.kind", f"unknown; known are {', '.join(sorted(_KINDS))}")
    if kind not in _WITHOUT_SHAPE:
        if not isinstance(recipe.get("shape"), list):
            _reject(f"{key}.shape", "a list of sizes was expected")
        for index, size in enumerate(recipe["shape"]):
            _check_size(f"{key}.shape[{index}]", size)
    if kind == "value" and "value" not in recipe:
        _reject(f"{key}.value", "is missing")
    if kind == "tensor" and not (isinstance(recipe.get("rows"), list) and all(
            isinstance(row, list) for row in recipe["rows"])):
        _reject(f"{key}.rows", "a list of rows was expected")
    if kind == "list":
        if not isinstance(recipe.get("items"), list):
            _reject(f"{key}.items", "a list of recipes was expected")
        for index, item in enumerate(recipe["items"]):
            _check_recipe(f"{key}.items[{index}]", item)
