"""`fullgraph`: one graph or the first thing in its way."""

from torch._dynamo import exc as dynamo_exc
from torch._dynamo import utils as dynamo_utils

from ..breaks import make_event
from .base import Call, Found, Mode, said_by

# What Dynamo takes for a break where breaks are allowed. Anything else is an error there too.
_BREAKS = (dynamo_exc.Unsupported, dynamo_exc.UserError)


class Fullgraph(Mode):
    """The first error is the verdict: where it stands is the one site. Dynamo counts no frames here."""

    fullgraph = True

    def capture(self, call: Call) -> Found:
        found = self._trace(call)
        left_out = ("frames_total", "frames_fallback")
        if found.error is None or not isinstance(found.error, _BREAKS):
            return Found(found, without=left_out, error=found.error)
        event = make_event(found.error, "", {}, None, _last_compile_id())
        found.events = [event]
        first = {
            "reason": event.reason, "gb_id": event.gb_id, "file": event.file, "line": event.line,
            "function": event.function, "error": type(found.error).__name__,
            "text": said_by(found.error),
        }
        where = f" at {event.file}:{event.line}" if event.file else ""
        return Found(found, status="graph_breaks", detail=f"not one graph: {event.reason}{where}", without=left_out,
                     mode_detail={"first_error": first})


def _last_compile_id() -> str:
    metrics = dynamo_utils.get_compilation_metrics()
    return str(metrics[-1].compile_id or "") if metrics else ""



