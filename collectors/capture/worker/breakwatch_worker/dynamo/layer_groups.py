"""Whether what a capture found can depend on how many layers there are.

A stack of layers that is inlined whole is one stretch of one graph, however long it is: events, sites, graphs and
frames stay the same. They depend on its length only where Dynamo meets the layers one by one, or one place again:

- a frame is handed to Dynamo from within a layer (the frame around the loop was left, so each layer is a frame),
- a break is in a layer,
- the same break is met a second time, on the same way to it. A resumed function is the function that it is of: Dynamo
  resumes in a loop that it takes for none, one that a `return` ends before its jump back.

A layer is a module with a number in its path: what counts too much as one only costs a capture at full depth. The path
without its numbers names the stack; other stacks, whole stretches of one graph, may stay short (depths.py).
"""

import re
import sys

import torch
import torch._dynamo

from .breaks import plain_function

_NUMBER = re.compile(r"\d+(?=\.|$)")
# The calls of a module that are Python frames of their own while a frame below them is handed to Dynamo.
_CALLS = ("_wrapped_call_impl", "_call_impl", "forward")


def unnumbered(path: str) -> str:
    """A module's path with * for the number of each layer on it: `layers.3` and `layer3` are layers."""
    return _NUMBER.sub("*", path)


def _groups_on(path: str) -> set:
    """The stacks that a module's path leads through: the unnumbered paths of their layers."""
    return {unnumbered(path[:number.end()]) for number in _NUMBER.finditer(path)}


class LayerGroups:
    """Told of each frame and each break of one trace. Owner: the trace; holds no module longer than it lives.

    `stacks` are those whose length can matter; None where it is not known which.
    """

    def __init__(self, paths):
        self.groups = set()
        self._paths = paths
        self._met = {}

    def frame_begins(self, frame) -> None:
        """A frame is handed to Dynamo."""
        names = frame.f_code.co_varnames[:1]
        self._look_at(frame.f_locals.get(names[0]) if names else None)
        caller = sys._getframe(1)
        while caller is not None and self.groups is not None:
            called = caller.f_locals.get("self") if caller.f_code.co_name in _CALLS else None
            if isinstance(called, torch._dynamo.OptimizedModule):  # the call that is traced
                break
            self._look_at(called)
            caller = caller.f_back

    def breaks(self, event, modules: list, error: BaseException, translator) -> None:
        """A break is logged, met in the code of these modules by a frame's translator."""
        # A decorator is one code for all that it wraps: the calls down to the break tell them apart.
        way = tuple((call.filename, call.lineno, plain_function(call.name))
                    for call in getattr(error, "real_stack", None) or ())
        # Two calls in one line: by where the frame's own is in it, which resumed code does not always know.
        instruction = getattr(translator, "current_instruction", None)
        column = getattr(getattr(instruction, "positions", None), "col_offset", None)
        met = self._met.setdefault((event.site_id, way), {})
        before = [compiled for known, compiled in met.items() if column is None or known in (None, column)]
        layers = [self._look_at(module) for module in modules]
        # Met again in one compilation, or in no layer: there is a loop, and nothing tells how long it is.
        if before and (not any(layers) or any(event.compile_id in compiled for compiled in before)):
            self.groups = None
        met.setdefault(column, set()).add(event.compile_id)

    def _look_at(self, value) -> bool:
        """Whether it is in a layer."""
        if self.groups is None or not isinstance(value, torch.nn.Module):
            return False
        path = self._paths.known(value)
        found = _groups_on(path) if path is not None else set()
        self.groups = self.groups | found if path is not None else None
        return bool(found)
