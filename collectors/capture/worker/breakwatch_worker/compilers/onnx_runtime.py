"""ONNX: a file for ONNX Runtime, and its session on the CPU provider."""

import torch

from ..process import tuning

_MOST_BYTES = 1800 << 20  # of a file; more weights are written beside it


class NotConverted(Exception):
    """torch.onnx cannot convert the program; the text names the error behind its advice."""


def save(program, path: str) -> None:
    """Writes the exported program, with the parameters as constants."""
    try:
        with torch.no_grad():
            model = torch.onnx.export(program, dynamo=True, verbose=False)
    except Exception as error:  # its text is advice; the first of the chain has the cause
        first = error
        while first.__cause__ is not None:
            first = first.__cause__
        raise NotConverted(f"{type(first).__name__}: {first}") from error
    size = sum(tensor.nbytes for tensor in program.state_dict.values())
    model.save(path, external_data=size > _MOST_BYTES)


class Session:
    """A loaded model. Denormal numbers are flushed if this process flushes them."""

    def __init__(self, path: str, threads: int):
        import onnxruntime

        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        settings.add_session_config_entry(
            "session.set_denormal_as_zero", "1" if tuning.flushes_denormals() else "0")
        self._session = onnxruntime.InferenceSession(path, settings, ["CPUExecutionProvider"])
        self._names = [value.name for value in self._session.get_inputs()]
        self.runtime = f"onnxruntime {onnxruntime.__version__}"

    def run(self, tensors) -> list:
        """The outputs for these inputs, in the order of the exported call."""
        if len(tensors) != len(self._names):
            raise ValueError(f"the program has {len(self._names)} inputs, the call has {len(tensors)} tensors")
        feed = {name: tensor.detach().contiguous().numpy()
                for name, tensor in zip(self._names, tensors, strict=True)}
        return [torch.from_numpy(value) for value in self._session.run(None, feed)]
