"""Whether what a capture found can depend on how many layers there are.

A stack of layers that is inlined whole is one stretch of one graph, however long it is: events, sites, graphs and
frames stay the same. They depend on its length only where Dynamo meets the layers one by one, or one place again:

- a frame is handed to Dynamo from within a layer (the frame around the loop was left, so each layer is a frame),
- a break is in a layer,
- a frame meets the same break a second time, on the same way to it.

A layer is a module with a number in its path: what counts too much as one only costs a capture at full depth.
"""

import re
import sys

import torch
import torch._dynamo

_NUMBERED = re.compile(r"\d(\.|$)")
# The calls of a module that are Python frames of their own while a frame below them is handed to Dynamo.
_CALLS = ("_wrapped_call_impl", "_call_impl", "forward")


class Layers:
    """Told of each frame and each break of one trace. Owner: the trace; holds no module longer than it lives."""

    def __init__(self, paths):
        self.matter = False
        self._paths = paths
        self._met = set()

    def frame_begins(self, frame) -> None:
        """A frame is handed to Dynamo."""
        if self.matter:
            return
        names = frame.f_code.co_varnames[:1]
        self._look_at(frame.f_locals.get(names[0]) if names else None)
        caller = sys._getframe(1)
        while caller is not None and not self.matter:
            called = caller.f_locals.get("self") if caller.f_code.co_name in _CALLS else None
            if isinstance(called, torch._dynamo.OptimizedModule):  # the call that is traced
                break
            self._look_at(called)
            caller = caller.f_back

    def breaks(self, event, modules: list, error: BaseException) -> None:
        """A break is logged, met in the code of these modules."""
        # A decorator is one code for all that it wraps: the calls down to the break tell them apart.
        way = tuple((call.filename, call.lineno, call.name) for call in getattr(error, "real_stack", None) or ())
        place = (event.compile_id.split("/")[0], event.site_id, way)
        self.matter = self.matter or place in self._met
        self._met.add(place)
        for module in modules:
            self._look_at(module)

    def _look_at(self, value) -> None:
        if isinstance(value, torch.nn.Module) and not self.matter:
            path = self._paths.known(value)
            self.matter = path is None or bool(_NUMBERED.search(path))
