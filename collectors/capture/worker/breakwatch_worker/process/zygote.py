"""The zygote: imports torch once, forks a child process for each run, and speaks the protocol. One thread, one poll
loop."""

import functools
import gc
import json
import os
import select
import signal
import sys
import time

from .. import sources, version
from ..capture import Capture
from ..text import one_line
from . import host
from .lines import LineReader, LineTooLong, write_line
from .scratch import Scratch

_HEARTBEAT_S = 1.0
_CHECK_S = 0.05  # how late a passed deadline or memory limit may be noticed


def _take_protocol() -> int:
    """Moves the protocol to another descriptor. What is printed to descriptor 1 from now on goes to standard error."""
    protocol = os.dup(1)
    os.dup2(2, 1)
    return protocol


class Zygote:
    def __init__(self, protocol: int, body_of, scratch: Scratch):
        self._protocol = protocol
        self._body_of = body_of
        self._scratch = scratch
        self._input = LineReader(0)
        self._capture = None
        self._leaving = False
        self._next_heartbeat = 0.0

    def run(self) -> int:
        os.set_blocking(0, False)
        while True:
            self._heartbeat()
            for descriptor in self._wait():
                if descriptor == 0:
                    self._read_commands()
                elif self._capture is not None and descriptor in self._capture.run.descriptors():
                    self._capture.run.ready(descriptor)
            self._check_run()
            if self._leaving and self._capture is None:
                return 0

    def _wait(self) -> list:
        poll = select.poll()
        if not self._leaving:
            poll.register(0, select.POLLIN)
        timeout = max(0.0, self._next_heartbeat - time.monotonic())
        if self._capture is not None:
            timeout = min(timeout, _CHECK_S)
            for descriptor in self._capture.run.descriptors():
                poll.register(descriptor, select.POLLIN)
        return [descriptor for descriptor, _ in poll.poll(timeout * 1000)]

    def _check_run(self) -> None:
        capture = self._capture
        if capture is None:
            return
        if capture.run.finished:
            capture.advance()
            if capture.result is not None:
                self._capture = None
                if not self._leaving:
                    self._say(capture.result)
                if not self._scratch.empty():
                    self._leave()  # the next capture must not see files of this one
            return
        capture.run.check(time.monotonic())
        if self._scratch.over(time.monotonic()) and not capture.run.finished:
            capture.run.kill("scratch", self._scratch.limit)

    def _heartbeat(self) -> None:
        now = time.monotonic()
        if now < self._next_heartbeat:
            return
        self._next_heartbeat = now + _HEARTBEAT_S
        message = {"type": "heartbeat"}
        if self._capture is not None:
            message["job"] = self._capture.id
        self._say(message)

    def _read_commands(self) -> None:
        try:
            lines = self._input.read()
        except LineTooLong as error:
            self._say({"type": "error", "message": str(error)})
            self._leave()  # the start of the next line is unknown
            return
        for line in lines:
            self._command(line)
        if self._input.ended:
            self._leave()

    def _command(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            self._say({"type": "error", "message": one_line(f"not JSON: {error}")})
            return
        kind = message.get("type") if isinstance(message, dict) else None
        if kind == "capture":
            self._start(message)
        elif kind == "cancel":
            if self._capture is not None and message.get("job") == self._capture.id:
                self._capture.cancel()
        elif kind == "exit":
            self._leave()
        elif kind is None:
            self._say({"type": "error", "message": "not a message: expected an object with a type"})

    def _start(self, job: dict) -> None:
        if not isinstance(job.get("job"), str) or not job["job"]:
            self._say({"type": "error", "message": "capture without a job"})
        elif self._capture is not None:
            self._say({"type": "error", "message": one_line(f"busy with {self._capture.id}: {job['job']} not started")})
        else:
            self._capture = Capture(job, self._body_of, self._say)

    def _leave(self) -> None:
        self._leaving = True
        if self._capture is not None:
            self._capture.cancel()

    def _say(self, message: dict) -> None:
        try:
            write_line(self._protocol, message)
        except BrokenPipeError:
            self._leave()


def main() -> int:
    host.shield()
    protocol = _take_protocol()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the daemon handles ^C and sends exit
    host.scrub_environment()
    scratch = Scratch()
    sources.keep_hub_cache()
    os.environ["HF_HOME"] = os.path.join(scratch.folder, "hf")
    try:
        from . import warm_up

        warm_up.prepare()
        if (threads := len(os.listdir("/proc/self/task"))) > 1:
            print(f"breakwatch_worker: {threads} threads before the first fork", file=sys.stderr)
        host.adopt_orphans()
        gc.collect()
        gc.freeze()

        from . import child

        write_line(protocol, version.hello())
        body_of = functools.partial(child.body, scratch=scratch.folder, protocol=protocol)
        return Zygote(protocol, body_of, scratch).run()
    finally:
        scratch.remove()
