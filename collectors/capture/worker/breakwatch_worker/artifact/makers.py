"""Writes the model of each target into its package. targets.yaml names the functions; each gets a Recording, the
Options and the path of the file, and returns findings for the result, or None."""

import os

import torch

from ..compilers import aot_inductor, onnx_runtime, outputs, torchscript
from ..compilers.program import exported
from . import package
from .options import Options
from .recording import Case, Recording


def make_aot_inductor(recording: Recording, options: Options, path: str) -> None:
    aot_inductor.save(_program(recording), path, options.cpu_capability)


def make_torchscript(recording: Recording, options: Options, path: str) -> None:
    torchscript.traced(recording.flat, recording.inputs).save(path)


def make_onnx(recording: Recording, options: Options, path: str) -> dict:
    """Compared with the eager outputs at once, because the runner cannot load it."""
    onnx_runtime.save(_program(recording), path)
    return {"check": check_onnx(recording, path)}


def _program(recording: Recording):
    return exported(recording.flat, recording.inputs, dynamic_shapes=recording.dynamic_shapes)


def check_onnx(recording: Recording, path: str) -> dict:
    """What `breakwatch-runner check` prints for the other targets."""
    session = onnx_runtime.Session(path, threads=1)
    cases, deterministic = [], True
    for number, case in enumerate(recording.cases):
        first, again = (session.run(case.inputs) for _ in range(2))
        cases.append({"inputs": package.inputs_file(number), "outputs": _compared(recording, case, first)})
        deterministic = deterministic and all(map(_are_same, first, again))
    wrong = _wrong(cases)
    return {"status": "wrong_result" if wrong else "ok", "detail": wrong, "runtime": session.runtime,
            "deterministic": deterministic, "cases": cases, "file": os.path.basename(path)}


def _compared(recording: Recording, case: Case, actual: list) -> list:
    if len(actual) != len(case.outputs):
        raise ValueError(f"the package returns {len(actual)} tensors instead of {len(case.outputs)}")
    return [_one(path, expected, got)
            for path, expected, got in zip(recording.paths, case.outputs, actual, strict=True)]


def _one(path: str, expected: torch.Tensor, actual: torch.Tensor) -> dict:
    why = outputs.why_not(expected, actual)
    same_kind = (expected.dtype, expected.shape) == (actual.dtype, actual.shape)
    (described,) = package.described([path], [actual], "path")
    return {**described, "within": not why, "why": why, **(outputs.numbers(expected, actual) if same_kind else {})}


def _are_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether the bytes are the same: NaN equals itself."""
    return one.shape == other.shape and one.numpy().tobytes() == other.numpy().tobytes()


def _wrong(cases: list) -> str:
    """The first output that differs; empty if none does."""
    every = [(case["inputs"], output) for case in cases for output in case["outputs"]]
    wrong = [(inputs, output) for inputs, output in every if not output["within"]]
    if not wrong:
        return ""
    inputs, output = wrong[0]
    differ = "output differs" if len(every) == 1 else "outputs differ"
    return f"{len(wrong)} of {len(every)} {differ} from eager; first: {output['path']} of {inputs}: {output['why']}"
