"""Which break caused a stretch of Python code between two graphs."""

from ..dynamo.breaks import sites_of
from ..dynamo.trace import Trace


class Causes:
    def __init__(self, trace: Trace):
        self._events, self._graphs, self._segments = trace.events, trace.parts, trace.segments

    def sites(self) -> list:
        names = ("site_id", "reason", "gb_id", "occurrences", "file", "line", "function")
        return [{name: site[name] for name in names} for site in sites_of(self._events)]

    def of(self, before: int, after: int) -> str:
        """The site_id of the break between two graphs, by their numbers from 1; 0: the begin or the end of the call.
        Empty if no break caused it."""
        if before and before <= len(self._graphs) and self._graphs[before - 1].ended_by is not None:
            return self._graphs[before - 1].ended_by.site_id
        if not after:
            return self._of_end(before)
        if after > len(self._graphs):
            return ""
        event = self._resumed_after(after) or self._last_before(after)
        return event.site_id if event is not None else ""

    def _of_end(self, last: int) -> str:
        """The break because of which Dynamo skipped the outermost frame, which then ends in Python."""
        if not 0 < last <= len(self._graphs) or self._resumed_after(last) is not None:
            return ""
        return self.of(0, 1)

    def _resumed_after(self, number: int):
        """The break after which the frame of this graph resumes."""
        segment = self._segments[number - 1]
        place = f"{segment['file']}:{segment['line']} in {segment['function']}"
        return next((event for event in reversed(self._events) if event.stack and event.stack[0] == place), None)

    def _last_before(self, number: int):
        """The last break in another frame that was logged before this graph was made: Python runs that frame."""
        graph = self._graphs[number - 1]
        others = [event for event in self._events[:graph.met] if event.compile_id != graph.compile_id]
        return others[-1] if others else None
