"""The run of a library model: tries its sizes from the smallest, builds without weights, calls once, captures."""

import dataclasses
from collections.abc import Callable

import torch

from .. import model_run, suggestions
from ..model import architecture, build


@dataclasses.dataclass
class Candidate:
    """One size of a model to try. If `make` or `arguments` raises, the next candidate is tried."""

    depth: str  # "reduced", "full" or "original"
    note: str
    make: Callable
    arguments: Callable


def construct(make) -> torch.nn.Module:
    """`make()` without random draws, in float32. See `build.without_draws`."""
    return build.without_draws(make).float()


class LibraryRun(model_run.ModelRun):
    """Captures the first of `candidates()` that builds and runs eagerly. If there is none, the last failure is
    reported, except one about the candidate's size."""

    origin = suggestions.LIBRARY

    def candidates(self):
        raise NotImplementedError

    def notes(self) -> list:
        return []

    def run(self) -> dict:
        reported_failure = None
        for candidate in self.candidates():
            ready, failed = self._try(self._ready, candidate)
            if ready is not None:
                model, summary = ready
                self._known.update(depth=candidate.depth, dtype="float32")
                if hasattr(model, "parameters"):
                    self._known["params"] = build.parameter_count(model)
                return self._capture(summary, ([candidate.note] if candidate.note else []) + self.notes())
            bounded = failed["status"] in ("skipped_too_large", "out_of_memory")
            reported_failure = reported_failure if reported_failure and bounded else failed
            if failed["status"] in ("skipped_missing_dependency", "failed_inputs"):
                break  # another size has the same dependencies and arguments
            self._phases.enter("create")
        return {**self._known, **reported_failure}

    def _ready(self, candidate: Candidate) -> tuple:
        model = candidate.make()
        self._phases.enter("inputs")
        return model, self._called(model, lambda: candidate.arguments(model))


def need(module: str):
    """The library. Raises Stop with its name if it is not installed."""
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise architecture.Stop("skipped_missing_dependency", f"needs {error.name}: {error}",
                                architecture.how_to_install(error.name)) from error
