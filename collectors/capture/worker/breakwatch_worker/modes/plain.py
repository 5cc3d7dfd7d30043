"""The modes that call once, with a switch of Dynamo's or at another time."""

import torch
import torch._dynamo

from ..model import architecture
from .base import Mode


class Cold(Mode):
    """`eval` of the first call there is: hooks and tables that a model lays then are laid by code that is compiled."""

    cold = True


class Dynamic(Mode):
    """Every size a symbol from the first call on."""

    dynamic = True


class Nested(Mode):
    """A break in an inlined function ends the graph there, instead of once in each caller."""

    config = {"nested_graph_breaks": True}

    def check(self) -> None:
        if not hasattr(torch._dynamo.config, "nested_graph_breaks"):
            raise architecture.Stop(
                "skipped_missing_dependency",
                f"needs a torch with torch._dynamo.config.nested_graph_breaks: {torch.__version__} has none")
