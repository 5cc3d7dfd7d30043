"""Sees every call of a torch.nn.Module while somebody else's code runs, and keeps torch.compile out of the way."""

import contextlib
import os
import sys
import threading

import torch

_TORCH = os.path.dirname(torch.__file__) + os.sep
_WRAPPERS = ("OptimizedModule",)  # what torch.compile returns: the module in it is the user's


class CallObserver:
    """`on_call(module, depth, place, args, kwargs)` before each call; depth 0 is outermost in its thread.

    While active, torch.compile and Module.compile give back what they get: what is counted is counted here.
    """

    def __init__(self, on_call):
        self._on_call = on_call
        self._local = threading.local()
        self._undo = contextlib.ExitStack()

    @contextlib.contextmanager
    def active(self):
        original = torch.nn.Module.__call__
        torch.nn.Module.__call__ = self._seen_call(original)
        self._undo.callback(setattr, torch.nn.Module, "__call__", original)
        self._undo.enter_context(uncompiled())
        try:
            yield self
        finally:
            self.stop()

    def stop(self) -> None:
        """Torch as it was. To be called before anything is traced: Dynamo looks into whatever a call goes through."""
        self._undo.close()

    def _seen_call(self, original):
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


def _give_back(model=None, *_, **__):
    return (lambda function: function) if model is None else model


def _stay(module, *_, **__) -> None:
    """In place of Module.compile."""


@contextlib.contextmanager
def uncompiled():
    """Within, torch.compile and Module.compile give back what they get, as while a script is watched."""
    kept = torch.compile, torch.nn.Module.compile
    torch.compile, torch.nn.Module.compile = _give_back, _stay
    try:
        yield
    finally:
        torch.compile, torch.nn.Module.compile = kept


def place_of(frame) -> tuple:
    """(file, line) of the innermost frame that is not torch's."""
    while frame.f_back is not None and (
            frame.f_code.co_filename.startswith(_TORCH) or frame.f_code.co_filename == __file__):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno
