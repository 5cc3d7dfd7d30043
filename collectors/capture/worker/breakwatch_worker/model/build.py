"""Builds the model from its class and config, without published weights and without random draws."""

import contextlib
import functools
import itertools
import traceback

import torch
from torch.nn.parameter import is_lazy

from .. import restore
from ..errors import WorkerError
from ..inputs.make_values import sub_configs
from ..tables import read_beside
from . import weights


class TooLarge(WorkerError):
    """The model exceeds the limit on parameters and buffers."""


MAX_BYTES = 7 << 29  # of parameters and buffers; with activations a capture stays under 6 GB
_SHARE_PUBLISHED = 0.6  # of the memory limit: for the parameters and buffers of a configuration as published


def allow_published(limit_bytes: int) -> None:
    """Allows this process models as large as its limit of resident memory permits."""
    global MAX_BYTES
    MAX_BYTES = max(MAX_BYTES, int(_SHARE_PUBLISHED * limit_bytes))


def byte_count(model: torch.nn.Module) -> int:
    seen = {}
    for tensor in (*model.parameters(), *model.buffers()):
        if is_lazy(tensor) or tensor.layout is not torch.strided:
            continue  # its size is unknown: lazy or not strided
        seen[tensor.data_ptr() if not tensor.is_meta else id(tensor)] = tensor.numel() * tensor.element_size()
    return sum(seen.values())


def parameter_count(model: torch.nn.Module) -> int:
    """The number of parameters, without lazy ones before the first call."""
    return sum(int(parameter.numel()) for parameter in model.parameters() if not is_lazy(parameter))


def make_float(config) -> None:
    """Sets float32 everywhere: CPUs lack operators in half precision, and no count depends on it."""
    config.dtype = torch.float32
    for name in getattr(config, "sub_configs", None) or ():
        sub = getattr(config, name, None)
        if sub is not None and hasattr(sub, "to_dict"):
            make_float(sub)


@functools.cache
def _switched_off() -> list:
    return [entry["key"] for entry in read_beside(__file__, "switched_off.yaml")["keys"]]


def switch_off(config) -> None:
    """Sets the keys of switched_off.yaml to false, also in parts of a config that are no configs themselves."""
    for node in sub_configs(config):
        for part, key in itertools.product((node, *vars(node).values()), _switched_off()):
            if getattr(part, key, None) is True:
                setattr(part, key, False)


def construct(cls, config, filled: bool = True) -> torch.nn.Module:
    """The model of a config, in float32. See `without_draws`."""
    make_float(config)
    switch_off(config)

    def make() -> torch.nn.Module:
        return cls._from_config(config) if hasattr(cls, "_from_config") else cls(config)

    try:
        return without_draws(make, filled)
    except Exception as error:
        if not _is_of_initialisation(error):
            raise
    with _ignoring_failed_initialisation(cls):
        return without_draws(make, filled)


def _is_of_initialisation(error: BaseException) -> bool:
    """Whether the code that initialises weights failed. Loading published weights never runs this code."""
    return any(frame.name == "_init_weights" for frame in traceback.extract_tb(error.__traceback__))


def _ignoring_failed_initialisation(cls):
    """Inside this context, a module that the class fails to initialise keeps the weights from torch."""
    initialise = cls._init_weights

    def _init_weights(self, module):
        with contextlib.suppress(Exception):
            initialise(self, module)

    return restore.replaced(cls, _init_weights=_init_weights)


def without_draws(make, filled: bool = True) -> torch.nn.Module:
    """The model that `make()` builds, on the CPU in eval mode. Memory is reserved first, and written if the model is
    small enough and should be `filled`. Raises TooLarge."""
    torch.manual_seed(0)
    deferred = weights.Deferred()
    with deferred.active():
        model = make()
        if (size := byte_count(model)) > MAX_BYTES:
            raise TooLarge(f"{type(model).__name__} takes {size / 2**30:.1f} GiB as configured; "
                           f"{MAX_BYTES / 2**30:.1f} GiB are allowed")
        if filled:
            deferred.settle(model)
    return model.eval()
