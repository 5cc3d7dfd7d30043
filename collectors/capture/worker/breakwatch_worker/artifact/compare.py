"""Compares outputs with the recorded ones, with the numbers that breakwatch-runner prints."""

import torch

from .recording import Case, Recording

# (relative, absolute) by dtype. Other dtypes must be equal.
TOLERANCES = {
    torch.float64: (1e-6, 1e-8), torch.float32: (2e-3, 2e-4), torch.float16: (2e-2, 2e-2),
    torch.bfloat16: (5e-2, 5e-2), torch.complex64: (2e-3, 2e-4),
}


def inputs_file(case: int) -> str:
    """The name of the file with the inputs of a case, from 0."""
    return "inputs.safetensors" if case == 0 else f"inputs-{case + 1}.safetensors"


def outputs_file(case: int) -> str:
    return inputs_file(case).replace("inputs", "outputs")


def all_outputs(recording: Recording, case: Case, actual: list) -> list:
    if len(actual) != len(case.outputs):
        raise ValueError(f"the package returns {len(actual)} tensors instead of {len(case.outputs)}")
    return [one_output(path, expected, got)
            for path, expected, got in zip(recording.paths, case.outputs, actual, strict=True)]


def one_output(path: str, expected: torch.Tensor, actual: torch.Tensor) -> dict:
    described = {"path": path, "dtype": str(actual.dtype).removeprefix("torch."), "shape": list(actual.shape)}
    if expected.dtype != actual.dtype or expected.shape != actual.shape:
        return {**described, "within": False, "why": f"it is not {expected.dtype} {list(expected.shape)}"}
    relative, absolute = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    close = torch.isclose(actual, expected, relative, absolute, equal_nan=True)
    one, other = expected.to(torch.float64), actual.to(torch.float64)
    nan_equal = bool(torch.equal(one.isnan(), other.isnan()))
    away = (other - one).abs().nan_to_num(0.0)
    worst = int(away.argmax()) if away.numel() else 0
    cosine = torch.nn.functional.cosine_similarity(one.flatten().nan_to_num(), other.flatten().nan_to_num(), 0)
    return {**described, "within": bool(close.all()), "max_abs": float(away.max()) if away.numel() else 0.0,
            "cosine": float(cosine), "worst": _indices(worst, list(expected.shape)), "nan_positions_equal": nan_equal}


def _indices(flat: int, shape: list) -> list:
    indices = []
    for size in reversed(shape):
        indices.insert(0, flat % size if size else 0)
        flat //= size or 1
    return indices
