"""TorchScript: a trace that libtorch interprets. Deprecated by torch, but it still runs."""

import warnings

import torch


class CannotTrace(Exception):
    """torch.jit.trace does not take this call."""


def traced(module: torch.nn.Module, positional: tuple, named: dict = None):
    if named and positional:
        raise CannotTrace("torch.jit.trace takes arguments by position or by name, not both")
    call = {"example_kwarg_inputs": named} if named else {"example_inputs": positional}
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        return torch.jit.trace(module, **call, strict=False, check_trace=False)
