"""The exporters, each run by itself: its result, or its error with the place of the error."""

import contextlib
import dataclasses
import gc
import inspect
import linecache
import logging
import os
import time
import traceback

import torch
from torch._dynamo import exc as dynamo_exc
from torch._logging import structured

from .. import restore
from ..dynamo.breaks import Event, make_event, relative_file
from ..dynamo.trace import reset
from ..inputs import copies
from ..model.build import byte_count
from ..process import alarm, fork, host
from ..text import clip, one_line
from .base import Call, text_of_error

_FAILURES_KEPT = 64
_GUARD = "Guard on a data-dependent value"
# Reasons by error class. An error of another class is reported without a reason.
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


class OutOfTime(BaseException):
    """An exporter used up its share of the time. A BaseException: no handler may take it for a model's error."""


class TimeBudget:
    """The time of the phase, shared by the exporters. Each gets at most half, so that a slow one leaves time for
    others."""

    def __init__(self, limit_s: float):
        self._share = limit_s / 2
        self._end = time.monotonic() + 0.9 * limit_s

    @contextlib.contextmanager
    def share(self):
        """Raises OutOfTime in the block when its time is over. For the main thread only."""
        seconds = min(self._share, self._end - time.monotonic())
        if seconds <= 0:
            raise OutOfTime

        with alarm.raising_after(seconds, OutOfTime(), again_s=1.0):
            yield


class NotApplicable(Exception):
    """This exporter does not support this model or is not in this toolchain; the text has the reason."""


@dataclasses.dataclass
class ExportResult:
    """The result of one exporter. `events` are the failures with a known reason."""

    outcome: str  # exported, failed, timeout, skipped
    error: str = ""
    text: str = ""
    ops: int = 0
    events: list = dataclasses.field(default_factory=list)
    failures: list = None

    def describe(self) -> dict:
        described = {"outcome": self.outcome}
        if self.outcome == "exported":
            described["ops"] = self.ops
        if self.error:
            described["error"] = self.error
        if self.text:
            described["text"] = self.text
        if self.events and self.failures is None:
            event = self.events[0]
            described.update(reason=event.reason, gb_id=event.gb_id, file=event.file, line=event.line,
                             function=event.function)
        if self.failures is not None:
            described["failures"] = self.failures
        return described


def run(exporter, call: Call, budget: TimeBudget) -> ExportResult:
    return fork.call(_run, exporter, call, budget) if call.forks else _run(exporter, call, budget)


def _run(exporter, call: Call, budget: TimeBudget) -> ExportResult:
    reset()
    gc.collect()  # the program of the previous exporter
    wanted = _bytes_of(call.model) + host.resident_bytes(os.getpid())
    if exporter is strict and wanted > 0.9 * call.limit_bytes:
        # It copies every parameter. Over the memory limit the capture would end and lose the other exporters' results.
        return ExportResult("skipped", text=f"copies the parameters: {wanted >> 20} MiB, near the memory limit")
    try:
        # No alarm while modules are restored.
        with restore.kept(_modules_of(call.model)), budget.share(), torch.no_grad(), _silent():
            return exporter(_module_of(call.model), *call.given())
    except copies.CannotCopy:
        raise  # it would fail in every exporter
    except OutOfTime:
        return ExportResult("timeout", text="used up its share of the time")
    except NotApplicable as error:
        return ExportResult("skipped", text=str(error))
    except BaseException as error:  # including a SystemExit of the code
        event = _event_of(error, exporter.__name__)
        return ExportResult("failed", error=type(error).__name__, text=text_of_error(error),
                            events=[event] if event is not None else [])


class _Module(torch.nn.Module):
    """Wraps a callable that is not a module, because torch.export takes modules only."""

    def __init__(self, function):
        super().__init__()
        self.forward = function.__call__ if inspect.ismethod(function.__call__) else function


def _module_of(model) -> torch.nn.Module:
    return model if isinstance(model, torch.nn.Module) else _Module(model)


def _modules_of(model):
    return model.modules() if isinstance(model, torch.nn.Module) else ()


def _bytes_of(model) -> int:
    return byte_count(model) if isinstance(model, torch.nn.Module) else 0


@contextlib.contextmanager
def _silent():
    """torch.export logs a page of advice for each failure; the result has what matters of it."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(before)


def non_strict(model, positional: tuple, arguments: dict) -> ExportResult:
    return _exported(torch.export.export(model, positional, arguments, strict=False))


def strict(model, positional: tuple, arguments: dict) -> ExportResult:
    return _exported(torch.export.export(model, positional, arguments, strict=True))


def library_exporter(model, positional: tuple, arguments: dict) -> ExportResult:
    """The exporter of transformers: a non-strict export that replaces parts that cannot be exported."""
    try:
        from transformers import PreTrainedModel
        from transformers.exporters.exporter_dynamo import DynamoConfig, DynamoExporter
    except ImportError as error:
        raise NotApplicable(f"no exporter in this transformers: {one_line(str(error))}") from None
    if not isinstance(model, PreTrainedModel):
        raise NotApplicable("not a model of transformers")
    if positional:
        raise NotApplicable("takes arguments by name only")
    try:
        exporter = DynamoExporter()
    except ImportError as error:
        raise NotApplicable(one_line(str(error))) from None
    return _exported(exporter.export(model, arguments, config=DynamoConfig(dynamic=False)).program)


def draft(model, positional: tuple, arguments: dict) -> ExportResult:
    """draft_export continues after a failure, so it reports all of them."""
    try:
        from torch.export._draft_export import draft_export
    except ImportError:
        raise NotApplicable(f"torch {torch.__version__} has no draft_export") from None
    program = draft_export(model, positional, arguments)
    report = program._report
    result = _exported(program)
    result.failures = [_failure(report, failure) for failure in report.failures[:_FAILURES_KEPT]]
    result.events = [_event_of_failure(failure) for failure in result.failures]
    return result


def register_caches(model) -> None:
    """Registers the cache classes that models return as pytree nodes, as the library's own exporter does."""
    with contextlib.suppress(ImportError, ValueError):
        from transformers.exporters.exporter_dynamo import register_cache_pytrees_for_model

        register_cache_pytrees_for_model(model)


def _exported(program) -> ExportResult:
    return ExportResult("exported", ops=sum(node.op == "call_function" for node in program.graph.nodes))


def _event_of(error: BaseException, exporter: str):
    """The failure as an event if its reason is known, else None."""
    filename, line, function = _place(error)
    event = make_event(error, "", {"co_filename": filename, "co_name": function}, line, "")
    event.wrapped_in = exporter
    if isinstance(error, (dynamo_exc.Unsupported, dynamo_exc.UserError)):
        return event
    reason = known_reason(error)
    return dataclasses.replace(event, reason=reason, gb_id="") if reason is not None else None


def known_reason(error):
    """The reason for an error of this class, or None."""
    for cls in type(error).__mro__:
        if cls.__name__ in _REASON_BY_CLASS:
            return _REASON_BY_CLASS[cls.__name__]
    return None


def _place(error: BaseException) -> tuple:
    """The innermost frame of the traceback that belongs to the model and not to torch."""
    frames = [(frame.f_code.co_filename, line, frame.f_code.co_name)
              for frame, line in traceback.walk_tb(error.__traceback__)]
    for frame in reversed(frames):
        if relative_file(frame[0])[1] != "torch" and "breakwatch_worker" not in frame[0]:
            return frame
    return "", 0, ""


def _failure(report, failure) -> dict:
    """One failure of draft_export's report, with the innermost place in the model's code."""
    data = failure.data
    # The report names only files that no earlier exporter met; the table behind it has all of them.
    known = {number: name for name, number in getattr(structured, "INTERN_TABLE", {}).items()}
    known.update(report.str_to_filename)
    stack = [(known.get(frame["filename"], ""), frame["line"], frame["name"])
             for frame in data.get("user_stack") or data.get("stack") or ()]
    mine = [frame for frame in stack if relative_file(frame[0])[1] != "torch"] or [("", 0, "")]
    filename, line, function = mine[-1]
    described = {
        "type": str(failure.failure_type), "file": relative_file(filename)[0], "line": line, "function": function,
        "source_line": clip(linecache.getline(filename, line).strip(), 300),
        "frame": relative_file(filename)[1] if filename else ""}
    for key in ("expr", "result", "op", "reason", "occurrences"):
        if data.get(key) is not None:
            value = data[key]
            described[key] = value if isinstance(value, int) else clip(str(value), 500)
    return described


def _event_of_failure(failure: dict) -> Event:
    explanation = ", ".join(f"{key} {failure[key]}" for key in ("expr", "result", "op", "reason") if key in failure)
    return Event(
        reason=_REASON_OF_FAILURE.get(failure["type"], "Other exception"), gb_id="", wrapped_in="draft",
        explanation=explanation, context="", hints=[], fixability="none", file=failure["file"], line=failure["line"],
        function=failure["function"], source_line=failure["source_line"], frame=failure["frame"], compile_id="",
        counted=False)
