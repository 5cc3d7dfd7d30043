"""Mode `fullgraph`: one graph, or the first break."""

import dataclasses
import re

from torch._dynamo import exc as dynamo_exc
from torch._dynamo import utils as dynamo_utils

from ..dynamo.breaks import make_event
from .base import Call, Found, Mode, text_of_error
from .exporters import known_reason

# Errors that are breaks in other modes. Errors about data-dependent values also count as breaks, because in this mode
# sizes and numbers stay symbols where other modes break. Any other error is an error in other modes, too.
_BREAKS = (dynamo_exc.Unsupported, dynamo_exc.UserError)


_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in (\w+)')


class Fullgraph(Mode):
    """The first error decides: its place is the only site. Dynamo counts no frames in this mode."""

    fullgraph = True
    stops_early = True

    def capture(self, call: Call) -> Found:
        found = self._trace(call)
        left_out = ("frames_total", "frames_fallback")
        reason = known_reason(found.error)
        if found.error is None or reason is None and not isinstance(found.error, _BREAKS):
            return Found(found, without=left_out, error=found.error)
        filename, line, function = _place_in(str(found.error))
        event = make_event(found.error, "", {"co_filename": filename, "co_name": function}, line, _last_compile_id())
        if reason is not None:
            event = dataclasses.replace(event, reason=reason, gb_id="")
        found.events = [event]
        first = {
            "reason": event.reason, "gb_id": event.gb_id, "file": event.file, "line": event.line,
            "function": event.function, "error": type(found.error).__name__,
            "text": text_of_error(found.error),
        }
        where = f" at {event.file}:{event.line}" if event.file else ""
        return Found(found, status="graph_breaks", detail=f"not one graph: {event.reason}{where}", without=left_out,
                     mode_detail={"first_error": first})


def _place_in(text: str) -> tuple:
    """The innermost frame of the stack in the text of an error, for errors without a stack of their own."""
    frames = _FRAME.findall(text.rsplit("from user code:", 1)[-1]) if "from user code:" in text else []
    return (frames[-1][0], int(frames[-1][1]), frames[-1][2]) if frames else ("", 0, "")


def _last_compile_id() -> str:
    metrics = dynamo_utils.get_compilation_metrics()
    return str(metrics[-1].compile_id or "") if metrics else ""



