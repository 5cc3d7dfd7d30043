"""What the libraries' attempts share: sizes tried from the smallest, a build without weights, one call, the capture."""

import dataclasses
from collections.abc import Callable

import torch

from .. import architecture, attempt, build, failure, weights


@dataclasses.dataclass
class Way:
    """One way to build and call a model. `make` and `arguments` may raise: the next way is then tried."""

    depth: str  # "reduced", "full" or "original"
    note: str
    make: Callable
    arguments: Callable


def construct(make) -> torch.nn.Module:
    """`make()` without random draws, on the CPU, in float32 and eval mode; TooLarge where it passes the bound."""
    torch.manual_seed(0)
    deferred = weights.Deferred()
    with deferred.active():
        model = make()
        if (size := build.byte_count(model)) > build.MAX_BYTES:
            raise build.TooLarge(f"{type(model).__name__} takes {size / 2**30:.1f} GiB as configured")
        deferred.settle(model)
    return model.float().eval()


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
            model = None
            try:
                model, arguments, summary = self._ready(way)
            except architecture.Stop:
                raise
            except Exception as error:
                failed = {**failure.of(self._phases.current, error), "phase": self._phases.current}
                error.__traceback__ = error.__context__ = error.__cause__ = None
            if model is not None:
                self._known.update(depth=way.depth, dtype="float32")
                if hasattr(model, "parameters"):
                    self._known["params"] = sum(p.numel() for p in model.parameters())
                notes = ([way.note] if way.note else []) + summary["gaps"] + self.notes()
                return self._capture(model, arguments, summary, notes)
            bounded = failed["status"] in ("skipped_too_large", "out_of_memory")
            said = said if said and bounded else failed
            if failed["status"] in ("skipped_missing_dependency", "failed_inputs"):
                break  # another size has no other dependencies and takes no other arguments
            self._phases.enter("create")
        return {**self._known, **said}

    def _ready(self, way: Way) -> tuple:
        model = way.make()
        self._phases.enter("inputs")
        arguments = way.arguments(model)
        return model, arguments, {"finite": self._is_finite(model, arguments), "gaps": []}


def need(module: str):
    """The library, or Stop with its name where it is not installed."""
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise architecture.Stop("skipped_missing_dependency", f"needs {error.name}: {error}") from error
