"""Target onnx: a model for ONNX Runtime, compared with the eager outputs at once, because the runner cannot load it."""

import os

import torch

from . import compare
from .aot_inductor import export
from .recording import Recording

_MOST_BYTES = 1800 << 20  # of a file; more weights are written beside it


def build(recording: Recording, options, path: str) -> dict:
    program = export(recording)
    with torch.no_grad():
        model = torch.onnx.export(program, dynamo=True, verbose=False)
    size = sum(tensor.nbytes for tensor in recording.flat.state_dict().values())
    model.save(path, external_data=size > _MOST_BYTES)
    return {"check": check(recording, path)}


def check(recording: Recording, path: str) -> dict:
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    settings.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, settings, ["CPUExecutionProvider"])
    names = [value.name for value in session.get_inputs()]
    cases = []
    for number, case in enumerate(recording.cases):
        first, again = (_run(session, names, case.inputs) for _ in range(2))
        cases.append({"inputs": compare.inputs_file(number), "outputs": compare.all_outputs(recording, case, first)})
        same = all(torch.equal(one, two) for one, two in zip(first, again, strict=True))
    within = all(output["within"] for case in cases for output in case["outputs"])
    return {"status": "ok" if within else "wrong_result", "runtime": f"onnxruntime {onnxruntime.__version__}",
            "deterministic": same, "cases": cases, "file": os.path.basename(path)}


def _run(session, names: list, inputs: tuple) -> list:
    feed = {name: tensor.numpy() for name, tensor in zip(names, inputs, strict=True)}
    return [torch.from_numpy(value) for value in session.run(None, feed)]
