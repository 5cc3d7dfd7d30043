"""Observes every call of a torch.nn.Module while the user's code runs, and disables torch.compile."""

import contextlib
import os
import sys
import threading

import torch

from .. import restore

_TORCH = os.path.dirname(torch.__file__) + os.sep
_WRAPPERS = ("OptimizedModule",)  # returned by torch.compile; they contain the user's module


class CallObserver:
    """Calls `on_call(module, depth, place, args, kwargs)` before each call of a module. Depth 0 is the outermost call
    of its thread. While the observer is active, torch.compile and Module.compile return their argument. """

    def __init__(self, on_call):
        self._on_call = on_call
        self._local = threading.local()
        self._undo = contextlib.ExitStack()

    @contextlib.contextmanager
    def active(self):
        observed = self._observed_call(torch.nn.Module.__call__)
        self._undo.enter_context(restore.replaced(torch.nn.Module, __call__=observed))
        self._undo.enter_context(uncompiled())
        try:
            yield self
        finally:
            self.stop()

    def stop(self) -> None:
        """Restores torch. Must be called before tracing, because Dynamo traces all code on the path of a call."""
        self._undo.close()

    def _observed_call(self, original):
        def __call__(module, *arguments, **options):  # noqa: N807
            if type(module).__name__ in _WRAPPERS:
                return original(module, *arguments, **options)
            depth = getattr(self._local, "depth", 0)
            self._on_call(module, depth, place_of(sys._getframe(1)), arguments, options)
            self._local.depth = depth + 1
            try:
                return original(module, *arguments, **options)
            finally:
                self._local.depth = depth

        return __call__


def _return_model(model=None, *_, **__):
    return (lambda function: function) if model is None else model


def _do_nothing(module, *_, **__) -> None:
    """Replaces Module.compile."""


@contextlib.contextmanager
def uncompiled():
    """Inside this context, torch.compile and Module.compile return their argument."""
    with restore.replaced(torch, compile=_return_model), restore.replaced(torch.nn.Module, compile=_do_nothing):
        yield


def place_of(frame) -> tuple:
    """(file, line) of the innermost frame outside torch."""
    while frame.f_back is not None and (
            frame.f_code.co_filename.startswith(_TORCH) or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
