"""Mode `repro`: the capture of `eval`, and a Python file that repeats it with torch and transformers alone."""

import time

from ..process import fork
from ..repro import script
from ..repro.options import options_of, site_of
from ..repro.values import CannotWrite
from ..text import one_line
from .base import Call, Found, Mode

_PART = 0.6  # of the phase's time limit: the rest is for runs of files in other processes


class Repro(Mode):
    """The file is in `mode_detail`, with the answer to whether it was seen to find the same in another process."""

    detail_bytes = 1000 << 10

    def configure(self, job: dict) -> None:
        self._options = options_of(job)
        self._model = str(job.get("model") or "")
        self._attention = str(job.get("attention") or "")

    def capture(self, call: Call) -> Found:
        begun = time.monotonic()
        found, is_error = fork.call(self._found, call)
        if is_error:  # once more, for the error itself; nothing else is done in this process
            trace = self._trace(call)
            return Found(trace, error=trace.error)
        try:
            return Found(found, mode_detail={"repro": self._file(call, found, begun)})
        except CannotWrite as error:
            return _without_file(found, str(error))

    def _file(self, call: Call, found, begun: float) -> dict:
        numbers = found.numbers()
        sites, site = numbers["sites"], None
        if self._options.site:
            site, why = site_of(sites, self._options.site)
            if site is None:
                raise CannotWrite(why)
        drafted = script.draft_of(call, self._attention)
        why_full = ""
        if self._options.minimal:
            end = begun + min(self._options.budget_s, _PART * call.limit_s)
            file = self._smallest(drafted, sites, site, end)
            if isinstance(file, script.File):
                return file.described()
            why_full = file
        file = script.whole(drafted, self._model, sites, site, numbers["dynamo_counter_breaks"])
        return {**file.described(), "why_full": one_line(why_full, 400)}

    def _smallest(self, drafted, sites: list, site, end: float):
        """The smallest file of the site, or of the one that breaks most often; or why there is none."""
        if not sites:
            return "the model has no break"
        return script.minimal(drafted, self._model, site or max(sites, key=lambda each: each["occurrences"]), end)

    def _found(self, call: Call) -> tuple:
        """(the capture without what cannot leave this process, whether it failed)."""
        found = self._trace(call)
        failed = found.error is not None
        found.parts, found.error = [], None
        return found, failed


def _without_file(found, why: str) -> Found:
    return Found(found, mode_detail={"repro": {"script": "", "why_not": why}})
