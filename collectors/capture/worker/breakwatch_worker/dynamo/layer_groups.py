"""Finds out whether the result of a capture can depend on the number of layers.

A layer is a module with a number in its path. Layers whose paths differ only in this number are one layer group; the
path without the numbers names the group. A module that is wrongly taken for a layer only costs a full-depth run.

If Dynamo inlines a whole layer group, the group is one stretch of one graph, whatever its length: events, sites, graphs
and frames do not change with it. They depend on the length only in these cases:

- A frame is passed to Dynamo from inside a layer (Dynamo skipped the frame with the loop, so each layer is a frame).
- A break is inside a layer.
- The same break is met a second time by the same call path. A resumed function counts as the function that it resumes:
  Dynamo also resumes inside a loop if a `return` ends the loop before it jumps back.

The other groups may stay reduced (model/depths.py).
"""

import re
import sys

import torch
import torch._dynamo

from .breaks import plain_function

_NUMBER = re.compile(r"\d+(?=\.|$)")
# The functions of a module's call that are on the Python stack when a frame below them is passed to Dynamo.
_CALLS = ("_wrapped_call_impl", "_call_impl", "forward")


def unnumbered(path: str) -> str:
    """The path of a module with * for each layer number. `layers.3` and `layer3` are layers."""
    return _NUMBER.sub("*", path)


def _groups_on(path: str) -> set:
    """The layer groups on the path of a module, as unnumbered paths of their layers."""
    return {unnumbered(path[:number.end()]) for number in _NUMBER.finditer(path)}


class LayerGroups:
    """Gets each frame and each break of one trace. Owner: the trace; keeps no module alive after it.

    `groups` are the layer groups whose length can affect the result. None: unknown, it could be any.
    """

    def __init__(self, paths):
        self.groups = set()
        self._paths = paths
        self._met = {}

    def frame_begins(self, frame) -> None:
        """A frame is passed to Dynamo."""
        names = frame.f_code.co_varnames[:1]
        self._look_at(frame.f_locals.get(names[0]) if names else None)
        caller = sys._getframe(1)
        while caller is not None and self.groups is not None:
            called = caller.f_locals.get("self") if caller.f_code.co_name in _CALLS else None
            if isinstance(called, torch._dynamo.OptimizedModule):  # the traced call
                break
            self._look_at(called)
            caller = caller.f_back

    def breaks(self, event, modules: list, error: BaseException, translator) -> None:
        """A break was logged. `modules` are those whose code the translator was in."""
        # A decorator has one code object for all functions that it wraps: the calls down to the break distinguish them.
        call_path = tuple((call.filename, call.lineno, plain_function(call.name))
                          for call in getattr(error, "real_stack", None) or ())
        # Two calls in one line are distinguished by their columns, which resumed code does not always have.
        instruction = getattr(translator, "current_instruction", None)
        column = getattr(getattr(instruction, "positions", None), "col_offset", None)
        met = self._met.setdefault((event.site_id, call_path), {})
        before = [compiled for known, compiled in met.items() if column is None or known in (None, column)]
        layers = [self._look_at(module) for module in modules]
        # Met again in one compilation, or outside any layer: this is a loop of unknown length.
        if before and (not any(layers) or any(event.compile_id in compiled for compiled in before)):
            self.groups = None
        met.setdefault(column, set()).add(event.compile_id)

    def _look_at(self, value) -> bool:
        """Whether the module is inside a layer."""
        if self.groups is None or not isinstance(value, torch.nn.Module):
            return False
        path = self._paths.known(value)
        found = _groups_on(path) if path is not None else set()
        self.groups = self.groups | found if path is not None else None
        return bool(found)
