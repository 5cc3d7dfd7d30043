"""Makes one argument from its recipe: a kind and a shape of named sizes, which are looked up in the config."""

import ast
import dataclasses
import math
import operator

import torch

from ..errors import WorkerError

_OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.FloorDiv: operator.floordiv,
              ast.Mod: operator.mod, ast.Pow: operator.pow}
_MISSING = object()
_IMAGE_SIZES = ("image_size", "img_size", "input_image_size", "crop_size", "base_image_size", "pretrain_image_size")


class CannotMake(WorkerError):
    """A recipe uses a size that this config does not have."""


def _is_config(value) -> bool:
    return hasattr(value, "to_dict") and hasattr(value, "model_type")


def sub_configs(config):
    """The config and all its sub-configs, breadth first."""
    queue = [config]
    while queue:
        node = queue.pop(0)
        yield node
        for value in vars(node).values():
            if _is_config(value):
                queue.append(value)


def stated(node, name: str):
    """The value of a key or an alias of a config, or None. A config whose layers differ refuses to give the common
    value of such a key by attribute; sizes are looked up in it all the same."""
    try:
        return getattr(node, name, None)
    except Exception:  # an error of the library's own, which older releases do not have
        return vars(node).get(name)


class Sizes:
    """The named sizes of one model. Looked up in this order: defined by recipes, derived here, keys of any config
    node."""

    def __init__(self, config, defaults: dict):
        self.config = config
        self._defaults = dict(defaults)
        try:
            self.text = config.get_text_config()
        except (AttributeError, ValueError):  # there is none, or there are several
            part = getattr(config, "text_config", None)
            self.text = part if _is_config(part) else config

    def define(self, names: dict) -> None:
        self._defaults.update(names or {})

    def find(self, name: str, default=_MISSING):
        for node in sub_configs(self.config):
            value = stated(node, name)
            if value is not None and not callable(value):
                return value
        if default is _MISSING:
            raise CannotMake(f"the config has no {name}",
                             f"add {name} to the config, or describe the argument in an inputs file")
        return default

    def __call__(self, expression):
        """Evaluates an int, a name or arithmetic of both. `a|b` is the first that exists."""
        if not isinstance(expression, str):
            return expression
        alternatives = expression.split("|")
        for index, alternative in enumerate(alternatives):
            try:
                return self._evaluate(ast.parse(alternative.strip(), mode="eval").body)
            except CannotMake:
                if index == len(alternatives) - 1:
                    raise
        raise CannotMake(expression)

    def _evaluate(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self._named(node.id)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](self._evaluate(node.left), self._evaluate(node.right))
        if isinstance(node, ast.Attribute):  # vision_config.hidden_size
            holder = self._evaluate(node.value)
            value = getattr(holder, node.attr, None)
            if value is None:
                raise CannotMake(f"no {node.attr} there")
            return value
        if isinstance(node, ast.Subscript):
            return self._evaluate(node.value)[self._evaluate(node.slice)]
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self._evaluate(node.operand)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("prod", "sum", "max", "min", "len"):
            function = {"prod": math.prod, "sum": sum, "max": max, "min": min, "len": len}[node.func.id]
            values = [self._evaluate(argument) for argument in node.args]
            return function(values[0]) if len(values) == 1 else function(values)
        raise CannotMake(f"cannot read {ast.dump(node)[:80]}")

    def _named(self, name: str):
        if name in self._defaults:
            return self(self._defaults[name])
        if hasattr(self, f"_{name}_of"):
            return getattr(self, f"_{name}_of")()
        return self.find(name)

    def _vocab_of(self) -> int:
        for node in (self.text, self.config):
            for name in ("vocab_size", "n_tokens", "n_vocab"):
                if isinstance(value := stated(node, name), int) and value > 0:
                    return value
        value = self.find("vocab_size", 64)
        return value if isinstance(value, int) and value > 0 else 64

    def _hidden_of(self) -> int:
        for name in ("hidden_size", "d_model", "n_embd", "dim", "embed_dim", "hidden_dim"):
            if isinstance(value := stated(self.text, name), int):
                return value
        return self.find("hidden_size")

    def _side(self, axis: int) -> int:
        for name in _IMAGE_SIZES:
            value = self.find(name, None)
            if isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
                value = value[0]
            if isinstance(value, (list, tuple)) and len(value) >= 2:
                return int(value[axis])
            if isinstance(value, (list, tuple)) and value:
                return int(value[0])
            if isinstance(value, dict) and value:
                return int(value.get("height" if axis == 0 else "width", next(iter(value.values()))))
            if isinstance(value, (int, float)) and value > 1:
                return int(value)
        return 224

    def _height_of(self) -> int:
        return self._side(0)

    _natural_of = _height_of  # for a recipe that redefines height

    def _width_of(self) -> int:
        return self._side(1)

    def _channels_of(self) -> int:
        for name in ("num_channels", "in_channels", "in_chans", "input_channels"):
            value = self.find(name, None)
            if isinstance(value, int):
                return value
        return 3

    def _patch_of(self) -> int:
        value = self.find("patch_size", 14)
        return value[-1] if isinstance(value, (list, tuple)) else value

    def _merge_of(self) -> int:
        value = self.find("spatial_merge_size", None) or self.find("merge_size", None) or self.find(
            "merge_kernel_size", 2)
        return value[0] if isinstance(value, (list, tuple)) else value

    def _temporal_of(self) -> int:
        return self.find("temporal_patch_size", None) or self.find("patch_temporal", 1)


class NodeSizes(Sizes):
    """Looks names up in one config node only."""

    def __init__(self, node):
        super().__init__(node, {})

    def _named(self, name: str):
        value = stated(self.config, name)
        if not isinstance(value, int):
            raise CannotMake(f"no {name}")
        return value

    def first_of(self, name: str):
        values = stated(self.config, name)
        if not isinstance(values, (list, tuple)) or not values:
            raise CannotMake(f"no {name}")
        return values[0]


def _generator(name: str) -> torch.Generator:
    """A generator for each argument, seeded by its name: the numbers are the same in every run."""
    return torch.Generator().manual_seed(sum(ord(letter) * (index + 1) for index, letter in enumerate(name)))


@dataclasses.dataclass
class _Wanted:
    """The tensor that a recipe describes, with its evaluated shape."""

    recipe: dict
    shape: list
    sizes: Sizes
    generator: torch.Generator

    def number(self, key: str, default) -> int:
        return int(self.sizes(self.recipe.get(key, default)))

    @property
    def dtype(self) -> torch.dtype:
        return getattr(torch, self.recipe.get("dtype", "long"))


def _ids(wanted: _Wanted) -> torch.Tensor:
    low, high = wanted.number("low", 0), max(wanted.number("below", "vocab"), 1)
    return torch.randint(min(low, high - 1), high, wanted.shape, generator=wanted.generator)


def _flattened_patches(wanted: _Wanted) -> torch.Tensor:
    """The first two numbers of a patch are its row and column, counted from 1."""
    patches = torch.randn(wanted.shape, generator=wanted.generator)
    index = torch.arange(wanted.shape[1])
    patches[:, :, 0], patches[:, :, 1] = index // 8 + 1, index % 8 + 1
    return patches


def _patch_places(wanted: _Wanted) -> torch.Tensor:
    index, columns = torch.arange(wanted.shape[1]), wanted.number("columns", 1)
    return torch.stack([index % columns, index // columns], dim=-1).expand(wanted.shape).clone()


def _mask(wanted: _Wanted) -> torch.Tensor:
    made, first = torch.zeros(wanted.shape, dtype=wanted.dtype), wanted.recipe["from"]
    made[:, first:first + wanted.number("count", 1)] = 1
    return made


def _boxes(wanted: _Wanted) -> torch.Tensor:
    """Boxes with x0 <= x1 and y0 <= y1, in the range of layout models."""
    corner = torch.randint(0, 400, (*wanted.shape[:-1], 2), generator=wanted.generator)
    return torch.cat([corner, corner + 50], dim=-1)


_TENSORS = {
    "normal": lambda wanted: torch.randn(wanted.shape, generator=wanted.generator) * wanted.recipe.get("scale", 1.0),
    "uniform": lambda wanted: torch.rand(wanted.shape, generator=wanted.generator),
    "ones": lambda wanted: torch.ones(wanted.shape, dtype=wanted.dtype),
    "zeros": lambda wanted: torch.zeros(wanted.shape, dtype=wanted.dtype),
    "ids": _ids,
    "range": lambda wanted: (torch.arange(wanted.shape[-1]) + wanted.number("from", 0)).expand(wanted.shape).clone(),
    "flattened_patches": _flattened_patches,
    "patch_places": _patch_places,
    "mask": _mask,
    "boxes": _boxes,
}


def _rows(recipe: dict, sizes: Sizes) -> torch.Tensor:
    """The given rows of numbers or expressions, repeated for each sample."""
    rows = [[sizes(item) for item in row] for row in recipe["rows"]]
    rows = rows * (sizes("batch") if recipe.get("per_sample", True) else 1)
    made = torch.tensor(rows, dtype=getattr(torch, recipe.get("dtype", "long")))
    return made.flatten() if recipe.get("flat") else made


def make_value(name: str, recipe: dict, sizes: Sizes):
    kind = recipe.get("kind", "normal")
    if kind == "value":
        return sizes(recipe["value"]) if recipe.get("computed") else recipe["value"]
    if kind == "list":
        return [make_value(f"{name}{index}", item, sizes) for index, item in enumerate(recipe["items"])]
    if kind == "tensor":
        return _rows(recipe, sizes)
    if kind not in _TENSORS:
        raise CannotMake(f"no kind {kind}")
    shape = [int(sizes(size)) for size in recipe["shape"]]
    return _TENSORS[kind](_Wanted(recipe, shape, sizes, _generator(name)))
