"""Runs a function in a fork with a time limit. Whatever ends it, this process goes on."""

import dataclasses
import os
import pickle
import select
import signal
import tempfile

from . import fork, host
from .scratch import use_for_temporary_files


@dataclasses.dataclass
class Ended:
    """The fork returned no value."""

    status: str  # timeout, failed
    detail: str
    cause: str  # time, memory, crash


def run(seconds: float, folder: str, function, *arguments):
    """The function's value, or Ended. The value must be picklable. Temporary files of the fork are in `folder`, which
    the caller removes."""
    with tempfile.TemporaryFile() as answer:
        fork.flush()
        pid = os.fork()
        if pid == 0:
            fork.answer_and_end(answer, _in_own_group, (folder, function, *arguments))
        descriptor = os.pidfd_open(pid)
        in_time = bool(select.select([descriptor], [], [], seconds)[0])
        os.close(descriptor)
        host.kill_family(pid)  # also the compiler, if it still runs
        _, status = os.waitpid(pid, 0)
        if not in_time:
            return Ended("timeout", f"did not end within {seconds:.0f} s", "time")
        if status or not answer.tell():  # the two share the position; the code may have called exit(0)
            return _ended(status)
        answer.seek(0)
        return pickle.load(answer)


def _in_own_group(folder: str, function, *arguments):
    os.setpgid(0, 0)
    use_for_temporary_files(folder)
    return function(*arguments)


def _ended(status: int) -> Ended:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        cause = "memory" if number == signal.SIGKILL else "crash"
        return Ended("failed", f"its process was ended by {signal.Signals(number).name}", cause)
    return Ended("failed", f"its process ended with code {os.waitstatus_to_exitcode(status)}", "crash")
