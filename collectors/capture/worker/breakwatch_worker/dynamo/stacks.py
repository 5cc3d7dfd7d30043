"""The user's calls on the Python stack that led to the frame that Dynamo compiles."""

import dataclasses
import functools
import os
import sys

import torch
import torch._dynamo

from .breaks import relative_file, source_file

_CALLS = ("__call__", "_wrapped_call_impl", "_call_impl", "forward")  # of a module
_WORKER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_HOOKS = os.path.dirname(os.path.abspath(__file__)) + os.sep


@dataclasses.dataclass(frozen=True)
class Call:
    """A call on a stack, as in traceback.FrameSummary."""

    filename: str
    lineno: int
    name: str


def _is_traced_call(frame) -> bool:
    """Whether the frame is the call that is traced: nothing above it is the user's."""
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    if name in _CALLS and isinstance(frame.f_locals.get("self"), torch._dynamo.OptimizedModule):
        return True
    return file.startswith(_WORKER) and (not file.startswith(_HOOKS) or name == "trace")


def calls_above() -> list:
    """The calls on the Python stack that led to the frame under compilation, from the traced call down. Frames of torch
    and of Python's own library are left out."""
    frame, found, is_below = sys._getframe(1), [], False
    while frame is not None:
        owner = _owner_of(frame.f_code.co_filename)
        is_below = is_below or owner == "torch"  # the hooks are before it
        if is_below and owner in ("worker", "torch") and _is_traced_call(frame):
            break
        if is_below and owner == "user":
            found.append(Call(frame.f_code.co_filename, frame.f_lineno or 0, frame.f_code.co_name))
        frame = frame.f_back
    return found[::-1]


@functools.lru_cache(maxsize=4096)
def _owner_of(filename: str) -> str:
    """"torch", "worker", "python" or "user" (the model's code and its libraries')."""
    if filename.startswith(_WORKER):
        return "worker"
    file, frame = relative_file(source_file(filename))
    if frame == "torch":
        return "torch"
    return "python" if filename.startswith("<") or (frame == "library" and os.sep not in file) else "user"
