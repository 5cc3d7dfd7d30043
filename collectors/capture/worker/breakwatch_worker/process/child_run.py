"""Supervises the child process of one run: deadlines, memory, output, end. Owner: the zygote's loop, its only
thread."""

import contextlib
import json
import os
import select
import signal
import time

from . import host
from .ends import End, result_of
from .lines import MAX_LINE_BYTES, LineReader, LineTooLong
from .memory_use import MemoryUse

_OUTPUT_TAIL_BYTES = 8 << 10
_BEFORE_CAPTURE = ("create", "inputs", "eager")  # the phases of an attempt
_EXIT_GRACE_S = 2.0  # time to exit after writing the result
_DEFAULT_LIMITS = {
    "create_s": 120.0, "inputs_s": 30.0, "eager_s": 120.0, "capture_s": 300.0,
    "rss_bytes": 6 << 30, "output_bytes": 1 << 20,
}


def limits_of(job: dict) -> dict:
    limits = dict(_DEFAULT_LIMITS)
    given = job.get("limits")
    if isinstance(given, dict):
        limits.update({k: v for k, v in given.items() if k in limits and isinstance(v, (int, float)) and v > 0})
    return limits


class ChildRun:
    """Forks on construction. `body(result_fd, output_fd)` runs in the child process and never returns."""

    def __init__(self, job: dict, body, on_phase):
        self.limits = limits_of(job)
        self.result = None
        self.phase = "create"
        self.finished = False
        self.usage = None
        self.peak_rss = 0
        self._on_phase = on_phase
        self._killed_for = ""
        self._limit = 0.0
        self._output = bytearray()
        self._output_total = 0
        self._begin_attempts()
        self._deadline = time.monotonic() + self.limits["create_s"]
        self._wait_status = 0
        self._not_begun = ""

        result_read, result_write = os.pipe()
        output_read, output_write = os.pipe()
        self.started = time.monotonic()
        try:
            self.pid = os.fork()
        except OSError as error:
            self._give_up(error, (result_read, result_write, output_read, output_write))
            return
        if self.pid == 0:
            try:
                os.close(result_read)
                os.close(output_read)
                body(result_write, output_write)
            finally:
                os._exit(70)
        os.close(result_write)
        os.close(output_write)
        for descriptor in (result_read, output_read):
            os.set_blocking(descriptor, False)
        self._memory = MemoryUse(self.pid)
        self._pidfd = os.pidfd_open(self.pid)
        self._reader = LineReader(result_read)
        self._result_fd, self._output_fd = result_read, output_read
        self._open = {result_read, output_read, self._pidfd}

    def _give_up(self, error: OSError, pipes: tuple) -> None:
        """The child process could not be started."""
        for descriptor in pipes:
            os.close(descriptor)
        self._open = set()
        self._not_begun = f"cannot start a process for it: {error.strerror}; {host.process_limit()}"
        self.finished = True

    def descriptors(self) -> set:
        return set(self._open)

    def ready(self, descriptor: int) -> None:
        if descriptor == self._result_fd:
            self._read_results()
        elif descriptor == self._output_fd:
            self._read_output()
        elif descriptor == self._pidfd:
            self._reap()

    def check(self, now: float) -> None:
        """Checks deadline and memory. Must be called at least every 0.1 s."""
        if self.finished or self._killed_for:
            return
        if now > self._deadline:
            if self.result is not None:
                host.kill_family(self.pid)  # its result is complete: no need to wait for its exit
                self._deadline = now + 3600
                return
            if self._deadline == self._attempts_end:
                self.kill("attempts", self._attempts_s())
            else:
                self.kill("timeout", self.limits[f"{self.phase}_s"])
            return
        rss = self._memory.bytes(enough=min(self.peak_rss, self.limits["rss_bytes"]))
        self.peak_rss = max(self.peak_rss, rss)
        if rss > self.limits["rss_bytes"]:
            self.kill("memory", self.limits["rss_bytes"])

    def kill(self, why: str, limit: float = 0.0) -> None:
        if self.finished:
            return
        self._killed_for, self._limit = why, limit
        host.kill_family(self.pid)

    def outcome(self) -> dict:
        """The result of this run, however it ended."""
        if self._not_begun:
            return {"status": "not_attempted", "detail": self._not_begun, "phase": self.phase}
        result = self.result
        clean = os.WIFEXITED(self._wait_status) and os.WEXITSTATUS(self._wait_status) == 0
        lingered = result is not None and not self._killed_for and self._wait_status == signal.SIGKILL
        if result is None or self._killed_for or not (clean or lingered):
            result = result_of(End(self._wait_status, self._killed_for, self.phase, self._limit))
        if self._output and not result.get("output_tail"):
            result["output_tail"] = bytes(self._output).decode("utf-8", "replace")
        if self.usage is not None:
            result["cpu_s"] = round(self.usage.ru_utime + self.usage.ru_stime, 4)
            self.peak_rss = max(self.peak_rss, self.usage.ru_maxrss << 10)
        result["peak_rss_mb"] = round(self.peak_rss / 2**20, 1)
        return result

    def _read_results(self) -> None:
        try:
            lines = self._reader.read()
        except LineTooLong:
            self.kill("too long", MAX_LINE_BYTES)
            return
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if message.get("type") == "phase" and f"{message.get('phase')}_s" in self.limits:
                self._enter(message["phase"])
            elif message.get("type") == "result":
                message.pop("type")
                self.result = message
                self._deadline = time.monotonic() + _EXIT_GRACE_S
        if self._reader.ended:
            self._close(self._result_fd)

    def _begin_attempts(self) -> None:
        """All attempts (sizes and call variants) together get the time that one attempt may take."""
        self._attempts_end = time.monotonic() + self._attempts_s()

    def _attempts_s(self) -> float:
        return sum(self.limits[f"{phase}_s"] for phase in _BEFORE_CAPTURE)

    def _enter(self, phase: str) -> None:
        if self.phase not in _BEFORE_CAPTURE:
            self._begin_attempts()  # the next component of a pipeline
        self.phase, self._deadline = phase, time.monotonic() + self.limits[f"{phase}_s"]
        if phase in _BEFORE_CAPTURE:
            self._deadline = min(self._deadline, self._attempts_end)
        self._on_phase(phase)

    def _read_output(self) -> None:
        try:
            data = os.read(self._output_fd, 1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._close(self._output_fd)
            return
        remaining = max(0, int(self.limits["output_bytes"]) - self._output_total)
        self._output_total += len(data)
        self._output += data[:remaining]
        del self._output[:-_OUTPUT_TAIL_BYTES]

    def _drain(self, read, descriptor: int) -> None:
        for _ in range(4096):  # bounded, because a surviving process could write forever
            if descriptor not in self._open or not select.select([descriptor], [], [], 0)[0]:
                return
            read()

    def _reap(self) -> None:
        host.kill_family(self.pid)
        _, self._wait_status, self.usage = os.wait4(self.pid, 0)
        self._drain(self._read_results, self._result_fd)
        self._drain(self._read_output, self._output_fd)
        for descriptor in list(self._open):
            self._close(descriptor)
        self._kill_adopted()
        self.finished = True

    @staticmethod
    def _kill_adopted() -> None:
        """Kills and reaps orphaned descendants, which are our children now."""
        for _ in range(64):
            adopted = host.children_of(os.getpid())
            if not adopted:
                return
            for pid in adopted:
                host.kill_family(pid)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def _close(self, descriptor: int) -> None:
        if descriptor in self._open:
            self._open.discard(descriptor)
            os.close(descriptor)
