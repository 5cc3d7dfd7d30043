"""One run of a transformers model: create, inputs, eager and capture, at one depth.

A run makes attempts: each is one size of the model with one call variant. The first attempt that runs eagerly is
captured. """

import contextlib
import copy
import gc
import hashlib
import json
import os
import pickle
import time

from . import failure, modes, suggestions
from .inputs import calls, copies, forward_inputs
from .inputs.call_variants import CallVariants
from .model import architecture, build, config_fixes, depths, overrides, sizes
from .process import fork, host, tuning
from .process.child_run import limits_of
from .process.ends import CAPTURED
from .process.phases import Phases
from .retries import Retries
from .text import one_line

_MAX_CONFIG_FIXES = 5  # fixing one value of a config may uncover the next one


class Failed(Exception):
    """A function failed in a fork. `result` describes the failure."""

    def __init__(self, result: dict):
        super().__init__(result["detail"])
        self.result = result


class ModelRun:
    """One model at one depth, at the smallest size that builds and runs."""

    origin = suggestions.CONFIG  # where the model is from

    def __init__(self, job: dict, depth: str, phases: Phases):
        self._job, self._depth, self._phases = job, depth, phases
        self._known = {}
        self._errors = []  # of the last attempts
        self._built = False  # a model of any size was built
        self._exhaustive = False  # try every size and call variant before the config is fixed
        self._cut_short = False  # some were skipped
        self._mode, self._call = modes.mode_of(job), None  # the last call
        self._flushes_denormals = False  # during that call

    def run(self) -> dict:
        values = self._job.get("config")
        architecture.check_library(self._job.get("library") or "", values)
        config_class = architecture.config_class_of(self._job, values)
        config, notes = config_fixes.make_config(config_class, values)
        cls, note = architecture.model_class_of(self._job, values, config)
        notes += [note] if note else []
        cls, config, note = architecture.stand_in(cls, config)
        self._known = {"architecture": cls.__name__, "model_type": config.model_type,
                       "dtype": overrides.dtype_name(self._job)}
        notes += [note] if note else []
        notes += config_fixes.fill_padding(cls, config)
        first = None
        for partial in (False, True):  # leave out a part of the input only if no complete call runs
            self._exhaustive = self._cut_short = False
            result = self._run_fixing(cls, copy.deepcopy(config), list(notes), partial)
            if self._cut_short and not _came_to_capture(result):
                self._exhaustive = True
                result = self._run_fixing(cls, copy.deepcopy(config), list(notes), partial)
            if _came_to_capture(result):
                return result
            first = first or result
            if not self._built:
                break  # another call cannot fix a model that cannot be built
        return first

    def _run_fixing(self, cls, config, notes: list, partial: bool) -> dict:
        """Attempts the config as it is, then with one fix after another. Reports the first failure if no fix helps."""
        config_class = type(config)
        fixed_errors = list(self._job.get("fixed_errors") or [])  # by the previous run
        for error in fixed_errors:
            notes = notes + config_fixes.fix(config, error)
        result = latest = self._run_smallest(cls, config_class, config, notes, partial)
        for _ in range(_MAX_CONFIG_FIXES):
            if latest["status"] not in ("failed_create", "failed_inputs", "failed_eager"):
                break
            # The config is fixed only if no model can be made from it as it is.
            error, fixes = next(((error, fixes) for error in self._errors
                                 if (fixes := config_fixes.fix(config, error))), ("", []))
            if not fixes:
                break
            fixed_errors.append(error)
            notes = notes + fixes
            latest = self._run_smallest(cls, config_class, config, notes, partial)
            if _came_to_capture(latest):
                return {**latest, "fixed_errors": fixed_errors}
        return result

    def _run_smallest(self, cls, config_class, config, notes: list, partial: bool) -> dict:
        """Captures the first attempt that runs: for each call variant, the sizes from the smallest. Keeps the
        errors."""
        uncut = self._uncut(cls, config)
        variants = CallVariants(
            cls, self._job.get("inputs_spec"), partial, calls.call_name(self._job), self._mode.trains)
        retries = Retries(config, variants, self._exhaustive)
        self._errors = retries.errors
        for variant in variants:
            keep_windows = variants.sets_length or variant["steps"][-1].get("keep_windows", False)
            for size in sizes.plans(config, self._depth, uncut, cut_windows=not keep_windows):
                ready, failed = self._try(self._prepare, cls, config_class, size, variant)
                if ready is not None:
                    return self._capture_ready(ready, size, variant, notes)
                self._collect_garbage()
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
        about = ([size.note] if size.note else []) + summary["notes"]
        about += [f"called {variant['name']}"] if variant["name"] != "all" else []
        return self._capture(summary, notes + about)

    def _try(self, prepare, *arguments) -> tuple:
        """(what is ready for the capture, None), or (None, the failure)."""
        try:
            return prepare(*arguments), None
        except architecture.Stop:
            raise
        except Failed as failed:
            return None, failed.result
        except Exception as error:
            failed = self._failure_of(error)
            # The error holds frames, and these hold the model. Free it before the next one is made.
            error.__traceback__ = error.__context__ = error.__cause__ = None
            return None, failed

    def _failure_of(self, error: BaseException) -> dict:
        """The result of an exception in the current phase."""
        phase = self._phases.current
        return {**failure.result_of(phase, error, self.origin), "phase": phase}

    def _collect_garbage(self) -> None:
        """Frees the failed model, which may be part of reference cycles, before the next one needs memory."""
        if host.resident_bytes(os.getpid()) > limits_of(self._job)["rss_bytes"] / 2:
            gc.collect()

    def _uncut(self, cls, config):
        """The depth keys that a full-depth run must not cut, if the job names the layer groups that matter; else
        None."""
        groups = self._job.get("layer_groups") if self._depth == "full" else None
        uncut = depths.keys_of(cls, config, groups) if groups else None
        if uncut is not None and not uncut:
            raise architecture.Stop("not_attempted", "no layer group that matters is reduced at reduced depth")
        self._known["partly_full"] = uncut is not None
        return uncut

    def _prepare(self, cls, config_class, size, variant: dict) -> tuple:
        config = size.make(config_class)
        tokens = config_fixes.fill_tokens(config)
        overrides.set_attention(self._job, config)
        model = self._mode.constructed(build.construct(cls, config))
        overrides.cast(self._job, model)
        self._phases.enter("inputs")
        plan = forward_inputs.Plan(model, config, variant)

        def make(*vary) -> dict:
            return overrides.cast_arguments(self._job, forward_inputs.make(model, config, variant, *vary))

        summary = self._called(model, make, plan.sizes, make)
        return model, {**summary, "notes": tokens + plan.too_short()}

    def _called(self, model, make, sizes=None, remake=None) -> dict:
        """Phases `inputs` and `eager`: makes the arguments with `make` and calls the model eagerly. If the mode
        captures the first call, the eager call is made in a fork."""
        if self._mode.cold:
            return self._called_in_fork(model, make)
        self._call = self._call_of(model, make(), sizes=sizes, remake=remake)
        return {"finite": self._is_finite()}

    def _called_in_fork(self, model, make) -> dict:
        """The arguments are made in the fork too, because making them may call parts of the model."""
        def call() -> tuple:
            self._call = self._call_of(model, make())
            arguments = pickled(self._call.arguments)  # before the call, which may write into them
            return arguments, self._is_finite(), self._flushes_denormals

        arguments, finite, flushes_denormals = self._in_fork(call)
        tuning.flush_denormals(flushes_denormals)
        self._call = self._call_of(model, pickle.loads(arguments), forks=True)
        self._mode.ready(self._call)
        return {"finite": finite}

    def _call_of(self, model, arguments: dict, **more) -> modes.Call:
        limits = limits_of(self._job)
        return modes.Call(model, arguments, limit_s=limits["capture_s"], limit_bytes=int(limits["rss_bytes"]),
                          published=self._depth == "original" or self.origin == suggestions.OWN,
                          about=self._known, **more)

    def _is_finite(self) -> bool:
        """Whether the output of the eager call is finite. If not, calls again without flushing denormal numbers: a
        divisor may have been flushed to zero."""
        self._flush_denormals(True)
        if forward_inputs.is_finite(self._eager()):
            return True
        self._flush_denormals(False)
        finite = forward_inputs.is_finite(self._eager())
        self._flush_denormals(not finite)
        return finite

    def _flush_denormals(self, flush: bool) -> None:
        self._flushes_denormals = flush
        tuning.flush_denormals(flush)

    def _eager(self):
        """The output of the eager call, made as the job's mode requires."""
        self._mode.ready(self._call)
        self._phases.enter("eager")
        return self._mode.eager(self._call)

    def _in_fork(self, function, *arguments):
        """Runs the function in a fork, which continues the phases, and returns its value. Raises Failed or Stop."""
        answer = fork.call(self._answer, self._phases.state(), function, arguments)
        self._phases.go_on(answer["phases"])
        if "stop" in answer:
            raise architecture.Stop(*answer["stop"])
        if "failed" in answer:
            raise Failed(answer["failed"])
        return answer["returned"]

    def _answer(self, state: tuple, function, arguments: tuple) -> dict:
        self._phases.go_on(state)
        try:
            answer = {"returned": function(*arguments)}
        except architecture.Stop as stop:
            answer = {"stop": (stop.status, stop.detail, stop.suggestion)}
        except BaseException as error:  # including a SystemExit of the model's code
            answer = {"failed": self._failure_of(error)}
        return {**answer, "phases": self._phases.state()}

    def _capture(self, summary: dict, notes: list) -> dict:
        """Captures the call that was just made eagerly."""
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
        run = self._in_fork if call.forks else lambda function, *arguments: function(*arguments)
        try:
            found, is_error = run(self._captured, notes)
        except Failed as failed:
            return {**result, **failed.result}
        # Count what can be counted despite the error, but do not risk a timeout that would hide it.
        if is_error and time.monotonic() - begun < limits_of(self._job)["capture_s"] / 2:
            with contextlib.suppress(Failed):
                result.update(run(self._suppressed))
        return {**result, **found}

    def _suppressed(self) -> dict:
        return self._mode.suppressed(self._call).numbers()

    def _captured(self, notes: list) -> tuple:
        """(the result of the capture, whether the compiler failed)."""
        found = self._mode.capture(self._call)
        result = {"mode_detail": modes.bounded(found.mode_detail, self._mode.detail_bytes)} if found.mode_detail else {}
        if found.error is not None:
            failed = self._failure_of(found.error)
            found.error.__traceback__ = found.error.__context__ = found.error.__cause__ = None  # frames hold tensors
            return {**result, **failed}, True
        numbers = found.numbers()
        status = found.status or ("graph_breaks" if numbers["breaks"] else "full_graph")
        if status not in CAPTURED:
            suggestion = found.suggestion or suggestions.default_for(status, self.origin)
            return {**result, "status": status, "detail": one_line(found.detail), "suggestion": suggestion,
                    "phase": "capture"}, False
        detail = "; ".join([found.detail or verdict(numbers), *found.notes, *notes])
        # For capture.py only: it decides which further run is needed.
        result["layer_groups"] = None if found.trace.layer_groups is None else sorted(found.trace.layer_groups)
        return {**result, **numbers, "status": status, "detail": one_line(detail), "phase": "done"}, False


def pickled(arguments: dict) -> bytes:
    try:
        return pickle.dumps(arguments)
    except Exception as error:
        raise copies.CannotCopy(f"{type(error).__name__}: {error}") from error


def _came_to_capture(result: dict) -> bool:
    """Whether the model was built and ran eagerly. A failure is then the compiler's."""
    return result["status"] in CAPTURED or result.get("phase") == "capture"


def verdict(numbers: dict) -> str:
    if numbers["breaks"]:
        return f"{_count(numbers['breaks'], 'break')} at {_count(numbers['break_sites'], 'site')}"
    if numbers["graphs"] == 0:
        return "no tensor operation was captured"
    return _count(numbers["graphs"], "graph")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
