"""Mode `export`: runs each exporter of torch.export and reports what failed in it."""

import dataclasses

from ..dynamo.breaks import Event
from ..dynamo.trace import Trace
from ..text import one_line
from . import exporters
from .base import Call, Found, Mode

# Numbers that neither an exported program nor a failed export has.
_WITHOUT = ("dynamo_counter_breaks", "explain_breaks", "frames_total", "frames_fallback", "recompiles")
_SOUND = ("non_strict", "strict", "library_exporter")


class Export(Mode):
    """`full_graph` if one of the sound exporters made a program; otherwise their failures."""

    needs_eager = False  # a program is made from the fake kernels: the model need not run
    stops_early = True

    def capture(self, call: Call) -> Found:
        budget = exporters.TimeBudget(call.limit_s)
        exporters.register_caches(call.model)
        ran = {exporter.__name__: exporters.run(exporter, call, budget)
               for exporter in (exporters.non_strict, exporters.strict, exporters.library_exporter)}
        if ran["non_strict"].outcome == "exported":
            ran["draft"] = exporters.ExportResult("skipped", text="non-strict export has no failures to list")
        else:
            ran["draft"] = exporters.run(exporters.draft, call, budget)
        exported = [name for name in _SOUND if ran[name].outcome == "exported"]
        detail = {name: result.describe() for name, result in ran.items()}
        if exported:
            trace = Trace(graphs=1, ops=ran[exported[0]].ops)
            return Found(trace, status="full_graph", detail=f"exported: {_list(exported)}{_failed(ran)}",
                         mode_detail=detail, without=_WITHOUT)
        return _not_exported(ran, detail)


def _not_exported(ran: dict, detail: dict) -> Found:
    events = distinct(event for result in ran.values() for event in result.events)
    first = ran["non_strict"]
    if events:
        reason = f"not exported: {events[0].reason}"
        return Found(Trace(events=events), status="graph_breaks", detail=reason, mode_detail=detail, without=_WITHOUT)
    late = first.outcome == "timeout"
    reason = f"capture: not exported: {first.error}: {one_line(first.text)}"
    return Found(Trace(), status="timeout" if late else "failed_capture", detail=reason, mode_detail=detail,
                 suggestion="raise capture.limits.capture, or capture on a less busy machine" if late else "")


def distinct(events) -> list:
    """One event for each place, because the exporters meet the same breaks. An event with a registered reason wins."""
    kept: dict[tuple, Event] = {}
    for event in events:
        place = (event.file, event.function, event.source_line or event.reason)
        known = kept.setdefault(place, event)
        if known is event:
            continue
        names = [known.wrapped_in] + [event.wrapped_in] * (event.wrapped_in not in known.wrapped_in.split(", "))
        best = event if event.gb_id and not known.gb_id else known
        kept[place] = dataclasses.replace(best, wrapped_in=", ".join(names))
    return list(kept.values())


def _list(names: list) -> str:
    return ", ".join(name.replace("_", " ") for name in names)


def _failed(ran: dict) -> str:
    failed = [name for name in _SOUND if ran[name].outcome in ("failed", "timeout")]
    return f"; not {_list(failed)}" if failed else ""
