"""Runs a function in a fork of this process, which stays as it was: what was never called in it is cold.

Owner: the child of a capture, in its only thread. A fork has that thread alone, so none is made where there are others,
nor where memory is shared between processes, in which a fork would write for both.
"""

import contextlib
import os
import pickle
import random
import signal
import sys
import tempfile
import traceback

import torch

from . import host

_FAILED = 70


def is_possible(tensors) -> bool:
    """Whether a fork would be a copy of this process; `tensors` are those that the function may write into."""
    return len(os.listdir("/proc/self/task")) == 1 and not any(map(_is_shared, tensors))


def _is_shared(tensor: torch.Tensor) -> bool:
    try:
        return tensor.is_shared()
    except (RuntimeError, NotImplementedError, ValueError):  # no memory yet, or none of its own
        return False


def call(function, *arguments):
    """What the function returns there, pickled. Where the fork came to no end of its own, this process ends its way."""
    # A file, not a pipe, which whatever the function starts could keep open; not in memory, which nothing would bound.
    with tempfile.TemporaryFile() as answer:
        _flush()
        drawn = random.getstate()  # Python seeds its generator anew in a fork
        with _children_that_are_waited_for():
            pid = os.fork()
            if pid:
                _, status = os.waitpid(pid, 0)
        if pid == 0:
            random.setstate(drawn)
            _answer(answer, function, arguments)
        if status or not answer.tell():  # the code may have ended it with 0
            _end_by(status)
        answer.seek(0)
        return pickle.load(answer)


@contextlib.contextmanager
def _children_that_are_waited_for():
    """Where the code ignores the end of its children, the kernel keeps no status of one."""
    handler = signal.getsignal(signal.SIGCHLD)
    if handler is not None:  # None: one that Python did not install, and cannot put back
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGCHLD, handler)


def _answer(answer, function, arguments) -> None:
    """Never returns."""
    code = _FAILED
    try:
        host.die_with_parent()
        # After a fork the first caller makes torch's pool of threads anew, unguarded: no thread of autograd may be it.
        torch.set_num_threads(torch.get_num_threads())
        pickle.dump(function(*arguments), answer)
        answer.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a script may have closed it, or put its own there
            stream.flush()


def _end_by(status: int) -> None:
    """Never returns: whoever watches this process sees what ended the fork."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else _FAILED)
