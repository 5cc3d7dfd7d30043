"""Modes that differ from `eval` in one setting of Dynamo, or in the call that is captured."""

import torch
import torch._dynamo

from ..model import architecture
from .base import Mode


class Cold(Mode):
    """`eval` on the first call: hooks and tables that a model sets up then are set up by compiled code."""

    cold = True


class Dynamic(Mode):
    """All sizes are symbols from the first call on."""

    dynamic = True


class Nested(Mode):
    """A break in an inlined function ends the graph there, instead of once in each caller."""

    config = {"nested_graph_breaks": True}

    def check(self) -> None:
        if not hasattr(torch._dynamo.config, "nested_graph_breaks"):
            raise architecture.Stop(
                "skipped_missing_dependency",
                f"needs a torch with torch._dynamo.config.nested_graph_breaks: {torch.__version__} has none",
                "use a toolchain with a later torch")
