"""The ways of exporting, each run on its own: what came out, or the error with its place."""

import contextlib
import dataclasses
import gc
import inspect
import linecache
import logging
import os
import signal
import time
import traceback

import torch
from torch._dynamo import exc as dynamo_exc
from torch._logging import structured

from ..dynamo.breaks import Event, make_event, relative_file
from ..dynamo.trace import reset
from ..inputs import copies
from ..model.build import byte_count
from ..process import fork, host
from ..text import clip, one_line
from .base import Call, said_by

_FAILURES_KEPT = 64
_GUARD = "Guard on a data-dependent value"
# Errors of a class that names what the model does; an error of any other class is only told.
_REASON_BY_CLASS = {
    "GuardOnDataDependentSymNode": _GUARD,
    "DataDependentOutputException": "Data-dependent output",
    "DynamicOutputShapeException": "Data-dependent output shape",
    "UnsupportedOperatorException": "Operator without a fake kernel",
    "PendingUnbackedSymbolNotFound": "Unbacked symbol lost",
    "ConstraintViolationError": "Constraint violated",
}
_REASON_OF_FAILURE = {
    "DATA_DEPENDENT_ERROR": _GUARD,
    "MISSING_FAKE_KERNEL": "Operator without a fake kernel",
    "MISMATCHED_FAKE_KERNEL": "Operator with a wrong fake kernel",
    "GUARD_ADDED": "Guard added",
}


class Late(BaseException):
    """A leg passed its share of the time. Not an Exception: nothing on the way may take it for the model's."""


class Watch:
    """The phase's time, shared by the legs: none may take more than half, so that a slow one costs itself alone."""

    def __init__(self, limit_s: float):
        self._share = limit_s / 2
        self._end = time.monotonic() + 0.9 * limit_s

    @contextlib.contextmanager
    def leg(self):
        """Raises Late in the block when its time is over. Only from the main thread."""
        seconds = min(self._share, self._end - time.monotonic())
        if seconds <= 0:
            raise Late

        def late(*_):
            raise Late

        before = signal.signal(signal.SIGALRM, late)
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)  # again: code that swallows one meets the next
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class NotApplicable(Exception):
    """This way of exporting is not for this model or not in this toolchain; the text says why."""


@dataclasses.dataclass
class Leg:
    """How one way ended. `events` are the failures whose reason is known."""

    outcome: str  # exported, failed, timeout, skipped
    error: str = ""
    text: str = ""
    ops: int = 0
    events: list = dataclasses.field(default_factory=list)
    failures: list = None

    def describe(self) -> dict:
        told = {"outcome": self.outcome}
        if self.outcome == "exported":
            told["ops"] = self.ops
        if self.error:
            told["error"] = self.error
        if self.text:
            told["text"] = self.text
        if self.events and self.failures is None:
            event = self.events[0]
            told.update(reason=event.reason, gb_id=event.gb_id, file=event.file, line=event.line,
                        function=event.function)
        if self.failures is not None:
            told["failures"] = self.failures
        return told


@contextlib.contextmanager
def _as_it_was(model):
    """What a leg leaves on the modules (fake tensors in caches of the model's own) is taken off again."""
    modules = model.modules() if isinstance(model, torch.nn.Module) else ()
    kept = [(module, dict(vars(module)), dict(module._buffers)) for module in modules]
    try:
        yield
    finally:
        for module, attributes, buffers in kept:
            vars(module).clear()
            vars(module).update(attributes)
            module._buffers.clear()
            module._buffers.update(buffers)


def run(way, call: Call, watch: Watch) -> Leg:
    return fork.call(_run, way, call, watch) if call.forks else _run(way, call, watch)


def _run(way, call: Call, watch: Watch) -> Leg:
    reset()
    gc.collect()  # the program of the leg before
    if way is strict and (wanted := _bytes_of(call.model) + host.resident_bytes(os.getpid())) > 0.9 * call.limit_bytes:
        # It copies every parameter: passing the bound would end the capture, and lose what the other legs found.
        return Leg("skipped", text=f"copies the parameters: {wanted >> 20} MiB, near the bound on memory")
    try:
        with _as_it_was(call.model), watch.leg(), torch.no_grad(), _silent():  # no alarm while it is put back
            return way(_module_of(call.model), *call.given())
    except copies.CannotCopy:
        raise  # no way of exporting is told from another by it
    except Late:
        return Leg("timeout", text="passed its share of the time")
    except NotApplicable as error:
        return Leg("skipped", text=str(error))
    except BaseException as error:  # the code's own SystemExit too
        event = _event_of(error, way.__name__)
        return Leg("failed", error=type(error).__name__, text=said_by(error),
                   events=[event] if event is not None else [])


class _Module(torch.nn.Module):
    """A callable that is no module, as torch.export wants it: of an object, the method that is called."""

    def __init__(self, function):
        super().__init__()
        self.forward = function.__call__ if inspect.ismethod(function.__call__) else function


def _module_of(model) -> torch.nn.Module:
    return model if isinstance(model, torch.nn.Module) else _Module(model)


def _bytes_of(model) -> int:
    return byte_count(model) if isinstance(model, torch.nn.Module) else 0


@contextlib.contextmanager
def _silent():
    """torch.export logs each failure with a page of advice; what matters of it is in the result."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def non_strict(model, positional: tuple, arguments: dict) -> Leg:
    return _exported(torch.export.export(model, positional, arguments, strict=False))


def strict(model, positional: tuple, arguments: dict) -> Leg:
    return _exported(torch.export.export(model, positional, arguments, strict=True))


def library_exporter(model, positional: tuple, arguments: dict) -> Leg:
    """transformers' own: a non-strict export of the model with its inexportable parts replaced."""
    try:
        from transformers import PreTrainedModel
        from transformers.exporters.exporter_dynamo import DynamoConfig, DynamoExporter
    except ImportError as error:
        raise NotApplicable(f"no exporter in this transformers: {one_line(str(error))}") from None
    if not isinstance(model, PreTrainedModel):
        raise NotApplicable("not a model of transformers")
    if positional:
        raise NotApplicable("takes its arguments by name alone")
    try:
        exporter = DynamoExporter()
    except ImportError as error:
        raise NotApplicable(one_line(str(error))) from None
    return _exported(exporter.export(model, arguments, config=DynamoConfig(dynamic=False)).program)


def draft(model, positional: tuple, arguments: dict) -> Leg:
    """Goes on where export stops: every failure, not only the first."""
    try:
        from torch.export._draft_export import draft_export
    except ImportError:
        raise NotApplicable(f"torch {torch.__version__} has no draft_export") from None
    program = draft_export(model, positional, arguments)
    report = program._report
    leg = _exported(program)
    leg.failures = [_failure(report, failure) for failure in report.failures[:_FAILURES_KEPT]]
    leg.events = [_event_of_failure(failure) for failure in leg.failures]
    return leg


def register_caches(model) -> None:
    """What models return besides tensors is made known to export, as the library's own exporter does it."""
    with contextlib.suppress(ImportError, ValueError):
        from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model

        register_cache_pytrees_for_model(model)


def _exported(program) -> Leg:
    return Leg("exported", ops=sum(node.op == "call_function" for node in program.graph.nodes))


def _event_of(error: BaseException, way: str):
    """The failure as an event where its reason is one of the known; None for any other error."""
    filename, line, function = _place(error)
    event = make_event(error, "", {"co_filename": filename, "co_name": function}, line, "")
    event.wrapped_in = way
    if isinstance(error, (dynamo_exc.Unsupported, dynamo_exc.UserError)):
        return event
    reason = known_reason(error)
    return dataclasses.replace(event, reason=reason, gb_id="") if reason is not None else None


def known_reason(error):
    """The reason that an error's class names; None where it names none."""
    for cls in type(error).__mro__:
        if cls.__name__ in _REASON_BY_CLASS:
            return _REASON_BY_CLASS[cls.__name__]
    return None


def _place(error: BaseException) -> tuple:
    """The innermost frame of the traceback that is the model's and not torch's."""
    frames = [(frame.f_code.co_filename, line, frame.f_code.co_name)
              for frame, line in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        if relative_file(frame[0])[1] != "torch" and "breakwatch_worker" not in frame[0]:
            return frame
    return "", 0, ""


def _failure(report, failure) -> dict:
    """One failure of draft_export's report, with the innermost place that is the model's."""
    data = failure.data
    # The report names only files that no leg before it met; the table it is made from has them all.
    known = {number: name for name, number in getattr(structured, "INTERN_TABLE", {}).items()}
    known.update(report.str_to_filename)
    stack = [(known.get(frame["filename"], ""), frame["line"], frame["name"])
             for frame in data.get("user_stack") or data.get("stack") or ()]
    mine = [frame for frame in stack if relative_file(frame[0])[1] != "torch"] or [("", 0, "")]
    filename, line, function = mine[-1]
    told = {"type": str(failure.failure_type), "file": relative_file(filename)[0], "line": line, "function": function,
            "source_line": clip(linecache.getline(filename, line).strip(), 300),
            "frame": relative_file(filename)[1] if filename else ""}
    for key in ("expr", "result", "op", "reason", "occurrences"):
        if data.get(key) is not None:
            value = data[key]
            told[key] = value if isinstance(value, int) else clip(str(value), 500)
    return told


def _event_of_failure(failure: dict) -> Event:
    said = ", ".join(f"{key} {failure[key]}" for key in ("expr", "result", "op", "reason") if key in failure)
    return Event(
        reason=_REASON_OF_FAILURE.get(failure["type"], "Other exception"), gb_id="", wrapped_in="draft",
        explanation=said, context="", hints=[], fixability="none", file=failure["file"], line=failure["line"],
        function=failure["function"], source_line=failure["source_line"], frame=failure["frame"], compile_id="",
        counted=False)
