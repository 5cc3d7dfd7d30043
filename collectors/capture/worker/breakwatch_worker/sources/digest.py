"""The hash of a module, which is the same in every run of a script: from its class, its structure and its source."""

import functools
import hashlib
import inspect

from torch.nn.parameter import is_lazy

_MAX_CLASSES = 512
DIGITS = 12


@functools.lru_cache(4096)
def source_of(cls: type) -> str:
    """The source text of a class; '' for a class of torch, which its name identifies."""
    if cls.__module__.split(".")[0] == "torch":
        return ""
    try:
        return inspect.getsource(cls)
    except (OSError, TypeError):  # made at run time or in a shell
        return ""


def digest_of(module) -> str:
    """A digest of the class name, the names and shapes of the state, and the sources of all classes; not of the
    weights."""
    digest = hashlib.sha256(f"{type(module).__qualname__}\0".encode())
    for name, value in module.state_dict(keep_vars=True).items():
        shape = type(value).__name__ if is_lazy(value) or not hasattr(value, "shape") else tuple(value.shape)
        digest.update(f"{name}{shape}\0".encode())
    classes = dict.fromkeys(type(part) for part in module.modules())
    for cls in list(classes)[:_MAX_CLASSES]:
        digest.update(f"{cls.__qualname__}\0{source_of(cls)}\0".encode("utf-8", "replace"))
    return digest.hexdigest()[:DIGITS]
