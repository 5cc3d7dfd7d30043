"""Target torchscript: a trace that libtorch interprets. Deprecated by torch, but it still runs."""

import warnings

import torch

from .recording import Recording


def build(recording: Recording, options, path: str) -> None:
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        traced = torch.jit.trace(recording.flat, recording.inputs, strict=False, check_trace=False)
        traced.save(path)
