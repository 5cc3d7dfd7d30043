"""One `capture` job: which legs it needs, and what is published of them."""

from . import modes, remedies, repeat, version
from .process.child_run import ChildRun
from .process.ends import CAPTURED

# Depths that need one leg. The last two are there to prove the size policy by: the config's own widths at reduced
# depth, and the config as it is.
_ALONE = ("full", "wide", "original")
# What must not depend on the depth where no layer was met by itself.
_OF_BREAKS = ("status", "breaks", "break_sites", "graphs", "frames_total", "recompiles")
# Of a leg, for the legs after it: the stacks whose length matters (None: any may), whether only these were whole, and
# the failures that the config was filled in for.
_BETWEEN_LEGS = ("stacks", "partial", "helped")


def needs_full(depth: str, result: dict) -> bool:
    """Whether a reduced capture is to be repeated at full depth. Where nothing was reduced there is nothing to see, and
    where no layer was met by itself there is nothing else to see (layer_groups.py)."""
    if result.get("depth") != "reduced" or result.get("mode") in modes.REDUCED_ONLY or result["status"] not in CAPTURED:
        return False
    return depth == "verify" or (result["status"] == "graph_breaks" and _layers_matter(result))


def needs_every_stack(asked: list, outcome: dict) -> bool:
    """Whether a leg in which only the stacks asked for were whole has to be made again with all of them: it met layers
    of others, or failed where the complete model may not."""
    if not outcome.get("partial"):
        return False
    if outcome["status"] not in CAPTURED:
        return outcome["status"].startswith("failed")
    return outcome["stacks"] is None or not set(outcome["stacks"]) <= set(asked)


def _layers_matter(result: dict) -> bool:
    return result.get("stacks") is None or bool(result["stacks"])


def combine(reduced: dict, full: dict) -> dict:
    """What is published of a pair: the full one's breaks, the reduced one's ops; the reduced alone if full failed."""
    cost = _cost_of(reduced, full)
    if full.get("status") == "not_attempted":  # what it would make longer is as long at reduced depth
        return {**reduced, **cost}
    unlike = _left_out(reduced, full)
    if full.get("status") not in CAPTURED or unlike:
        said = f"called without {', '.join(unlike)}" if unlike else f"{full.get('status')}, {full.get('detail')}"
        return {**reduced, **cost, "detail": f"{reduced['detail']}; at full depth: {said}"}
    if reduced["status"] == "full_graph":
        mismatch = full["status"] != "full_graph"
        detail = reduced["detail"] + ("; at full depth it breaks: " + full["detail"] if mismatch else "")
        return {**reduced, **cost, "depth_mismatch": mismatch, "detail": detail}
    if not _layers_matter(reduced):
        mismatch = any(reduced.get(name) != full.get(name) for name in _OF_BREAKS)
        return {**(_with_ops_of(reduced, full) if mismatch else reduced), **cost, "depth_mismatch": mismatch}
    # A break that needs many layers away: published as found at full depth, which is the number of record.
    return {**_with_ops_of(reduced, full), **cost}


def _with_ops_of(reduced: dict, full: dict) -> dict:
    return {**full, "ops_captured": reduced.get("ops_captured"), "ops_depth": reduced.get("depth")}


def _cost_of(first: dict, second: dict) -> dict:
    """What two legs took together."""
    return {
        **{name: round((first.get(name) or 0) + (second.get(name) or 0), 4) for name in ("cpu_s", "capture_s")},
        "peak_rss_mb": max(first.get("peak_rss_mb") or 0, second.get("peak_rss_mb") or 0),
        **{name: _added(first.get(name), second.get(name)) for name in ("phase_s", "phase_cpu_s")},
    }


def _left_out(reduced: dict, full: dict) -> list:
    """Arguments that the full model could not be called with: its numbers are of another call."""
    passed, there = reduced.get("inputs") or {}, full.get("inputs") or {}
    return sorted(passed.keys() - there.keys()) if there else []


def _added(first, second) -> dict:
    first, second = first or {}, second or {}
    return {name: round(first.get(name, 0) + second.get(name, 0), 4) for name in {**first, **second}}


class Capture:
    """Starts legs one after the other; `result` is set when the job has ended. Owner: the zygote's loop."""

    def __init__(self, job: dict, body_of, say):
        self.job = job
        self.id = job["job"]
        self.result = None
        self._body_of, self._say = body_of, say
        self._reduced = None
        self._stacks = None  # those to be whole at full depth, where not all need be
        self._helped = None  # what the first leg's config was filled in for: the others' is, too
        self._cancelled = False
        depth = job.get("depth")
        self._depth = depth if depth in ("auto", "verify", *_ALONE) else "auto"
        self._wanted = repeat.count_of(job)
        self._published = None  # while repeats of its leg are under way
        self._repeats = []
        self.run = self._start(depth if depth in _ALONE else "reduced")

    def cancel(self) -> None:
        self._cancelled = True
        self.run.kill("cancel")

    def advance(self) -> None:
        """Called when the leg has finished: the next leg, or the result."""
        outcome = self.run.outcome()
        self._helped = self._helped or outcome.get("helped")
        if self._cancelled:
            self._finish({"status": "not_attempted", "detail": "cancelled", "phase": self.run.phase})
        elif self._published is not None:
            self._repeats.append(outcome)
            self._repeat_or_finish()
        elif self._reduced is not None and self._stacks and needs_every_stack(self._stacks, outcome):
            self._reduced.update(_cost_of(self._reduced, outcome))
            self._stacks = None
            self.run = self._start("full")
        elif self._reduced is not None:
            published = combine(self._reduced, outcome)
            self._settle(published, outcome if published.get("depth") == outcome.get("depth") else self._reduced)
        elif self._depth not in _ALONE and needs_full(self._depth, outcome):
            self._reduced = outcome
            self._stacks = outcome.get("stacks") if self._depth == "auto" else None
            self.run = self._start("full")
        else:
            self._settle(outcome, outcome)

    def _settle(self, published: dict, leg: dict) -> None:
        """`leg` is the outcome that was published: what is repeated, where a repeat can say something."""
        if self._wanted == 1 or published["status"] not in CAPTURED:
            self._finish(published)
            return
        self._published, self._repeats = published, [leg]
        self._repeat_or_finish()

    def _repeat_or_finish(self) -> None:
        if len(self._repeats) == self._wanted:
            self._finish(repeat.publish(self._published, self._repeats))
        else:
            depth = "full" if self._repeats[0].get("depth") == "full" else "reduced"
            self.run = self._start(self._depth if self._depth in _ALONE else depth, attempt=len(self._repeats))

    def _start(self, depth: str, attempt: int = 0) -> ChildRun:
        job = {**self.job, "attempt": attempt, "stacks": self._stacks, "helped": self._helped}
        return ChildRun(self.job, self._body_of(job, depth), lambda phase: self._say({
            "type": "phase", "job": self.id, "phase": phase}))

    def _finish(self, outcome: dict) -> None:
        outcome = {name: value for name, value in outcome.items() if name not in _BETWEEN_LEGS}
        self.result = {
            "type": "result", "job": self.id, **outcome, "mode": modes.name_of(self.job), "device": "cpu",
            "toolchain": version.toolchain(),
        }
        self.result["detail"] = self.result.get("detail") or self.result["status"]
        if (remedy := remedies.of(
                self.result["status"], self.result["detail"], own=bool(self.job.get("source")))):
            self.result["remedy"] = remedy
