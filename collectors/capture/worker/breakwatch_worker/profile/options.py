"""The job's `measure`: what is measured, and for how long."""

import dataclasses

from ..model.architecture import Stop

BACKENDS = ("eager", "inductor", "aot_inductor", "onnxruntime", "torchscript")
PLAIN = "plain"  # in the totals of a profile: the model called without torch.compile
_DEVICES = ("cpu", "cuda")
_MOST = 1 << 20  # of a batch or a length


@dataclasses.dataclass(frozen=True)
class Options:
    """Times are in seconds."""

    backends: tuple = BACKENDS
    batches: tuple = (1,)
    seq: int = 0  # 0: the recipe's own length
    dynamic: bool = False  # one more profile, with dynamic shapes
    threads: int = 1
    device: str = "cpu"
    full: bool = False  # the configuration as published
    min_runs: int = 30
    min_s: float = 5.0

    @property
    def most_s(self) -> float:
        """A cell ends at this time, even with fewer than `min_runs`."""
        return 20 * self.min_s

    def described(self) -> dict:
        return {**dataclasses.asdict(self), "backends": list(self.backends), "batches": list(self.batches)}


def _is_int(value, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST


def _is_list(value, of) -> bool:
    return isinstance(value, (list, tuple)) and 0 < len(value) <= 16 and all(map(of, value))


# What each field accepts: a test, and its text in an error.
_FIELDS = {
    "backends": (lambda value: _is_list(value, lambda name: name in BACKENDS), f"one or more of {', '.join(BACKENDS)}"),
    "batches": (lambda value: _is_list(value, lambda size: _is_int(size, 1)), "a list of batch sizes from 1"),
    "seq": (lambda value: _is_int(value, 0), "a length, or 0 for that of the recipe"),
    "dynamic": (lambda value: isinstance(value, bool), "true or false"),
    "threads": (lambda value: _is_int(value, 1), "a number of threads from 1"),
    "device": (lambda value: value in _DEVICES, f"one of {', '.join(_DEVICES)}"),
    "full": (lambda value: isinstance(value, bool), "true or false"),
    "min_runs": (lambda value: _is_int(value, 1), "a number of runs from 1"),
    "min_s": (lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 3600,
              "seconds above 0, at most 3600"),
}


def options_of(job: dict) -> Options:
    """Raises Stop with failed_create and the name of a field with a wrong value."""
    given = job.get("measure")
    if given is None:
        return Options()
    if not isinstance(given, dict):
        raise Stop("failed_create", "measure: an object was expected", "correct measure in the job")
    for name, value in given.items():
        if name in _FIELDS and not _FIELDS[name][0](value):
            raise Stop("failed_create", f"measure.{name}: {str(value)[:80]!r} is not {_FIELDS[name][1]}",
                       f"set it to {_FIELDS[name][1]}")
    known = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
             if name in _FIELDS}
    return Options(**known)
