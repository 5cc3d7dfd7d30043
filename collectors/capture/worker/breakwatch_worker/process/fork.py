"""Runs a function in a fork of this process. This process does not change: a model that the fork calls stays cold here.

Owner: the child process of a run, in its only thread. A fork copies one thread only, and writes to memory that is
shared between processes. So there is no fork if other threads run or if memory is shared. """

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
    """Whether a fork would be an exact copy of this process. `tensors` are those that the function may write into."""
    return len(os.listdir("/proc/self/task")) == 1 and not any(map(_is_shared, tensors))


def _is_shared(tensor: torch.Tensor) -> bool:
    try:
        return tensor.is_shared()
    except (RuntimeError, NotImplementedError, ValueError):  # it has no memory yet, or none of its own
        return False


def call(function, *arguments):
    """Runs the function in a fork and returns its value. If the fork dies, this process ends in the same way."""
    # A file: a pipe could be kept open by a process that the function starts, and a file in memory would not be
    # bounded.
    with tempfile.TemporaryFile() as answer:
        flush()
        random_state = random.getstate()  # Python reseeds its generator in a fork
        with _default_child_signal():
            pid = os.fork()
            if pid:
                _, status = os.waitpid(pid, 0)
        if pid == 0:
            random.setstate(random_state)
            answer_and_end(answer, function, arguments)
        if status or not answer.tell():  # the code may have called exit(0)
            _end_by(status)
        answer.seek(0)
        return pickle.load(answer)


@contextlib.contextmanager
def _default_child_signal():
    """Restores the default handling of SIGCHLD: if it is ignored, the kernel keeps no exit status of a child."""
    handler = signal.getsignal(signal.SIGCHLD)
    if handler is not None:  # None: a handler that Python did not install and cannot restore
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        if handler is not None:
            signal.signal(signal.SIGCHLD, handler)


def answer_and_end(answer, function, arguments) -> None:
    """The body of a fork: writes the value of the function to the file `answer`. Never returns."""
    code = _FAILED
    try:
        host.die_with_parent()
        # After a fork, the first use of torch's thread pool creates it again without a lock. It must not be an autograd
        # thread.
        torch.set_num_threads(torch.get_num_threads())
        pickle.dump(function(*arguments), answer)
        answer.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        flush()
        os._exit(code)


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # a script may have closed or replaced it
            stream.flush()


def _end_by(status: int) -> None:
    """Never returns. The zygote sees how the fork ended."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else _FAILED)
