"""What runs after the fork: one model through create, inputs, eager and capture. Writes one result, then exits."""

import copy
import gc
import hashlib
import json
import os
import resource
import signal
import sys
import time
import traceback

import torch

from . import architecture, attempts, build, depths, gaps, host, inputs, modes, room, sizes, trace
from .ends import CAPTURED
from .leg import limits_of
from .lines import clip, one_line, write_line

_ERROR_BYTES = 16 << 10
_GIB = 1 << 30
_GAP_ROUNDS = 5  # a default may lack one value behind another


class Phases:
    """Announces each phase and keeps the seconds. A phase met again (another attempt) adds up."""

    def __init__(self, say):
        self.seconds = {}
        self.processor_seconds = {}
        self.current = "create"
        self._say = say
        self._since, self._since_used = time.monotonic(), time.process_time()
        self._say({"type": "phase", "phase": "create"})

    def enter(self, name: str) -> None:
        now, used = time.monotonic(), time.process_time()
        for seconds, spent in ((self.seconds, now - self._since), (self.processor_seconds, used - self._since_used)):
            seconds[self.current] = seconds.get(self.current, 0.0) + spent
        self.current, self._since, self._since_used = name, now, used
        if name != "done":
            self._say({"type": "phase", "phase": name})

    def numbers(self) -> dict:
        return {name: round(seconds, 4) for name, seconds in self.seconds.items()}

    def processor_numbers(self) -> dict:
        return {name: round(seconds, 4) for name, seconds in self.processor_seconds.items()}


def body(job: dict, depth: str, scratch: str, protocol: int):
    """The child's whole life as a function of its two pipes; never returns."""
    def run(result_fd: int, output_fd: int) -> None:
        try:
            _confine(job, output_fd, protocol, scratch)
            trace.seed = job.get("attempt") or 0
            result = room.in_one_block(_guarded, job, depth, lambda message: write_line(result_fd, message))
            write_line(result_fd, {"type": "result", **result})
            code = 0
        except BaseException:
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    return run


def _confine(job: dict, output_fd: int, protocol: int, scratch: str) -> None:
    os.setsid()
    host.die_with_parent()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.close(protocol)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(output_fd)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    host.scrub_environment()
    folder = os.path.join(scratch, "capture")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    os.environ["TMPDIR"] = folder
    limits = job.get("limits") if isinstance(job.get("limits"), dict) else {}
    rss = int(limits.get("rss_bytes") or 6 * _GIB)
    with open("/proc/self/statm") as file:
        data_now = int(file.read().split()[5]) * resource.getpagesize()
    # A single huge allocation fails here, as an error with a name, before the watcher could see it grow.
    resource.setrlimit(resource.RLIMIT_DATA, (data_now + rss + _GIB, data_now + rss + _GIB))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_GIB, _GIB))
    room.keep_freed_memory()
    torch.set_num_threads(1)
    # Few long collections beat many short ones: most of what tracing makes lives as long as the child.
    gc.set_threshold(100_000, 50, 100)


def _is_out_of_memory(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, MemoryError) or "DefaultCPUAllocator: can't allocate memory" in text or (
        "DefaultCPUAllocator: not enough memory" in text) or "Cannot allocate memory" in text


def _error_text(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    data = text.encode("utf-8", "replace")
    if len(data) > _ERROR_BYTES:  # the end holds the error itself
        text = "[...]\n" + data[-(_ERROR_BYTES - 8):].decode("utf-8", "ignore")
    return text


def failure(phase: str, error: BaseException) -> dict:
    """The result of an exception in a phase."""
    kind = f"{type(error).__name__}: {one_line(str(error)) or 'no text'}"
    if isinstance(error, architecture.Stop):
        return {"status": error.status, "detail": one_line(error.detail)}
    if isinstance(error, build.TooLarge):
        return {"status": "skipped_too_large", "detail": one_line(str(error))}
    if _is_out_of_memory(error):
        return {"status": "out_of_memory", "detail": f"{phase}: {kind}", "error": _error_text(error)}
    if phase == "create" and (package := architecture.missing_dependency(error)):
        detail = f"needs {package}: {kind}"
        return {"status": "skipped_missing_dependency", "detail": detail, "error": _error_text(error)}
    return {"status": f"failed_{phase}", "detail": f"{phase}: {kind}", "error": _error_text(error)}


def _guarded(job: dict, depth: str, say) -> dict:
    phases = Phases(say)
    try:
        result = attempts.of(job)(job, depth, phases).run()
    except Exception as error:
        result = failure(phases.current, error)
    result.setdefault("phase", phases.current)
    phases.enter("done")
    result["phase_s"] = phases.numbers()
    result["phase_cpu_s"] = phases.processor_numbers()
    result["capture_s"] = round(sum(result["phase_s"].values()), 4)
    result["mode"] = modes.name_of(job)
    result["device"] = "cpu"
    return result


class Attempt:
    """One model at one depth, on the smallest of its sizes that builds and runs."""

    def __init__(self, job: dict, depth: str, phases: Phases):
        self._job, self._depth, self._phases = job, depth, phases
        self._known = {}
        self._said = []  # by the failures of the last round
        self._made = False  # a model of any size, in any round
        self._mode, self._call = modes.of(job), None

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
        result = latest = self._run_smallest(cls, config_class, config, notes, part)
        for _ in range(_GAP_ROUNDS):
            failed = latest["status"] in ("failed_create", "failed_inputs", "failed_eager")
            # What the config itself says comes first; only a model that cannot be made of it is helped along.
            filled = next((said for text in self._said if (said := gaps.fill_required(config, text))), [])
            if not failed or not filled:
                break
            notes = notes + filled
            latest = self._run_smallest(cls, config_class, config, notes, part)
            if _came_to_capture(latest):
                return latest
        return result

    def _run_smallest(self, cls, config_class, config, notes: list, part: bool) -> dict:
        first, self._said = None, []
        whole = self._whole_stacks(cls, config)
        ways, made = inputs.Ways(cls, self._job.get("inputs_spec"), part), False
        for variant in ways:
            for size in sizes.plans(config, self._depth, whole):
                try:
                    prepared = self._prepare(cls, config_class, size, variant)
                except architecture.Stop:
                    raise
                except Exception as error:
                    failed = {**failure(self._phases.current, error), "phase": self._phases.current}
                    prepared = None
                    # The error holds the frames that hold the model: gone before the next one is made.
                    error.__traceback__ = error.__context__ = error.__cause__ = None
                if prepared is not None:
                    model, arguments, summary = prepared
                    self._known.update(depth=size.depth, params=sum(p.numel() for p in model.parameters()))
                    said = ([size.note] if size.note else []) + summary["gaps"]
                    said += [f"called {variant['name']}"] if variant["name"] != "all" else []
                    return self._capture(model, arguments, summary, notes + said)
                # What the smallest size says is reported: larger ones mostly fail of their size.
                first = first or failed
                self._said.append(failed["detail"])
                if failed["status"] == "skipped_missing_dependency":
                    return {**self._known, **failed}
                self._phases.enter("create")
                made = made or failed["phase"] != "create"
                self._made = self._made or made
                if ways.learn(failed["detail"]):
                    first = None  # it is what the model says to its wish that tells why it fails
                    break
                if failed["status"] in ("out_of_memory", "skipped_too_large"):
                    break
            if not made:
                break  # another way of calling does not mend a model that cannot be made
        return {**self._known, **(first or {"status": "failed_inputs", "detail": "inputs: nothing can be left out"})}

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
        output = self._eager(model, arguments, remake=lambda vary: inputs.make(model, config, variant, vary),
                             sizes=inputs.Plan(model, config, variant).sizes)
        return model, arguments, {"finite": inputs.is_finite(output), "gaps": tokens}

    def _eager(self, model, arguments: dict, remake=None, sizes=None):
        """The output of the call without a compiler, as the job's mode makes it. See modes.Call for the rest."""
        limits = limits_of(self._job)
        self._call = modes.Call(model, arguments, remake, sizes, limits["capture_s"], int(limits["rss_bytes"]))
        self._mode.ready(self._call)
        self._phases.enter("eager")
        return self._mode.eager(self._call)

    def _capture(self, model, arguments: dict, summary: dict, notes: list) -> dict:
        if self._call is None or self._call.model is not model:
            self._eager(model, arguments)
        call = self._call
        self._phases.enter("capture")
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
            again = self._mode.suppressed(call)
            return {**result, **again.numbers(), **failure("capture", found.error), "phase": "capture"}
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


__all__ = ["body", "clip", "failure"]
