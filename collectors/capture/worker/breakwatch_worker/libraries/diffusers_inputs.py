"""The arguments of one forward call of a diffusers model. The recipes are data: diffusers_inputs.yaml."""

import functools
import inspect
import re
import types

import numpy as np
import torch

from ..inputs.make_values import CannotMake, Sizes, make_value
from ..tables import read_beside


@functools.cache
def load_recipes() -> dict:
    return read_beside(__file__, "diffusers_inputs.yaml")


def _first(value):
    return value[0] if isinstance(value, (list, tuple)) and value else value


def _derived(config: dict) -> dict:
    """Sizes that configs write in different forms, such as a list of which the first entry counts."""
    found = {}
    blocks = config.get("block_out_channels")
    found["halvings"] = 2 ** max(len(blocks) - 1, 0) if isinstance(blocks, (list, tuple)) else 1
    cross = _first(config.get("cross_attention_dim"))
    if isinstance(cross, int):
        found["cross"] = cross
    patch = config.get("patch_size")
    if isinstance(patch, (list, tuple)) and patch:
        found["patch"] = patch[-1]
        found["patch_time"] = patch[0] if len(patch) == 3 else 1
    elif isinstance(patch, int):
        found["patch"] = patch
    if isinstance(time := config.get("patch_size_t"), int):
        found["patch_time"] = time
    for key in ("axes_dims_rope", "rope_axes_dim", "axes_dim", "axes_dims"):
        if isinstance(config.get(key), (list, tuple)):
            found["axes"] = len(config[key])
    heads, size = config.get("num_attention_heads"), config.get("attention_head_dim")
    if isinstance(heads, int) and isinstance(size, int):
        found["inner"] = heads * size
    sample = _first(config.get("sample_size"))
    if isinstance(sample, int):
        found["natural"] = sample
    return found


class Recipe:
    """The arguments for one class and their recipes: the general recipes, changed by the rules that match the class."""

    def __init__(self, model, config: dict):
        recipes = load_recipes()
        parameters = inspect.signature(model.forward).parameters.values()
        self.names = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.required = {p.name for p in parameters if p.default is p.empty and p.name in self.names}
        self.arguments = dict(recipes["arguments"])
        self.passed = set(recipes["pass"])
        self.class_name = type(model).__name__
        self.sizes = Sizes(types.SimpleNamespace(**config), {**recipes["sizes"], **_derived(config)})
        for rule in recipes["rules"]:
            if self._matches(rule, config):
                self.arguments.update(rule.get("arguments") or {})
                self.sizes.define(rule.get("sizes"))
                self.passed |= set(rule.get("add") or [])
                self.passed -= set(rule.get("omit") or [])

    def _matches(self, rule: dict, config: dict) -> bool:
        if not re.search(rule.get("class", ""), self.class_name):
            return False
        if not all(config.get(key) == value for key, value in (rule.get("config") or {}).items()):
            return False
        return all(config.get(key) is not None and config.get(key) is not False for key in rule.get("given") or [])

    def make(self) -> dict:
        made = {}
        for name in self.names:
            if name not in self.required and name not in self.passed:
                continue
            recipe = self.arguments.get(name)
            try:
                if recipe is None:
                    raise CannotMake(f"no recipe for the argument {name} of {self.class_name}")
                if "only_if" in recipe and not self.sizes(recipe["only_if"]):
                    continue
                made[name] = self._value(name, recipe)
            except CannotMake as error:
                if name in self.required:  # without the suggestion to use an inputs file, which has no effect here
                    raise CannotMake(str(error)) from error
        return made

    def _value(self, name: str, recipe: dict):
        kind = recipe.get("kind")
        if kind == "dict":
            return {key: self._value(key, item) for key, item in recipe["items"].items()}
        if kind == "list":
            items = recipe["items"] * int(self.sizes(recipe.get("count", 1)))
            return [self._value(f"{name}{index}", item) for index, item in enumerate(items)]
        if kind == "images":  # as a pipeline passes them: numpy, channels last
            return np.zeros([int(self.sizes(size)) for size in recipe["shape"]], dtype=np.float32)
        if kind == "grid":  # rows of (0, row, column): the positions of image patches
            height, width = (int(self.sizes(size)) for size in recipe["shape"])
            rows = torch.stack(torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij"), -1)
            rows = rows.reshape(-1, 2).float()
            extra = torch.zeros(rows.shape[0], int(self.sizes(recipe.get("columns", 3))) - 2)
            grid = torch.cat([extra, rows], dim=1)
            return grid.expand(int(self.sizes("batch")), -1, -1).clone() if recipe.get("batched") else grid
        if kind == "runs":  # one row in which each number is repeated, such as the part that each token belongs to
            row = torch.cat([torch.full((int(self.sizes(count)),), number) for number, count in recipe["runs"]])
            row = row.expand(int(self.sizes("batch")), -1).clone() if recipe.get("batched") else row
            return row.to(getattr(torch, recipe.get("dtype", "long")))
        if kind == "sizes":  # evaluated numbers in nested lists
            return _numbers(recipe["value"], self.sizes)
        value = make_value(name, recipe, self.sizes)
        return value.to(getattr(torch, recipe["dtype"])) if "dtype" in recipe and isinstance(
            value, torch.Tensor) else value


def _numbers(value, sizes):
    if not isinstance(value, list):
        return int(sizes(value))
    numbers = [_numbers(item, sizes) for item in value]  # the pipelines pass a list of tuples
    return numbers if any(isinstance(item, list) for item in value) else tuple(numbers)


def make(model, config: dict) -> dict:
    return Recipe(model, config).make()
