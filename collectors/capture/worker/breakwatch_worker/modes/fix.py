"""Mode `fix`: the capture of `eval`, then attempts with what a user can change (package fixes)."""

import time

from ..fixes import left, table
from ..fixes.attempt import Case, Wanted, counts_of
from ..fixes.options import options_of
from ..fixes.search import WHOLE, Search, is_whole
from ..process import fork
from .base import Call, Found, Mode

_PART = 0.9  # of the phase's time limit: the rest is for the result


class Fix(Mode):
    """The numbers are those of the capture without a fix; the attempts are in `mode_detail`."""

    detail_bytes = 1000 << 10

    def configure(self, job: dict) -> None:
        self._options = options_of(job)

    def capture(self, call: Call) -> Found:
        begun = time.monotonic()
        case = Case(call)
        before, returned, ran, failed = fork.call(case.plain)
        if failed:  # once more, for the error itself; nothing else is done in this process
            found = self._trace(call)
            return Found(found, error=found.error)
        end = begun + min(self._options.budget_s, _PART * call.limit_s)
        wanted = Wanted({}) if is_whole(counts_of(before)) else case.wanted(returned)
        search = Search(case, self._options, before, ran, wanted, end)
        search.run()
        return Found(before, mode_detail=self._detail(call, search))

    def _detail(self, call: Call, search: Search) -> dict:
        best = search.best()
        return {
            "fix": {**self._options.described(), "fixes_version": table.version()},
            "depth": "original" if call.published else "reduced", "before": search.before,
            "attempts": [attempt.described() for attempt in search.attempts], "best": best,
            "whole": is_whole(search.before) or (best >= 0 and search.attempts[best].outcome == WHOLE),
            "left": [left.described(site) for site in search.left()], "not_applicable": search.not_applicable,
            "stopped": search.stopped,
        }
