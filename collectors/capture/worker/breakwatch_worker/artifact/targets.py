"""The targets by name: targets.yaml."""

import dataclasses
import functools
import importlib
import importlib.util

from ..tables import read_beside


@dataclasses.dataclass(frozen=True)
class Target:
    name: str
    file: str  # the model in the package
    check: str  # for people: the program that runs and compares the package
    build: str = ""  # module.function of this package; empty: an untested example
    needs: tuple = ()  # Python packages
    install: str = ""  # of an example: what it would need

    def why_skipped(self) -> str:
        """What is missing here, with what to do; empty if the target can be built."""
        if not self.build:
            return self.install
        missing = [name for name in self.needs if importlib.util.find_spec(name) is None]
        return f"this toolchain has no {', '.join(missing)}: pip install {' '.join(missing)}" if missing else ""

    def builder(self):
        """The function, with a Recording, the Options and the path of the model to write. It returns findings for the
        result, or None."""
        module, function = self.build.rsplit(".", 1)
        return getattr(importlib.import_module(f"{__package__}.{module}"), function)


@functools.cache
def _table() -> dict:
    entries = read_beside(__file__, "targets.yaml")["targets"]
    return {name: Target(name, **{key: tuple(value) if isinstance(value, list) else value
                                  for key, value in entry.items()}) for name, entry in entries.items()}


def names() -> tuple:
    return tuple(_table())


def find(name: str) -> Target:
    return _table()[name]
