"""Which fixes are tried, in which order, and what came of it: each alone, then the useful ones together."""

import dataclasses
import difflib
import time

from . import regions, table
from .attempt import Case, Tried, Wanted, counts_of
from .options import Options

WHOLE, BETTER, SAME, WORSE, DIFFERENT = "whole", "better", "same", "worse", "different_result"
_MOST_TOGETHER = 16  # attempts with more than one fix
_LEAST_S = 1.0  # an attempt with less time is not begun
_LEAST_RAN = 0.75  # of the operations that run in graphs without a fix: with less it is no gain


def _unknown_text(name: str) -> str:
    close = difflib.get_close_matches(name, table.load(), n=3)
    meant = f"did you mean {' or '.join(close)}?" if close else "without names, all that apply are tried"
    return f"there is no fix {name}: {meant}"


@dataclasses.dataclass
class Attempt:
    fixes: list
    tried: Tried
    outcome: str = ""
    python: list = dataclasses.field(default_factory=list)
    before: list = dataclasses.field(default_factory=list)  # sites without a fix

    @property
    def names(self) -> list:
        return [fix.name for fix in self.fixes]

    @property
    def is_gain(self) -> bool:
        return self.outcome in (WHOLE, BETTER)

    @property
    def is_partial(self) -> bool:
        """Whether parts are compiled instead of the model: what breaks lies between them, as it was."""
        return any(fix.is_partial for fix in self.fixes)

    @property
    def is_sound(self) -> bool:
        """Whether it may be built upon: it runs, returns the same and breaks no more than before."""
        return self.outcome in (WHOLE, BETTER, SAME)

    def size(self) -> tuple:
        return rank(self.tried.counts)

    def site_ids(self) -> set:
        return {site["site_id"] for site in self.tried.sites}

    def places(self) -> set:
        return {place_of(site) for site in self.tried.sites}

    def described(self) -> dict:
        """An entry of `attempts` in the result."""
        tried, before = self.tried, [site["site_id"] for site in self.before]
        ok, after = tried.status == "ok", self.site_ids()
        return {
            "names": self.names, "kinds": sorted({fix.kind for fix in self.fixes}),
            "status": tried.status, "detail": tried.detail,
            **({"after": tried.counts} if ok else {}), "outcome": self.outcome,
            "removed": [site for site in before if site not in after] if ok else [],
            "added": [site["site_id"] for site in tried.sites if site["site_id"] not in before],
            "python": self.python,
            "caution": "; ".join(dict.fromkeys(fix.caution for fix in self.fixes if fix.caution)),
            "max_abs": tried.max_abs, "seconds": tried.seconds,
        }


def place_of(site: dict) -> tuple:
    return site["file"], site["function"], site["source_line"]


def rank(counts: dict) -> tuple:
    return counts["breaks"], counts["sites"], counts["graphs"]


def is_whole(counts: dict) -> bool:
    return counts["breaks"] == 0 and counts["graphs"] == 1


def outcome_of(before: dict, after: dict, ran_before: int = 0, ran: int = 0) -> str:
    """Of one capture against another. A break less is no gain if it costs more graphs than breaks, or if much no longer
    runs in graphs."""
    if rank(after) == rank(before):
        return SAME
    kept = ran >= _LEAST_RAN * ran_before
    if is_whole(after):
        return WHOLE if kept else WORSE
    fewer = rank(after) < rank(before)
    outweighed = after["breaks"] + after["graphs"] > before["breaks"] + before["graphs"]
    return BETTER if fewer and kept and not outweighed else WORSE


class Search:
    """Tries fixes until there is nothing left to try or no time. Owner: the child process of the run."""

    def __init__(self, case: Case, options: Options, before, ran: int, wanted: Wanted, end: float):
        self._case, self._options, self._ran, self._wanted, self._end = case, options, ran, wanted, end
        self.before, self.sites = counts_of(before), before.numbers()["sites"]
        self.attempts, self.not_applicable, self.stopped = [], [], ""
        self._seen = set()  # what the attempts set

    def run(self) -> None:
        self._unknown()
        if is_whole(self.before) or not self.before["graphs"] + self.before["breaks"]:
            return
        self._alone()
        if self._options.combine and not any(attempt.outcome == WHOLE for attempt in self.attempts):
            self._together()

    def best(self) -> int:
        """The index of the attempt to recommend: of the best outcome the smallest. -1 without one."""
        gains = [(attempt.outcome != WHOLE, attempt.size(), len(attempt.fixes), index)
                 for index, attempt in enumerate(self.attempts) if attempt.is_gain]
        return min(gains)[-1] if gains else -1

    def left(self) -> list:
        """The sites whose line breaks in every attempt that compiles the model and returns what it returns, for this
        reason or another."""
        sound = [attempt.places() for attempt in self.attempts
                 if attempt.tried.status == "ok" and attempt.outcome != DIFFERENT and not attempt.is_partial]
        return [site for site in self.sites if all(place_of(site) in places for places in sound)]

    def _chosen(self) -> list:
        names = self._options.names
        return [fix for fix in table.load().values() if not names or fix.name in names]

    def _unknown(self) -> None:
        for name in self._options.names:
            if name not in table.load():
                self._add([table.Fix(name, "", {}, "")], Tried("unknown", _unknown_text(name)))

    def _alone(self) -> None:
        for fix in self._chosen():
            if why := table.why_not(fix, self._case.subject, self.sites, bool(self._options.names)):
                self.not_applicable.append({"name": fix.name, "why": why})
            elif why := table.missing(fix):
                self._add([fix], Tried("unsupported", why))
            elif self._try([fix], self.sites) is None and self.stopped:
                return

    def _together(self) -> None:
        """Begins with the best single fix and keeps each further one that improves on it. What compiles parts instead
        of the model is added last: it takes what is left."""
        singles = sorted((attempt for attempt in self.attempts if attempt.is_sound),
                         key=lambda attempt: (attempt.size(), not attempt.is_gain))
        entire = [attempt for attempt in singles if not attempt.is_partial]
        if not entire:
            return
        best = self._grown(entire[0], entire[1:])
        if best.is_gain and len(best.fixes) > 2:
            best = self._shortened(best)
        partial = [attempt.fixes[0] for attempt in singles if attempt.is_partial]
        if best.is_gain and best.outcome != WHOLE:
            for fix in partial:
                self._try([*best.fixes, fix], best.tried.sites)

    def _grown(self, best: Attempt, further: list) -> Attempt:
        left = _MOST_TOGETHER
        for fix in self._further(further):
            if left == 0 or self.stopped or best.outcome == WHOLE:
                break
            if not self._is_worth(fix, best):
                continue
            attempt = self._try([*best.fixes, fix], best.tried.sites)
            left -= attempt is not None
            if attempt is not None and attempt.is_sound and attempt.size() < best.size():
                best = attempt
        return best

    def _further(self, singles: list) -> list:
        """What may be added: fixes that changed something alone, then those about breaks that appear only when others
        are gone."""
        changed = [attempt.fixes[0] for attempt in singles if attempt.is_gain or attempt.fixes[0].anew]
        names = {fix["name"] for fix in self.not_applicable if fix["why"] == table.NO_CAUSE}
        return changed + [fix for fix in self._chosen() if fix.name in names and not fix.is_partial]

    def _is_worth(self, fix, best: Attempt) -> bool:
        if fix in best.fixes or table.exclude_each_other([*best.fixes, fix]):
            return False
        return not table.missing(fix) and not table.why_not(
            fix, self._case.subject, best.tried.sites, bool(self._options.names))

    def _shortened(self, best: Attempt) -> Attempt:
        """Leaves out one fix after another while the result stays as good."""
        for fix in best.fixes[:-1]:
            fewer = [other for other in best.fixes if other is not fix]
            attempt = self._try(fewer, self.sites) if len(fewer) > 1 else None
            if attempt is not None and attempt.is_gain and attempt.size() <= best.size():
                best = attempt
        return best

    def _try(self, fixes: list, sites: list):
        """The attempt; None if there is no time for it, if it is one that was made, or if it changes nothing. `sites`
        are the breaks that are left for the last of the fixes."""
        if (change := table.change_of(fixes)) in self._seen:
            return None
        pattern = ""
        if any(fix.is_partial for fix in fixes):
            pattern = regions.of(self._case.subject.model, sites)
            if not pattern:
                self._skip(fixes, "no part of the model is known to be whole")
                return None
        left = self._end - time.monotonic()
        if left < _LEAST_S:
            self.stopped = "budget"
            return None
        self._seen.add(change)
        tried = self._case.attempt(fixes, pattern, self._wanted, min(left, self._options.attempt_s))
        return self._add(fixes, tried, python=[line for lines in table.python_of(fixes, pattern) for line in lines])

    def _skip(self, fixes: list, why: str) -> None:
        if len(fixes) == 1:
            self.not_applicable.append({"name": fixes[0].name, "why": why})

    def _add(self, fixes: list, tried: Tried, python=()) -> Attempt:
        outcome = ""
        if tried.status == "ok":
            outcome = DIFFERENT if tried.differs else outcome_of(
                self.before, tried.counts, self._ran, tried.ran)
            if outcome == WHOLE and any(fix.is_partial for fix in fixes):
                outcome = BETTER
        attempt = Attempt(fixes, tried, outcome, list(python), self.sites)
        self.attempts.append(attempt)
        return attempt
