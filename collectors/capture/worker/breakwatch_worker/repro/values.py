"""Python expressions for the arguments of a call."""

import itertools
import math

import torch

MOST_WRITTEN = 4096  # values of a tensor that are written out; more are drawn anew, with a seed
FEW = 16  # the same, in a file that should be short
_REPEATED = 8


class CannotWrite(Exception):
    """A value has no expression that a file could have."""


def expression(value, most_written: int = MOST_WRITTEN) -> str:
    """Raises CannotWrite."""
    if isinstance(value, torch.Tensor):
        return _tensor(value, most_written)
    if type(value) is dict:
        return "{" + ", ".join(f"{key!r}: {expression(item, most_written)}" for key, item in value.items()) + "}"
    if type(value) in (list, tuple):
        items = ", ".join(expression(item, most_written) for item in value)
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


def _tensor(tensor: torch.Tensor, most_written: int) -> str:
    if tensor.layout is not torch.strided or tensor.is_quantized or tensor.is_meta:
        raise CannotWrite(f"an argument is a tensor of layout {tensor.layout}")
    shape, kind = tuple(tensor.shape), "" if tensor.dtype is torch.float32 else f", dtype={tensor.dtype}"
    if not tensor.numel():
        return f"torch.zeros({shape}, dtype={tensor.dtype})"
    if bool((tensor == tensor.flatten()[0]).all()):
        return _filled(shape, tensor.flatten()[0].item(), f", dtype={tensor.dtype}")
    if tensor.is_floating_point() or tensor.is_complex():
        return f"torch.randn({shape}{kind})"
    if tensor.numel() <= most_written:
        return f"torch.tensor({_short(tensor.tolist())}{_of_integers(tensor)})"
    if tensor.dtype is torch.bool:
        return f"torch.rand({shape}) < 0.5"
    return f"torch.randint({int(tensor.min())}, {int(tensor.max()) + 1}, {shape}{_of_integers(tensor)})"


def _short(values) -> str:
    """A list, with a value that is repeated many times written once."""
    if not isinstance(values, list) or (values and isinstance(values[0], list)):
        return f"[{', '.join(map(_short, values))}]" if isinstance(values, list) else repr(values)
    parts = []
    for value, group in itertools.groupby(values):
        count = sum(1 for _ in group)
        parts += [f"*[{value!r}] * {count}"] if count >= _REPEATED else [repr(value)] * count
    return f"[{', '.join(parts)}]"


def _of_integers(tensor: torch.Tensor) -> str:
    """What torch.tensor makes of integers and truth values needs no dtype."""
    return "" if tensor.dtype in (torch.int64, torch.bool) else f", dtype={tensor.dtype}"


def _filled(shape: tuple, value, dtype: str) -> str:
    named = {0: "zeros", 1: "ones"}.get(value) if not isinstance(value, bool) else None
    return f"torch.{named}({shape}{dtype})" if named else f"torch.full({shape}, {_number(value)}{dtype})"
