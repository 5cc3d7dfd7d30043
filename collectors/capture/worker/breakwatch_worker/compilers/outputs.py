"""Compares outputs with those of the eager call, in the same way as breakwatch-runner (artifact/src/compare.cc)."""

import math

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
        if text := why_not(one.cpu(), other.cpu()):
            return f"output {place}: {text}"
    return ""


def why_not(wanted: torch.Tensor, got: torch.Tensor) -> str:
    """Why `got` is not within the tolerance; empty if it is."""
    if wanted.shape != got.shape:
        return f"shape {list(got.shape)} instead of {list(wanted.shape)}"
    if wanted.dtype != got.dtype:
        return f"{got.dtype} instead of {wanted.dtype}".replace("torch.", "")
    if wanted.dtype not in TOLERANCES:
        return "" if torch.equal(wanted, got) else "its values differ"
    wanted, got = _real(wanted), _real(got)
    if not torch.equal(wanted.isnan(), got.isnan()):
        return "NaN in other places, so its values differ"
    if torch.allclose(got, wanted, *_tolerance(wanted), equal_nan=True):
        return ""
    return f"its values differ by up to {float(_apart(_double(wanted), _double(got)).max()):.3g}"


def numbers(wanted: torch.Tensor, got: torch.Tensor) -> dict:
    """The numbers that breakwatch-runner prints, of tensors of the same dtype and shape. Only numbers that JSON has."""
    wanted, got = _real(wanted), _real(got)
    relative, absolute = _tolerance(wanted)
    one, other = _double(wanted), _double(got)
    nan_equal = torch.equal(one.isnan(), other.isnan())
    apart = _apart(one, other)
    found = {"nan_positions_equal": nan_equal, "max_abs": 0.0, "max_rel": 0.0, "worst": []}
    if apart.numel():
        parts = torch.where(apart == 0, 0.0, apart / one.abs())  # of the expected value
        badness = torch.where(apart == 0, 0.0, apart / (absolute + relative * one.abs()))
        badness = badness.nan_to_num(math.inf, math.inf)  # inf / inf: only one of the two is infinite
        badness = torch.where(one.isnan() & other.isnan(), 0.0, badness)
        found.update(max_abs=float(apart.nan_to_num(0.0, math.inf).max()),
                     max_rel=float(parts.nan_to_num(0.0, math.inf).max()))
        if float(badness.max()) > 0:
            found["worst"] = [int(place) for place in torch.unravel_index(badness.argmax(), badness.shape)]
        both = ~(one.isnan() | other.isnan())
        length = (one[both] @ one[both]).sqrt() * (other[both] @ other[both]).sqrt()
        found["cosine"] = min(1.0, float(one[both] @ other[both] / length))
    return {name: value for name, value in found.items() if not isinstance(value, float) or math.isfinite(value)}


def _tolerance(tensor: torch.Tensor) -> tuple:
    by_real = {dtype.to_real(): value for dtype, value in TOLERANCES.items()}
    return by_real.get(tensor.dtype, (0.0, 0.0))


def _real(tensor: torch.Tensor) -> torch.Tensor:
    """Complex numbers as pairs: each part has to be within the tolerance."""
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _double(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.to(torch.float64)


def _apart(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """The differences. Equal infinities do not differ."""
    return torch.where(one == other, 0.0, (other - one).abs())
