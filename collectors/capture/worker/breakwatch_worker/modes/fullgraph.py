"""`fullgraph`: one graph or the first thing in its way."""

import dataclasses
import re

from torch._dynamo import exc as dynamo_exc
from torch._dynamo import utils as dynamo_utils

from ..dynamo.breaks import make_event
from .base import Call, Found, Mode, said_by
from .exporters import known_reason

# What Dynamo takes for a break where breaks are allowed. Of the rest, what depends on data is the model's as well: here
# sizes and numbers are symbols that elsewhere a break would have ended. Anything else is an error there too.
_BREAKS = (dynamo_exc.Unsupported, dynamo_exc.UserError)


_FRAME = re.compile(r'File "([^"\n]+)", line (\d+), in (\w+)')


class Fullgraph(Mode):
    """The first error is the verdict: where it stands is the one site. Dynamo counts no frames here."""

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
            "text": said_by(found.error),
        }
        where = f" at {event.file}:{event.line}" if event.file else ""
        return Found(found, status="graph_breaks", detail=f"not one graph: {event.reason}{where}", without=left_out,
                     mode_detail={"first_error": first})


def _place_in(text: str) -> tuple:
    """The innermost frame of the stack that Dynamo appends to an error that carries none."""
    frames = _FRAME.findall(text.rsplit("from user code:", 1)[-1]) if "from user code:" in text else []
    return (frames[-1][0], int(frames[-1][1]), frames[-1][2]) if frames else ("", 0, "")


def _last_compile_id() -> str:
    metrics = dynamo_utils.get_compilation_metrics()
    return str(metrics[-1].compile_id or "") if metrics else ""



