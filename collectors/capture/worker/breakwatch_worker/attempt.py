"""One model of the library through create, inputs, eager and capture, at one depth."""

import contextlib
import copy
import gc
import hashlib
import json
import os
import pickle
import time

from . import failure, modes
from .inputs import calls, copies, forward_inputs
from .inputs.call_variants import CallVariants
from .model import architecture, build, config_fixes, depths, sizes
from .process import fork, host, tuning
from .process.child_run import limits_of
from .process.ends import CAPTURED
from .process.phases import Phases
from .retries import Retries
from .text import one_line

_GAP_ROUNDS = 5  # a default may lack one value behind another


class Failed(Exception):
    """What was tried apart failed there: `result` is what is said of it."""

    def __init__(self, result: dict):
        super().__init__(result["detail"])
        self.result = result


class Attempt:
    """One model at one depth, on the smallest of its sizes that builds and runs."""

    def __init__(self, job: dict, depth: str, phases: Phases):
        self._job, self._depth, self._phases = job, depth, phases
        self._known = {}
        self._errors = []  # by the failures of the last round
        self._built = False  # a model of any size, in any round
        self._exhaustive = False  # every size and way is tried before the config is helped along
        self._cut_short = False  # not all were
        self._mode, self._call = modes.of(job), None  # the call that was last made
        self._skips_denormals = False  # in that call

    def run(self) -> dict:
        values = self._job.get("config")
        architecture.check_library(self._job.get("library") or "", values)
        config_class = architecture.config_class_of(self._job, values)
        config, notes = config_fixes.make_config(config_class, values)
        cls, note = architecture.model_class_of(self._job, values, config)
        notes += [note] if note else []
        cls, config, note = architecture.stand_in(cls, config)
        self._known = {"architecture": cls.__name__, "model_type": config.model_type, "dtype": "float32"}
        notes += [note] if note else []
        notes += config_fixes.fill_padding(cls, config)
        first = None
        for part in (False, True):  # a part of what it takes only where nothing makes it take all
            self._exhaustive = self._cut_short = False
            result = self._run_filled(cls, copy.deepcopy(config), list(notes), part)
            if self._cut_short and not _came_to_capture(result):
                self._exhaustive = True
                result = self._run_filled(cls, copy.deepcopy(config), list(notes), part)
            if _came_to_capture(result):
                return result
            first = first or result
            if not self._built:
                break  # another way of calling does not mend a model that cannot be made
        return first

    def _run_filled(self, cls, config, notes: list, part: bool) -> dict:
        """With what the config lacks filled in, one gap behind another. The first failure is the one reported."""
        config_class = type(config)
        helped = list(self._job.get("helped") or [])  # by the leg before
        for text in helped:
            notes = notes + config_fixes.fix(config, text)
        result = latest = self._run_smallest(cls, config_class, config, notes, part)
        for _ in range(_GAP_ROUNDS):
            if latest["status"] not in ("failed_create", "failed_inputs", "failed_eager"):
                break
            # What the config itself says comes first; only a model that cannot be made of it is helped along.
            text, filled = next(((text, said) for text in self._errors if (said := config_fixes.fix(config, text))),
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
        variants = CallVariants(
            cls, self._job.get("inputs_spec"), part, calls.call_name(self._job), self._mode.trains)
        retries = Retries(config, variants, self._exhaustive)
        self._errors = retries.errors
        for variant in variants:
            for size in sizes.plans(config, self._depth, whole, cut_windows=not variants.sets_length):
                ready, failed = self._try(self._prepare, cls, config_class, size, variant)
                if ready is not None:
                    return self._capture_ready(ready, size, variant, notes)
                self._make_room()
                self._phases.enter("create")
                if not retries.another_size(failed):
                    break
            if not retries.another_variant():
                break
        self._built, self._cut_short = self._built or retries.built, self._cut_short or retries.cut_short
        return {**self._known, **retries.reported()}

    def _capture_ready(self, ready: tuple, size, variant: dict, notes: list) -> dict:
        model, summary = ready
        self._known.update(depth=size.depth, params=build.parameter_count(model))
        said = ([size.note] if size.note else []) + summary["gaps"]
        said += [f"called {variant['name']}"] if variant["name"] != "all" else []
        return self._capture(summary, notes + said)

    def _try(self, prepare, *arguments) -> tuple:
        """(what is ready for its capture, None), or (None, the failure)."""
        try:
            return prepare(*arguments), None
        except architecture.Stop:
            raise
        except Failed as failed:
            return None, failed.result
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
        tokens = config_fixes.fill_gaps(config)
        model = build.construct(cls, config)
        self._phases.enter("inputs")
        plan = forward_inputs.Plan(model, config, variant)
        summary = self._called(model, lambda: forward_inputs.make(model, config, variant), plan.sizes,
                               lambda vary: forward_inputs.make(model, config, variant, vary))
        return model, {**summary, "gaps": tokens + plan.too_short()}

    def _called(self, model, make, sizes=None, remake=None) -> dict:
        """In the phases `inputs` and `eager`: the model called without a compiler with what `make` gives; modes.Call
        says the rest. Where the first call is to be captured, this one is made in a fork."""
        if self._mode.cold:
            return self._called_apart(model, make)
        self._call = self._call_of(model, make(), sizes=sizes, remake=remake)
        return {"finite": self._is_finite()}

    def _called_apart(self, model, make) -> dict:
        """Making the arguments may call parts of the model, too: they come from where the model was called."""
        def call() -> tuple:
            self._call = self._call_of(model, make())
            arguments = pickled(self._call.arguments)  # before the call, which may write into them
            return arguments, self._is_finite(), self._skips_denormals

        arguments, finite, skips_denormals = self._apart(call)
        tuning.skip_denormals(skips_denormals)
        self._call = self._call_of(model, pickle.loads(arguments), forks=True)
        self._mode.ready(self._call)
        return {"finite": finite}

    def _call_of(self, model, arguments: dict, **more) -> modes.Call:
        limits = limits_of(self._job)
        return modes.Call(model, arguments, limit_s=limits["capture_s"], limit_bytes=int(limits["rss_bytes"]), **more)

    def _is_finite(self) -> bool:
        """Whether the eager call's output is. A number next to nothing may be what was divided by: then with those,
        where that helps."""
        self._skip_denormals(True)
        if forward_inputs.is_finite(self._eager()):
            return True
        self._skip_denormals(False)
        finite = forward_inputs.is_finite(self._eager())
        self._skip_denormals(not finite)
        return finite

    def _skip_denormals(self, skip: bool) -> None:
        self._skips_denormals = skip
        tuning.skip_denormals(skip)

    def _eager(self):
        """The output of the call without a compiler, as the job's mode makes it."""
        self._mode.ready(self._call)
        self._phases.enter("eager")
        return self._mode.eager(self._call)

    def _apart(self, function, *arguments):
        """What the function returns, run in a fork that goes on with the phases. Raises Failed or Stop."""
        said = fork.call(self._told, self._phases.state(), function, arguments)
        self._phases.go_on(said["phases"])
        if "stop" in said:
            raise architecture.Stop(*said["stop"])
        if "failed" in said:
            raise Failed(said["failed"])
        return said["returned"]

    def _told(self, state: tuple, function, arguments: tuple) -> dict:
        self._phases.go_on(state)
        try:
            said = {"returned": function(*arguments)}
        except architecture.Stop as stop:
            said = {"stop": (stop.status, stop.detail)}
        except BaseException as error:  # the code's own SystemExit too
            said = {"failed": {**failure.of(self._phases.current, error), "phase": self._phases.current}}
        return {**said, "phases": self._phases.state()}

    def _capture(self, summary: dict, notes: list) -> dict:
        """Of the call that was just made without a compiler."""
        call = self._call
        described = forward_inputs.describe(call.by_name())
        result = {
            **self._known,
            "inputs": described,
            **calls.optional_arguments(call.model, call.by_name()),
            "inputs_digest": hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()[:16],
        }
        notes = notes + ([] if summary["finite"] else ["eager output not finite"])
        self._phases.enter("capture")
        begun = time.monotonic()
        run = self._apart if call.forks else lambda function, *arguments: function(*arguments)
        try:
            found, is_error = run(self._captured, notes)
        except Failed as failed:
            return {**result, **failed.result}
        # What can be counted all the same, but not at the price of the answer there is.
        if is_error and time.monotonic() - begun < limits_of(self._job)["capture_s"] / 2:
            with contextlib.suppress(Failed):
                result.update(run(self._suppressed))
        return {**result, **found}

    def _suppressed(self) -> dict:
        return self._mode.suppressed(self._call).numbers()

    def _captured(self, notes: list) -> tuple:
        """(what the capture comes to, whether the compiler failed)."""
        found = self._mode.capture(self._call)
        result = {"mode_detail": modes.bounded(found.mode_detail)} if found.mode_detail else {}
        if found.error is not None:
            failed = {**failure.of("capture", found.error), "phase": "capture"}
            found.error.__traceback__ = found.error.__context__ = found.error.__cause__ = None  # frames hold tensors
            return {**result, **failed}, True
        numbers = found.numbers()
        status = found.status or ("graph_breaks" if numbers["breaks"] else "full_graph")
        if status not in CAPTURED:
            return {**result, "status": status, "detail": one_line(found.detail), "phase": "capture"}, False
        said = "; ".join([found.detail or verdict(numbers), *found.notes, *notes])
        # Of use between the legs of a capture alone: which of them is needed.
        result["stacks"] = None if found.trace.stacks is None else sorted(found.trace.stacks)
        return {**result, **numbers, "status": status, "detail": one_line(said), "phase": "done"}, False


def pickled(arguments: dict) -> bytes:
    try:
        return pickle.dumps(arguments)
    except Exception as error:
        raise copies.CannotCopy(f"{type(error).__name__}: {error}") from error


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
