"""What the libraries' attempts share: sizes tried from the smallest, a build without weights, one call, the capture."""

import dataclasses
from collections.abc import Callable

import torch

from .. import attempt
from ..model import architecture, build


@dataclasses.dataclass
class Way:
    """One way to build and call a model. `make` and `arguments` may raise: the next way is then tried."""

    depth: str  # "reduced", "full" or "original"
    note: str
    make: Callable
    arguments: Callable


def construct(make) -> torch.nn.Module:
    """`make()` without random draws, in float32. See `build.without_draws`."""
    return build.without_draws(make).float()


class PlainAttempt(attempt.Attempt):
    """Runs the first of `ways()` that builds and answers an eager call. Else the last one's failure is the model's own,
    unless that is its size."""

    def ways(self):
        raise NotImplementedError

    def notes(self) -> list:
        return []

    def run(self) -> dict:
        said = None
        for way in self.ways():
            ready, failed = self._try(self._ready, way)
            if ready is not None:
                model, summary = ready
                self._known.update(depth=way.depth, dtype="float32")
                if hasattr(model, "parameters"):
                    self._known["params"] = build.parameter_count(model)
                return self._capture(summary, ([way.note] if way.note else []) + self.notes())
            bounded = failed["status"] in ("skipped_too_large", "out_of_memory")
            said = said if said and bounded else failed
            if failed["status"] in ("skipped_missing_dependency", "failed_inputs"):
                break  # another size has no other dependencies and takes no other arguments
            self._phases.enter("create")
        return {**self._known, **said}

    def _ready(self, way: Way) -> tuple:
        model = way.make()
        self._phases.enter("inputs")
        return model, self._called(model, lambda: way.arguments(model))


def need(module: str):
    """The library, or Stop with its name where it is not installed."""
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise architecture.Stop("skipped_missing_dependency", f"needs {error.name}: {error}") from error
