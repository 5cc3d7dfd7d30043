"""The job's `fix`: which fixes are tried, and for how long."""

import dataclasses

from ..model.architecture import Stop

_MOST_NAMES, _MOST_S = 64, 86_400


@dataclasses.dataclass(frozen=True)
class Options:
    """Times are in seconds."""

    names: tuple = ()  # empty: every applicable fix
    combine: bool = True
    budget_s: float = 600.0  # of all attempts together
    attempt_s: float = 120.0  # of each

    def described(self) -> dict:
        return {**dataclasses.asdict(self), "names": list(self.names)}


def _are_names(value) -> bool:
    return isinstance(value, list) and len(value) <= _MOST_NAMES and all(
        isinstance(name, str) and 0 < len(name) <= 100 for name in value)


def _is_time(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= _MOST_S


# What each field accepts: a test, and its text in an error.
_FIELDS = {
    "names": (_are_names, f"a list of at most {_MOST_NAMES} names"),
    "combine": (lambda value: isinstance(value, bool), "true or false"),
    "budget_s": (_is_time, "seconds above 0, at most a day"),
    "attempt_s": (_is_time, "seconds above 0, at most a day"),
}


def options_of(job: dict) -> Options:
    """Raises Stop with failed_create and the name of a field with a wrong value."""
    given = job.get("fix")
    if given is None:
        return Options()
    if not isinstance(given, dict):
        raise Stop("failed_create", "fix: an object was expected", "correct fix in the job")
    for name, value in given.items():
        if name in _FIELDS and not _FIELDS[name][0](value):
            raise Stop("failed_create", f"fix.{name}: {str(value)[:80]!r} is not {_FIELDS[name][1]}",
                       f"set it to {_FIELDS[name][1]}")
    known = {name: value for name, value in given.items() if name in _FIELDS}
    return Options(**{**known, "names": tuple(dict.fromkeys(known.get("names", ())))})
