"""A lane: the process of one backend, forked from the process that holds the model.

A backend that crashes, hangs or needs too much memory ends its own process only. The parent sends one request a line,
{"do": method of the contender, ...}, and waits for the answer with a limit. Owner: the child process of the run."""

import contextlib
import json
import os
import select
import shutil
import signal
import tempfile
import time

from ..process import host, memory_use
from ..process.lines import LineReader, write_line
from ..process.scratch import use_for_temporary_files
from . import cells

_STEPS = {"prepare": "compiling", "turn": "a run", "finish": "the statistics"}  # names for a detail


class Lane:
    """`cell` is set when the backend has failed; it then has no process any more."""

    def __init__(self, name: str, contender, limit_bytes: int):
        self.name, self.cell, self.answer = name, None, {}
        self.enough = False
        self._folder = tempfile.mkdtemp(prefix="lane-")  # its temporary files
        request_read, self._requests = os.pipe()
        answer_read, answer_write = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            _close(self._requests, answer_read)
            use_for_temporary_files(self._folder)
            _serve(contender, request_read, answer_write, limit_bytes)
        _close(request_read, answer_write)
        self._answers, self._reader = answer_read, LineReader(answer_read)

    @property
    def alive(self) -> bool:
        return self.cell is None and self._pid is not None

    def ask(self, request: dict, limit_s: float) -> dict:
        """The answer; empty if the backend failed, which sets `cell`."""
        with contextlib.suppress(BrokenPipeError):
            write_line(self._requests, request)
        line = self._line(time.monotonic() + max(limit_s, 0.1))
        if line is None:
            self.fail(cells.failed("timeout", f"{_STEPS[request['do']]} took longer than {limit_s:.0f} s, its part of "
                                              "the time limit of the capture"))
            return {}
        if not line:
            self.fail(self._of_end(self._reap()))
            return {}
        answer = json.loads(line)
        if "cell" in answer:
            self.fail(answer["cell"])
            return {}
        return answer

    def close(self) -> None:
        self._end()
        _close(self._requests, self._answers)

    def _line(self, end: float):
        """The next line, b"" at the end of the process, None if there is none in time."""
        while True:
            ready, _, _ = select.select([self._answers], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                return None
            lines = self._reader.read()
            if lines:
                return lines[0]
            if self._reader.ended:
                return b""

    def fail(self, cell: dict) -> None:
        self.cell = cell
        self._end()

    def _end(self) -> None:
        if self._pid is not None:
            host.kill_family(self._pid)
            self._reap()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _reap(self) -> int:
        _, status = os.waitpid(self._pid, 0)
        self._pid = None
        return status

    @staticmethod
    def _of_end(status: int) -> dict:
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGKILL:
                return cells.failed("out_of_memory", "ended by SIGKILL: the kernel ran out of memory")
            return cells.failed("failed", f"its process crashed: {signal.Signals(number).name}")
        return cells.failed("failed", f"its process ended with exit code {os.waitstatus_to_exitcode(status)}")


def _close(*descriptors) -> None:
    for descriptor in descriptors:
        with contextlib.suppress(OSError):
            os.close(descriptor)


def _serve(contender, requests: int, answers: int, limit_bytes: int) -> None:
    """The body of the process. Never returns."""
    code = 70
    try:
        os.setpgid(0, 0)
        host.die_with_parent()
        memory_use.keep_below(limit_bytes)
        reader = LineReader(requests)
        while not reader.ended:
            for line in reader.read():
                write_line(answers, _answer(contender, json.loads(line)))
        code = 0
    finally:
        os._exit(code)


def _answer(contender, request: dict) -> dict:
    from .pieces import Skip

    try:
        return getattr(contender, request.pop("do"))(**request)
    except Skip as error:
        return {"cell": cells.failed("skipped", str(error))}
    except BaseException as error:  # including a SystemExit of the code
        return {"cell": cells.of_error(error)}
