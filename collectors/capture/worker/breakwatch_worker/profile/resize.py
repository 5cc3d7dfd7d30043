"""The call with another batch size or length."""

import dataclasses

import torch

from ..inputs.copies import tensors_in, with_rows
from ..modes.base import Call


class CannotResize(Exception):
    """The arguments of this model have no such size."""


def batch_of(call: Call) -> int:
    """The batch size: with recipes the named size, otherwise the first size above 1 of a tensor; else 1."""
    if call.sizes is not None:
        return int(call.sizes("batch"))
    sizes = [tensor.shape[0] for _, tensor in tensors_in((call.positional, call.arguments))
             if tensor.dim() and type(tensor.shape[0]) is int]
    return next((size for size in sizes if size > 1), 1)


def length_of(call: Call) -> int:
    """The length of sequences of a model with recipes; 0 if it has none."""
    try:
        return int(call.sizes("seq")) if call.sizes is not None and "input_ids" in call.arguments else 0
    except Exception:  # the config lacks what the recipe needs
        return 0


def resized(call: Call, batch: int, seq: int) -> Call:
    """The call with this batch size, and this length unless it is 0. Raises CannotResize."""
    old, length = batch_of(call), length_of(call)
    if seq and not length:
        raise CannotResize("its arguments have no length to change")
    if call.remake is not None:
        vary = {"batch": (batch, old)} if batch != old else {}
        if seq and seq != length:
            vary["seq"] = (seq, length)
        return dataclasses.replace(call, arguments=call.remake(vary), forks=False) if vary else call
    if batch == old:
        return call
    rows = torch.arange(batch) % old
    positional, named = call.given(
        lambda tensor: with_rows(tensor, rows) if tensor.dim() and tensor.shape[0] == old else None)
    return dataclasses.replace(call, positional=positional, arguments=named)
