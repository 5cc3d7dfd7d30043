"""One model of the library through create, inputs, eager and capture, at one depth."""

import contextlib
import copy
import gc
import hashlib
import json
import os
import time

from . import architecture, build, depths, failure, gaps, host, inputs, modes, room, sizes
from .ends import CAPTURED
from .leg import limits_of
from .lines import one_line
from .phases import Phases
from .rounds import Round

_GAP_ROUNDS = 5  # a default may lack one value behind another


class Attempt:
    """One model at one depth, on the smallest of its sizes that builds and runs."""

    def __init__(self, job: dict, depth: str, phases: Phases):
        self._job, self._depth, self._phases = job, depth, phases
        self._known = {}
        self._said = []  # by the failures of the last round
        self._made = False  # a model of any size, in any round
        self._patient = False  # every size and way is tried before the config is helped along
        self._hurried = False  # not all were
        self._mode, self._call = modes.of(job), None  # the call that was last made

    def run(self) -> dict:
        values = self._job.get("config")
        architecture.check_library(self._job.get("library") or "", values)
        config_class = architecture.config_class_of(self._job, values)
        config, notes = architecture.make_config(config_class, values)
        cls, note = architecture.model_class_of(self._job, values, config)
        notes += [note] if note else []
        cls, config, note = architecture.stand_in(cls, config)
        self._known = {"architecture": cls.__name__, "model_type": config.model_type, "dtype": "float32"}
        notes += [note] if note else []
        notes += gaps.fill_padding(cls, config)
        first = None
        for part in (False, True):  # a part of what it takes only where nothing makes it take all
            self._patient = self._hurried = False
            result = self._run_filled(cls, copy.deepcopy(config), list(notes), part)
            if self._hurried and not _came_to_capture(result):
                self._patient = True
                result = self._run_filled(cls, copy.deepcopy(config), list(notes), part)
            if _came_to_capture(result):
                return result
            first = first or result
            if not self._made:
                break  # another way of calling does not mend a model that cannot be made
        return first

    def _run_filled(self, cls, config, notes: list, part: bool) -> dict:
        """With what the config lacks filled in, one gap behind another. The first failure is the one reported."""
        config_class = type(config)
        helped = list(self._job.get("helped") or [])  # by the leg before
        for text in helped:
            notes = notes + gaps.fill_required(config, text)
        result = latest = self._run_smallest(cls, config_class, config, notes, part)
        for _ in range(_GAP_ROUNDS):
            if latest["status"] not in ("failed_create", "failed_inputs", "failed_eager"):
                break
            # What the config itself says comes first; only a model that cannot be made of it is helped along.
            text, filled = next(((text, said) for text in self._said if (said := gaps.fill_required(config, text))),
                                ("", []))
            if not filled:
                break
            helped.append(text)
            notes = notes + filled
            latest = self._run_smallest(cls, config_class, config, notes, part)
            if _came_to_capture(latest):
                return {**latest, "helped": helped}
        return result

    def _run_smallest(self, cls, config_class, config, notes: list, part: bool) -> dict:
        """In each way of calling the smallest size that builds and runs. Keeps what this round's failures said."""
        whole = self._whole_stacks(cls, config)
        ways = inputs.Ways(cls, self._job.get("inputs_spec"), part)
        failures = Round(config, ways, self._patient)
        self._said = failures.said
        for variant in ways:
            for size in sizes.plans(config, self._depth, whole):
                ready, failed = self._try(self._prepare, cls, config_class, size, variant)
                if ready is not None:
                    return self._capture_ready(ready, size, variant, notes)
                self._make_room()
                self._phases.enter("create")
                if not failures.another_size(failed):
                    break
            if not failures.another_way():
                break
        self._made, self._hurried = self._made or failures.made, self._hurried or failures.hurried
        return {**self._known, **failures.reported()}

    def _capture_ready(self, ready: tuple, size, variant: dict, notes: list) -> dict:
        model, arguments, summary = ready
        self._known.update(depth=size.depth, params=sum(p.numel() for p in model.parameters()))
        said = ([size.note] if size.note else []) + summary["gaps"]
        said += [f"called {variant['name']}"] if variant["name"] != "all" else []
        return self._capture(model, arguments, summary, notes + said)

    def _try(self, prepare, *arguments) -> tuple:
        """(what is ready for its capture, None), or (None, the failure)."""
        try:
            return prepare(*arguments), None
        except architecture.Stop:
            raise
        except Exception as error:
            failed = {**failure.of(self._phases.current, error), "phase": self._phases.current}
            # The error holds the frames that hold the model: gone before the next one is made.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            return None, failed

    def _make_room(self) -> None:
        """A model that failed may hang in cycles of its own, and the next one would come on top of it."""
        if host.resident_bytes(os.getpid()) > limits_of(self._job)["rss_bytes"] / 2:
            gc.collect()

    def _whole_stacks(self, cls, config):
        """Of a leg at full depth, the cuts left out where not all need be: those of the stacks that the job names."""
        stacks = self._job.get("stacks") if self._depth == "full" else None
        whole = depths.needed(cls, config, stacks) if stacks else None
        if whole is not None and not whole:
            raise architecture.Stop("not_attempted", "none of the stacks that matter is cut at reduced depth")
        self._known["partial"] = whole is not None
        return whole

    def _prepare(self, cls, config_class, size, variant: dict) -> tuple:
        config = size.make(config_class)
        tokens = gaps.fill_gaps(config)
        model = build.construct(cls, config)
        self._phases.enter("inputs")
        arguments = inputs.make(model, config, variant)
        finite = self._is_finite(model, arguments, remake=lambda vary: inputs.make(model, config, variant, vary),
                                 sizes=inputs.Plan(model, config, variant).sizes)
        return model, arguments, {"finite": finite, "gaps": tokens}

    def _is_finite(self, model, arguments: dict, **more) -> bool:
        """Whether the eager call's output is. A number next to nothing may be what was divided by: then with those,
        where that helps."""
        room.skip_denormals()
        if inputs.is_finite(self._eager(model, arguments, **more)):
            return True
        room.skip_denormals(False)
        finite = inputs.is_finite(self._eager(model, arguments, **more))
        room.skip_denormals(not finite)
        return finite

    def _eager(self, model, arguments: dict, remake=None, sizes=None):
        """The output of the call without a compiler, as the job's mode makes it. See modes.Call for the rest."""
        limits = limits_of(self._job)
        self._call = modes.Call(model, arguments, remake, sizes, limits["capture_s"], int(limits["rss_bytes"]))
        self._mode.ready(self._call)
        self._phases.enter("eager")
        with self._around(model):
            return self._mode.eager(self._call)

    def _around(self, model):
        """What a call of the model happens in. The library's are captured as they are after a first call: their hooks
        and tables are laid then, by code that nobody compiles."""
        return contextlib.nullcontext()

    def _capture(self, model, arguments: dict, summary: dict, notes: list) -> dict:
        """Of a model and arguments that were just called eagerly."""
        call = self._call
        self._phases.enter("capture")
        begun = time.monotonic()
        with self._around(call.model):
            found = self._mode.capture(call)
        described = inputs.describe(call.arguments)
        result = {
            **self._known,
            "inputs": described,
            "inputs_digest": hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16],
        }
        if not summary["finite"]:
            notes = notes + ["eager output not finite"]
        if found.mode_detail:
            result["mode_detail"] = modes.bounded(found.mode_detail)
        if found.error is not None:
            failed = {**failure.of("capture", found.error), "phase": "capture"}
            found.error.__traceback__ = found.error.__context__ = found.error.__cause__ = None  # frames hold tensors
            # What can be counted all the same, but not at the price of the answer there is.
            in_time = time.monotonic() - begun < limits_of(self._job)["capture_s"] / 2
            return {**result, **(self._mode.suppressed(call).numbers() if in_time else {}), **failed}
        numbers = found.numbers()
        status = found.status or ("graph_breaks" if numbers["breaks"] else "full_graph")
        if status not in CAPTURED:
            return {**result, "status": status, "detail": one_line(found.detail), "phase": "capture"}
        said = "; ".join([found.detail or verdict(numbers), *found.notes, *notes])
        # Of use between the legs of a capture alone: which of them is needed.
        result["stacks"] = None if found.trace.stacks is None else sorted(found.trace.stacks)
        return {**result, **numbers, "status": status, "detail": one_line(said), "phase": "done"}


def _came_to_capture(result: dict) -> bool:
    """Whether the model was made and called: what is said of it then is the compiler's word, a failure too."""
    return result["status"] in CAPTURED or result.get("phase") == "capture"


def verdict(numbers: dict) -> str:
    if numbers["breaks"]:
        return f"{_count(numbers['breaks'], 'break')} at {_count(numbers['break_sites'], 'site')}"
    if numbers["graphs"] == 0:
        return "no tensor operation was captured"
    return _count(numbers["graphs"], "graph")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
