"""What an exception in a phase of a capture is called: its status, its detail and its text."""

import traceback

from . import architecture, build
from .lines import one_line

_ERROR_BYTES = 16 << 10


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


def of(phase: str, error: BaseException) -> dict:
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
