"""`export`: torch.export in its ways, one leg after the other, and what stood in the way of each."""

import dataclasses

from ..dynamo.breaks import Event
from ..dynamo.trace import Trace
from ..text import one_line
from . import legs
from .base import Call, Found, Mode

# What a program, or a failure of export, says nothing about.
_WITHOUT = ("dynamo_counter_breaks", "explain_breaks", "frames_total", "frames_fallback", "recompiles")
_SOUND = ("non_strict", "strict", "library_exporter")


class Export(Mode):
    """`full_graph` where one of the sound exporters made a program; else what stood in their way."""

    needs_eager = False  # a program is made of what the operators say of their outputs
    stops_early = True

    def capture(self, call: Call) -> Found:
        watch = legs.Watch(call.limit_s)
        legs.register_caches(call.model)
        ran = {"non_strict": legs.run(legs.non_strict, call, watch), "strict": legs.run(legs.strict, call, watch)}
        ran["library_exporter"] = legs.run(legs.library_exporter, call, watch)
        if ran["non_strict"].outcome == "exported":
            ran["draft"] = legs.Leg("skipped", text="non-strict export has no failures to list")
        else:
            ran["draft"] = legs.run(legs.draft, call, watch)
        exported = [name for name in _SOUND if ran[name].outcome == "exported"]
        detail = {name: leg.describe() for name, leg in ran.items()}
        if exported:
            trace = Trace(graphs=1, ops=ran[exported[0]].ops)
            return Found(trace, status="full_graph", detail=f"exported: {_list(exported)}{_failed(ran)}",
                         mode_detail=detail, without=_WITHOUT)
        return _not_exported(ran, detail)


def _not_exported(ran: dict, detail: dict) -> Found:
    events = distinct(event for leg in ran.values() for event in leg.events)
    first = ran["non_strict"]
    if events:
        said = f"not exported: {events[0].reason}"
        return Found(Trace(events=events), status="graph_breaks", detail=said, mode_detail=detail, without=_WITHOUT)
    status = "timeout" if first.outcome == "timeout" else "failed_capture"
    said = f"capture: not exported: {first.error}: {one_line(first.text)}"
    return Found(Trace(), status=status, detail=said, mode_detail=detail, error=None)


def distinct(events) -> list:
    """One event a place, by the reason Dynamo registers where a leg gave one: the legs meet the same in turn."""
    kept: dict[tuple, Event] = {}
    for event in events:
        place = (event.file, event.function, event.source_line or event.reason)
        known = kept.setdefault(place, event)
        if known is event:
            continue
        legs_so_far = [known.wrapped_in] + [event.wrapped_in] * (event.wrapped_in not in known.wrapped_in.split(", "))
        best = event if event.gb_id and not known.gb_id else known
        kept[place] = dataclasses.replace(best, wrapped_in=", ".join(legs_so_far))
    return list(kept.values())


def _list(names: list) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _failed(ran: dict) -> str:
    failed = [name for name in _SOUND if ran[name].outcome in ("failed", "timeout")]
    return f"; not {_list(failed)}" if failed else ""
