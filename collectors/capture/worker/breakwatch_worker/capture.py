"""One `capture` job: which runs it needs, and which numbers are published.

A job is captured by a reduced run. If layers can affect what that run found, a full-depth run follows.
"""

from . import modes, repeat, suggestions, version
from .process.child_run import ChildRun
from .process.ends import CAPTURED

# Depths that need one run. The last two serve to test the size policy: the config's own widths at reduced depth, and
# the config as it is.
_ONE_RUN = ("full", "wide", "original")
# Numbers that cannot depend on the depth if Dynamo met no layer by itself.
_OF_BREAKS = ("status", "breaks", "break_sites", "graphs", "frames_total", "recompiles")
# What one run leaves for the next: the layer groups whose length matters (None: unknown), whether only these were at
# full depth, and the errors that the config was fixed for.
_BETWEEN_RUNS = ("layer_groups", "partly_full", "fixed_errors")


def needs_full(depth: str, result: dict) -> bool:
    """Whether a full-depth run must follow a reduced run. It need not if nothing was reduced, or if Dynamo met no layer
    by itself (layer_groups.py)."""
    if result.get("depth") != "reduced" or result.get("mode") in modes.REDUCED_ONLY or result["status"] not in CAPTURED:
        return False
    return depth == "verify" or (result["status"] == "graph_breaks" and _layers_matter(result))


def needs_every_group(wanted: list, outcome: dict) -> bool:
    """Whether a run with only the `wanted` layer groups at full depth must be repeated with all groups at full depth:
    it met layers of other groups, or it failed in a way that the complete model may not."""
    if not outcome.get("partly_full"):
        return False
    if outcome["status"] not in CAPTURED:
        return outcome["status"].startswith("failed")
    return outcome["layer_groups"] is None or not set(outcome["layer_groups"]) <= set(wanted)


def _layers_matter(result: dict) -> bool:
    return result.get("layer_groups") is None or bool(result["layer_groups"])


def combine(reduced: dict, full: dict) -> dict:
    """The published result of two runs: the breaks of the full-depth run and the operations of the reduced run. If the
    full-depth run failed, the result of the reduced run."""
    cost = _cost_of(reduced, full)
    if full.get("status") == "not_attempted":  # no layer group that matters was reduced
        return {**reduced, **cost}
    missing = _not_passed(reduced, full)
    if full.get("status") not in CAPTURED or missing:
        why = f"called without {', '.join(missing)}" if missing else f"{full.get('status')}, {full.get('detail')}"
        return {**reduced, **cost, "detail": f"{reduced['detail']}; at full depth: {why}"}
    if reduced["status"] == "full_graph":
        mismatch = full["status"] != "full_graph"
        detail = reduced["detail"] + ("; at full depth it breaks: " + full["detail"] if mismatch else "")
        return {**reduced, **cost, "depth_mismatch": mismatch, "detail": detail}
    if not _layers_matter(reduced):
        mismatch = any(reduced.get(name) != full.get(name) for name in _OF_BREAKS)
        return {**(_with_ops_of(reduced, full) if mismatch else reduced), **cost, "depth_mismatch": mismatch}
    return {**_with_ops_of(reduced, full), **cost}


def _with_ops_of(reduced: dict, full: dict) -> dict:
    return {**full, "ops_captured": reduced.get("ops_captured"), "ops_depth": reduced.get("depth")}


def _cost_of(first: dict, second: dict) -> dict:
    """The time and memory of two runs together."""
    return {
        **{name: round((first.get(name) or 0) + (second.get(name) or 0), 4) for name in ("cpu_s", "capture_s")},
        "peak_rss_mb": max(first.get("peak_rss_mb") or 0, second.get("peak_rss_mb") or 0),
        **{name: _added(first.get(name), second.get(name)) for name in ("phase_s", "phase_cpu_s")},
    }


def _not_passed(reduced: dict, full: dict) -> list:
    """Arguments that only the reduced run passed. The numbers of the full-depth run are then those of another call."""
    passed, there = reduced.get("inputs") or {}, full.get("inputs") or {}
    return sorted(passed.keys() - there.keys()) if there else []


def _added(first, second) -> dict:
    first, second = first or {}, second or {}
    return {name: round(first.get(name, 0) + second.get(name, 0), 4) for name in {**first, **second}}


class Capture:
    """Starts one run after another. `result` is set when the job has ended. Owner: the zygote's loop."""

    def __init__(self, job: dict, body_of, say):
        self.job = job
        self.id = job["job"]
        self.result = None
        self._body_of, self._say = body_of, say
        self._reduced = None
        self._groups = None  # the layer groups that must be at full depth; None: all
        self._fixed_errors = None  # errors that the first run fixed the config for; later runs start with these fixes
        self._cancelled = False
        depth = modes.depth_of(job)
        self._depth = depth if depth in ("auto", "verify", *_ONE_RUN) else "auto"
        self._wanted = repeat.count_of(job)
        self._published = None  # while its run is repeated
        self._repeats = []
        self.run = self._start(depth if depth in _ONE_RUN else "reduced")

    def cancel(self) -> None:
        self._cancelled = True
        self.run.kill("cancel")

    def advance(self) -> None:
        """Called when a run has finished: starts the next one, or sets the result."""
        outcome = self.run.outcome()
        self._fixed_errors = self._fixed_errors or outcome.get("fixed_errors")
        if self._cancelled:
            self._finish({"status": "not_attempted", "detail": "cancelled", "phase": self.run.phase})
        elif self._published is not None:
            self._repeats.append(outcome)
            self._repeat_or_finish()
        elif self._reduced is not None and self._groups and needs_every_group(self._groups, outcome):
            self._reduced.update(_cost_of(self._reduced, outcome))
            self._groups = None
            self.run = self._start("full")
        elif self._reduced is not None:
            published = combine(self._reduced, outcome)
            self._settle(published, outcome if published.get("depth") == outcome.get("depth") else self._reduced)
        elif self._depth not in _ONE_RUN and needs_full(self._depth, outcome):
            self._reduced = outcome
            self._groups = outcome.get("layer_groups") if self._depth == "auto" else None
            self.run = self._start("full")
        else:
            self._settle(outcome, outcome)

    def _settle(self, published: dict, outcome: dict) -> None:
        """`outcome` is that of the run whose numbers are published; a job with `repeat` repeats this run."""
        if self._wanted == 1 or published["status"] not in CAPTURED:
            self._finish(published)
            return
        self._published, self._repeats = published, [outcome]
        self._repeat_or_finish()

    def _repeat_or_finish(self) -> None:
        if len(self._repeats) == self._wanted:
            self._finish(repeat.publish(self._published, self._repeats))
        else:
            depth = "full" if self._repeats[0].get("depth") == "full" else "reduced"
            self.run = self._start(self._depth if self._depth in _ONE_RUN else depth, attempt=len(self._repeats))

    def _start(self, depth: str, attempt: int = 0) -> ChildRun:
        job = {**self.job, "attempt": attempt, "layer_groups": self._groups, "fixed_errors": self._fixed_errors}
        return ChildRun(self.job, self._body_of(job, depth), lambda phase: self._say({
            "type": "phase", "job": self.id, "phase": phase}))

    def _finish(self, outcome: dict) -> None:
        outcome = {name: value for name, value in outcome.items() if name not in _BETWEEN_RUNS}
        self.result = {
            "type": "result", "job": self.id, **outcome, "mode": modes.mode_name(self.job), "device": "cpu",
            "toolchain": version.toolchain(),
        }
        self.result["detail"] = self.result.get("detail") or self.result["status"]
        origin = suggestions.OWN if self.job.get("source") else suggestions.CONFIG
        if (suggestion := outcome.get("suggestion") or suggestions.default_for(self.result["status"], origin)):
            self.result["suggestion"] = suggestion
