"""The job's `dtype` and `attention`: what the user asks for instead of float32 and of the library's choice."""

import torch
from torch.utils import _pytree

from . import architecture

_DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
_ATTENTIONS = ("eager", "sdpa", "flex_attention")


def dtype_of(job: dict) -> torch.dtype:
    name = job.get("dtype") or "float32"
    if name not in _DTYPES:
        raise architecture.Stop("failed_create", f"unknown dtype {name!r}")
    return _DTYPES[name]


def dtype_name(job: dict) -> str:
    return str(dtype_of(job)).removeprefix("torch.")


def check_supported(job: dict, plain: bool) -> None:
    """Raises Stop if the job asks for either, but its model is not a `plain` one of transformers."""
    if not plain and (job.get("attention") or dtype_of(job) is not torch.float32):
        raise architecture.Stop("failed_create", "dtype and attention are supported for models of transformers only",
                                "remove dtype and attention of this model from models.yaml")


def set_attention(job: dict, config) -> None:
    name = job.get("attention")
    if not name:
        return
    if name not in _ATTENTIONS:
        raise architecture.Stop("failed_create", f"unknown attention {name!r}")
    config._attn_implementation = name


def cast(job: dict, model: torch.nn.Module) -> None:
    """Gives a model that was built in float32 the dtype of the job."""
    dtype = dtype_of(job)
    if dtype is torch.float32:
        return
    model.to(dtype)
    for module in model.modules():
        if (config := getattr(module, "config", None)) is not None and hasattr(config, "to_dict"):
            config.dtype = dtype


def cast_arguments(job: dict, arguments: dict) -> dict:
    """The arguments of `forward` with their float32 tensors in the dtype of the job, as its users pass them."""
    dtype = dtype_of(job)
    if dtype is torch.float32:
        return arguments

    def as_asked(value):
        is_float = isinstance(value, torch.Tensor) and value.dtype is torch.float32
        return value.to(dtype) if is_float else value

    return _pytree.tree_map(as_asked, arguments)
