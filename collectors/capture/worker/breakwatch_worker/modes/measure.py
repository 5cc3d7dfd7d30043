"""Modes `profile` and `bench`: the capture of `eval`, then measurements (package profile)."""

import torch

from ..model.architecture import Stop
from ..profile.options import options_of
from .base import Call, Found, Mode

_NO_CUDA = "measure.device is cuda: torch finds no CUDA device here"


class Profile(Mode):
    """Times each graph and the Python code between graphs."""

    in_graphs = True
    detail_bytes = 1000 << 10

    def configure(self, job: dict) -> None:
        self._options = options_of(job)
        if self._options.device == "cuda" and not torch.cuda.is_available():
            raise Stop("skipped_missing_dependency", _NO_CUDA, "measure on a machine with a CUDA device, or on the cpu")

    def capture(self, call: Call) -> Found:
        from ..profile.measurement import Measurement

        found = self._trace(call)
        if found.error is not None:
            return Found(found, error=found.error)
        measurement = Measurement(call, self._options, self.in_graphs)
        return Found(found, mode_detail=measurement.detail())


class Bench(Profile):
    """Times whole models, as their users run them."""

    in_graphs = False
