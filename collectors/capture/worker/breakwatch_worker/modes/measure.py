"""Modes `profile` and `bench`: the capture of `eval`, then measurements (package profile)."""

import time

from ..model.architecture import Stop
from ..process import fork, host
from ..profile.measurement import Measurement
from ..profile.options import options_of
from .base import Call, Found, Mode

_NOISY = "measured on a machine that was not quiet"
_NO_CUDA = "measure.device is cuda: torch finds no CUDA device here"


class Profile(Mode):
    """Times each graph and the Python code between graphs."""

    in_graphs = True
    detail_bytes = 1000 << 10

    def configure(self, job: dict) -> None:
        self._options = options_of(job)
        if self._options.device == "cuda" and not fork.call(host.show_cuda):
            raise Stop("skipped_missing_dependency", _NO_CUDA, "measure on a machine with a CUDA device, or on the cpu")

    def capture(self, call: Call) -> Found:
        begun = time.monotonic()
        found = self._trace(call)
        if found.error is not None:
            return Found(found, error=found.error)
        detail = Measurement(call, self._options, self.in_graphs, begun).detail()
        return Found(found, mode_detail=detail, notes=[] if detail["noise"]["quiet"] else [_NOISY])


class Bench(Profile):
    """Times whole models, as their users run them."""

    in_graphs = False
