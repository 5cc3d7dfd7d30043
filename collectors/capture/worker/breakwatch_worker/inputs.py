"""The arguments of one forward call, from the config and the signature."""

import functools
import inspect
import os

import torch
import yaml


@functools.cache
def load_recipes() -> dict:
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "recipes.yaml"), encoding="utf-8") as file:
        return yaml.safe_load(file)


def make(model, config) -> dict:
    names = set(inspect.signature(model.forward).parameters)
    if "pixel_values" in names and "input_ids" not in names:
        return {"pixel_values": torch.randn(2, 3, 224, 224)}
    return {"input_ids": torch.randint(3, 60, (2, 16))}


def fresh(value):
    """A copy that the call may write into."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(fresh(item) for item in value)
    return value


def describe(value):
    """What is recorded: shape and type of tensors, plain values as they are."""
    if isinstance(value, torch.Tensor):
        return {"shape": list(value.shape), "dtype": str(value.dtype).removeprefix("torch.")}
    if isinstance(value, dict):
        return {str(key): describe(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [describe(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return type(value).__name__


def is_finite(output) -> bool:
    """No NaN in any floating tensor of the output. Infinities are allowed: masks and log-probabilities hold them."""
    if isinstance(output, torch.Tensor):
        return not (output.is_floating_point() and bool(torch.isnan(output).any()))
    if isinstance(output, dict):
        return all(is_finite(item) for item in output.values())
    if isinstance(output, (list, tuple)):
        return all(is_finite(item) for item in output)
    return True
