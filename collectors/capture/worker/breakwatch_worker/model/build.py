"""Makes the model: its class called on its config, without weights and without random draws."""

import contextlib
import traceback

import torch
from torch.nn.parameter import is_lazy

from ..inputs.make_values import sub_configs
from . import weights


class TooLarge(Exception):
    """The model does not fit the bound on what a capture may allocate."""


MAX_BYTES = 7 << 29  # of parameters and buffers; with activations a capture stays under 6 GB


def byte_count(model: torch.nn.Module) -> int:
    seen = {}
    for tensor in (*model.parameters(), *model.buffers()):
        if is_lazy(tensor) or tensor.layout is not torch.strided:
            continue  # of no size yet, or of none that strides tell
        seen[tensor.data_ptr() if not tensor.is_meta else id(tensor)] = tensor.numel() * tensor.element_size()
    return sum(seen.values())


def parameter_count(model: torch.nn.Module) -> int:
    """Without those that get their size from the first call, until then."""
    return sum(int(parameter.numel()) for parameter in model.parameters() if not is_lazy(parameter))


def make_float(config) -> None:
    """float32 everywhere: on a CPU half precision lacks operators, and what is counted does not depend on it."""
    config.dtype = torch.float32
    for node in (config, *vars(config).values()):  # parts that say it by a key of their own
        if getattr(node, "fp16_esm", None) is True:
            node.fp16_esm = False
    for name in getattr(config, "sub_configs", None) or ():
        sub = getattr(config, name, None)
        if sub is not None and hasattr(sub, "to_dict"):
            make_float(sub)


def leave_out_weights(config) -> None:
    """Some releases of transformers load published weights of a backbone into a new model; no count needs them."""
    for node in sub_configs(config):
        if getattr(node, "use_pretrained_backbone", False):
            node.use_pretrained_backbone = False


def construct(cls, config, filled: bool = True) -> torch.nn.Module:
    """The model of a config, in float32. See `without_draws`."""
    make_float(config)
    leave_out_weights(config)

    def make() -> torch.nn.Module:
        return cls._from_config(config) if hasattr(cls, "_from_config") else cls(config)

    try:
        return without_draws(make, filled)
    except Exception as error:
        if not _is_of_initialisation(error):
            raise
    with _keeping_what_torch_gave(cls):
        return without_draws(make, filled)


def _is_of_initialisation(error: BaseException) -> bool:
    """Whether the code that gives a model its weights failed, which loading published ones never runs."""
    return any(frame.name == "_init_weights" for frame in traceback.extract_tb(error.__traceback__))


@contextlib.contextmanager
def _keeping_what_torch_gave(cls):
    """A module that the class fails to initialise keeps the weights that torch gave it."""
    initialise = cls._init_weights

    def _init_weights(self, module):
        with contextlib.suppress(Exception):
            initialise(self, module)

    cls._init_weights = _init_weights
    try:
        yield
    finally:
        cls._init_weights = initialise


def without_draws(make, filled: bool = True) -> torch.nn.Module:
    """`make()` on the CPU in eval mode. Memory is reserved first and written only once its size is known to be small,
    and not at all where it need not be `filled`. TooLarge where it passes the bound."""
    torch.manual_seed(0)
    deferred = weights.Deferred()
    with deferred.active():
        model = make()
        if (size := byte_count(model)) > MAX_BYTES:
            raise TooLarge(f"{type(model).__name__} takes {size / 2**30:.1f} GiB as configured")
        if filled:
            deferred.settle(model)
    return model.eval()
