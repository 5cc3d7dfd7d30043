"""The status, detail, error text and suggestion for an exception in a phase of a capture."""

import re
import traceback

from . import suggestions
from .dynamo.breaks import relative_file
from .errors import WorkerError
from .inputs import copies
from .model import architecture, build
from .process import host
from .text import one_line

_ERROR_BYTES = 16 << 10


def _is_out_of_memory(error: BaseException) -> bool:
    text = str(error)
    return isinstance(error, MemoryError) or "DefaultCPUAllocator: can't allocate memory" in text or (
        "DefaultCPUAllocator: not enough memory" in text) or "Cannot allocate memory" in text


def _is_out_of_processes(error: BaseException) -> bool:
    """Whether a fork or a thread could not be started: the errors of fork, of Python and of the C library."""
    text = str(error)
    return isinstance(error, BlockingIOError) and "fork" in "".join(traceback.format_tb(error.__traceback__)) or (
        "can't start new thread" in text) or "pthread_create" in text


def _error_text(error: BaseException) -> str:
    text = "".join(traceback.format_exception(error))
    data = text.encode("utf-8", "replace")
    if len(data) > _ERROR_BYTES:  # keep the end: it has the error itself
        text = "[...]\n" + data[-(_ERROR_BYTES - 8):].decode("utf-8", "ignore")
    return text


def _with_relative_paths(text: str) -> str:
    """The text with the paths of library files relative to the package: shortened before it is clipped."""
    return re.sub(r"/[^\s\"':]+\.py\b", lambda path: relative_file(path.group())[0], text)


def result_of(phase: str, error: BaseException, origin: str = suggestions.CONFIG) -> dict:
    """The result of an exception in a phase. `origin` is where the model is from (suggestions.py)."""
    result = _described(phase, error)
    suggestion = result.get("suggestion") or (
        error.suggestion if isinstance(error, WorkerError)
        else suggestions.for_foreign(result["status"], str(error), origin))
    suggestion = suggestion or suggestions.default_for(result["status"], origin)
    return {**result, "suggestion": one_line(suggestion)} if suggestion else result


def _described(phase: str, error: BaseException) -> dict:
    kind = f"{type(error).__name__}: {one_line(_with_relative_paths(str(error))) or 'no text'}"
    if isinstance(error, SystemExit):
        kind = f"the code ended its process: sys.exit({one_line(repr(error.code))})"
    if isinstance(error, architecture.Stop):
        return {"status": error.status, "detail": one_line(error.detail)}
    if isinstance(error, copies.CannotCopy):
        return {"status": "failed_inputs", "detail": one_line(str(error))}
    if isinstance(error, build.TooLarge):
        return {"status": "skipped_too_large", "detail": one_line(str(error))}
    if _is_out_of_processes(error):
        detail = f"{phase}: {kind}; {host.process_limit()}"
        return {"status": "not_attempted", "detail": detail, "error": _error_text(error)}
    if _is_out_of_memory(error):
        return {"status": "out_of_memory", "detail": f"{phase}: {kind}", "error": _error_text(error)}
    if phase == "create" and (package := architecture.missing_dependency(error)):
        detail = f"needs {package}: {kind}"
        return {"status": "skipped_missing_dependency", "detail": detail, "error": _error_text(error),
                "suggestion": architecture.how_to_install(package)}
    return {"status": f"failed_{phase}", "detail": f"{phase}: {kind}", "error": _error_text(error)}
