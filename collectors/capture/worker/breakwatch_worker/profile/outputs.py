"""Whether a backend computes what the model computes: comparison of outputs with those of the eager call."""

import torch

from ..inputs.copies import tensors_in

# (relative, absolute) tolerance by dtype. Other dtypes must be equal.
TOLERANCES = {
    torch.float64: (1e-6, 1e-8), torch.float32: (2e-3, 2e-4), torch.float16: (2e-2, 2e-2),
    torch.bfloat16: (5e-2, 5e-2), torch.complex64: (2e-3, 2e-4),
}


def flat(output) -> list:
    """The tensors of an output, in order."""
    return [tensor.detach() for _, tensor in tensors_in(output)]


def difference(wanted: list, got: list) -> str:
    """How two lists of tensors differ, in one sentence; empty if they do not."""
    if len(wanted) != len(got):
        return f"{len(got)} tensors instead of {len(wanted)}"
    for place, (one, other) in enumerate(zip(wanted, got, strict=True)):
        if text := _difference(one.cpu(), other.cpu()):
            return f"output {place}: {text}"
    return ""


def _difference(wanted: torch.Tensor, got: torch.Tensor) -> str:
    if wanted.shape != got.shape:
        return f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    if wanted.dtype != got.dtype:
        return f"{got.dtype} instead of {wanted.dtype}".replace("torch.", "")
    if wanted.dtype not in TOLERANCES:
        return "" if torch.equal(wanted, got) else "its values differ"
    relative, absolute = TOLERANCES[wanted.dtype]
    if torch.allclose(got, wanted, relative, absolute, equal_nan=True):
        return ""
    worst = (got - wanted).abs().nan_to_num(float("inf")).max().item()
    return f"its values differ by up to {worst:.3g}"
