"""Comparison of what a model returns with a fix and without it."""

import torch

from ..compilers import outputs
from ..inputs.copies import tensors_in

_MOST_BYTES = 256 << 20  # of all kept tensors


def kept(output) -> dict:
    """path -> a copy of each plain tensor of the output, in order, up to a limit."""
    found, size = {}, 0
    for path, tensor in tensors_in(output):
        if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
            continue
        size += tensor.numel() * tensor.element_size()
        if size > _MOST_BYTES:
            break
        found[path] = tensor.detach().to("cpu", copy=True).contiguous()
    return found


def compare(wanted: dict, got: dict) -> tuple:
    """(how they differ, empty if they do not; the largest difference of a number, None if none was compared; the
    outputs that only one of them has). Outputs that both have are compared; by their order if none has a name that both
    know, as in a tuple instead of an object."""
    if wanted and not wanted.keys() & got.keys() and len(wanted) == len(got):
        got = dict(zip(wanted, got.values(), strict=True))
    both = [path for path in wanted if path in got]
    missing = [path for path in (*wanted, *got) if not (path in wanted and path in got)]
    if wanted and not both:
        return "no output of the model is left", None, missing
    largest, text = None, ""
    for path in both:
        differs, most = _difference(wanted[path], got[path])
        text = text or (f"{path or 'output'}: {differs}" if differs else "")
        largest = most if largest is None else max(largest, most) if most is not None else largest
    return text, largest, missing


def _difference(wanted: torch.Tensor, got: torch.Tensor) -> tuple:
    """(how two tensors differ, the largest difference or None)."""
    comparable = wanted.shape == got.shape and wanted.dtype == got.dtype and wanted.dtype in outputs.TOLERANCES
    most = outputs.numbers(wanted, got).get("max_abs") if comparable and wanted.numel() else None
    return outputs.why_not(wanted, got), most
