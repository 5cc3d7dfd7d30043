"""Python expressions for the arguments of a call."""

import math

import torch

_MOST_WRITTEN = 4096  # values of a tensor that are written out; more are drawn anew, with a seed
_LINE = 100


class CannotWrite(Exception):
    """A value has no expression that a file could have."""


def expression(value) -> str:
    """Raises CannotWrite."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {expression(item)}" for key, item in value.items()) + "}"
    if type(value) in (list, tuple):
        items = ", ".join(map(expression, value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' if len(value) == 1 else ''})"
    if value is None or isinstance(value, (bool, int, str)):
        return repr(value)
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, (torch.dtype, torch.device)):
        return str(value) if isinstance(value, torch.dtype) else f"torch.device({str(value)!r})"
    raise CannotWrite(f"an argument is a {type(value).__name__}")


def _number(value) -> str:
    """Infinity and NaN have no literal."""
    return f"float({str(value)!r})" if isinstance(value, float) and not math.isfinite(value) else repr(value)


def _tensor(tensor: torch.Tensor) -> str:
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise CannotWrite(f"an argument is a tensor of layout {tensor.layout}")
    shape, dtype = tuple(tensor.shape), f"dtype={tensor.dtype}"
    if tensor.numel() and bool((tensor == tensor.flatten()[0]).all()):
        return f"torch.full({shape}, {_number(tensor.flatten()[0].item())}, {dtype})"
    if tensor.is_floating_point() or tensor.is_complex():
        return f"torch.randn({shape}, {dtype})"
    if tensor.numel() <= _MOST_WRITTEN:
        return f"torch.tensor({tensor.tolist()}, {dtype})"
    if tensor.dtype is torch.bool:
        return f"torch.rand({shape}) < 0.5"
    return f"torch.randint({int(tensor.min())}, {int(tensor.max()) + 1}, {shape}, {dtype})"
