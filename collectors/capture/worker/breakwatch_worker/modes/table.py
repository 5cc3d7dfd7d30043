"""The modes by name."""

from ..model import architecture
from . import MEASURE_NAMES, NAMES
from .base import Mode
from .build import Build
from .export import Export
from .fix import Fix
from .fullgraph import Fullgraph
from .measure import Bench, Profile
from .plain import Cold, Dynamic, Nested
from .recompile import Recompile
from .repro import Repro
from .train import Train

_MODES = {
    "eval": Mode, "train": Train, "dynamic": Dynamic, "fullgraph": Fullgraph, "nested": Nested, "export": Export,
    "recompile": Recompile, "cold": Cold, "profile": Profile, "bench": Bench, "build": Build, "fix": Fix,
    "repro": Repro,
}


def find(name: str) -> Mode:
    cls = _MODES.get(name)
    if cls is None:
        known = ", ".join((*NAMES, *MEASURE_NAMES))
        raise architecture.Stop("failed_create", f"unknown mode {name!r}: this worker has {known}",
                                "use one of the modes that this worker has")
    mode = cls()
    mode.check()
    return mode
