"""The modes by name."""

from ..model import architecture
from . import NAMES
from .base import Mode
from .export import Export
from .fullgraph import Fullgraph
from .plain import Cold, Dynamic, Nested
from .recompile import Recompile
from .train import Train

_MODES = {
    "eval": Mode, "train": Train, "dynamic": Dynamic, "fullgraph": Fullgraph, "nested": Nested, "export": Export,
    "recompile": Recompile, "cold": Cold,
}


def find(name: str) -> Mode:
    cls = _MODES.get(name)
    if cls is None:
        raise architecture.Stop("failed_create", f"unknown mode {name!r}: this worker has {', '.join(NAMES)}",
                                "use one of the modes that this worker has")
    mode = cls()
    mode.check()
    return mode
