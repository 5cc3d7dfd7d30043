"""Runs a function in a fork with a time limit. Whatever ends it, this process goes on."""

import dataclasses
import os
import pickle
import select
import signal
import sys
import tempfile
import traceback

import torch

from ..process import host

_FAILED = 70


@dataclasses.dataclass
class Ended:
    """The fork returned no value."""

    status: str  # timeout, failed
    detail: str
    cause: str  # time, memory, crash


def run(seconds: float, function, *arguments):
    """The function's value, or Ended. The value must be picklable."""
    with tempfile.TemporaryFile() as answer:
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            _answer(answer, function, arguments)
        descriptor = os.pidfd_open(pid)
        in_time = bool(select.select([descriptor], [], [], seconds)[0])
        os.close(descriptor)
        host.kill_family(pid)  # also the compiler, if it still runs
        _, status = os.waitpid(pid, 0)
        if not in_time:
            return Ended("timeout", f"not built within {seconds:.0f} s", "time")
        if status:
            return _ended(status)
        answer.seek(0)
        return pickle.load(answer)


def _answer(answer, function, arguments) -> None:
    """Never returns."""
    code = _FAILED
    try:
        os.setpgid(0, 0)
        host.die_with_parent()
        torch.set_num_threads(torch.get_num_threads())  # after a fork, the first use makes the thread pool again
        pickle.dump(function(*arguments), answer)
        answer.flush()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _ended(status: int) -> Ended:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        cause = "memory" if number == signal.SIGKILL else "crash"
        return Ended("failed", f"its process was ended by {signal.Signals(number).name}", cause)
    return Ended("failed", f"its process ended with code {os.waitstatus_to_exitcode(status)}", "crash")
