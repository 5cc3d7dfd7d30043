"""The job's `build`: what is built, from which weights, and where to."""

import dataclasses
import os

from ..model.architecture import Stop
from . import targets

CAPABILITIES = ("", "avx512", "avx2", "default")  # the first: this machine's
_MOST_BATCH = 1 << 12


@dataclasses.dataclass(frozen=True)
class Options:
    targets: tuple = ()
    folder: str = ""  # one folder for each target is made in it
    batch: int = 1
    dynamic: bool = False  # the batch is a symbol
    full: bool = False  # the configuration as published
    seed: int = 0  # of random weights
    weights: str = ""  # a folder with safetensors files; random if empty
    cpu_capability: str = ""

    @property
    def published(self) -> bool:
        """Published weights fit no reduced model."""
        return self.full or bool(self.weights)


def _is_int(value, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _are_targets(value) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(name in targets.names() for name in value)


# What each field accepts: a test, and its text in an error.
_FIELDS = {
    "targets": (_are_targets, lambda: f"a list of {', '.join(targets.names())}"),
    "folder": (lambda value: isinstance(value, str) and os.path.isabs(value), lambda: "an absolute path"),
    "batch": (lambda value: _is_int(value, 1, _MOST_BATCH), lambda: f"a batch size from 1 to {_MOST_BATCH}"),
    "dynamic": (lambda value: isinstance(value, bool), lambda: "true or false"),
    "full": (lambda value: isinstance(value, bool), lambda: "true or false"),
    "seed": (lambda value: _is_int(value, 0, 2**31 - 1), lambda: "a number from 0 to 2147483647"),
    "weights": (lambda value: value == "" or isinstance(value, str) and os.path.isabs(value),
                lambda: "empty or an absolute path"),
    "cpu_capability": (lambda value: value in CAPABILITIES, lambda: f"one of {', '.join(CAPABILITIES[1:])}, or empty"),
}


def options_of(job: dict) -> Options:
    """Raises Stop with failed_create and the name of a field with a wrong value, or of one that is missing."""
    given = job.get("build")
    if not isinstance(given, dict):
        raise _wrong("build", given, "an object with targets and folder")
    for name, (accepts, what) in _FIELDS.items():
        if (name in given or name in ("targets", "folder")) and not accepts(given.get(name)):
            raise _wrong(f"build.{name}", given.get(name), what())
    return Options(**{name: tuple(value) if isinstance(value, list) else value
                      for name, value in given.items() if name in _FIELDS})


def _wrong(field: str, value, what: str) -> Stop:
    return Stop("failed_create", f"{field}: {str(value)[:80]!r} is not {what}", f"set {field} to {what}")
