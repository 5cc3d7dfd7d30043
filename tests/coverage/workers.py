"""A worker process (zygote) for scripts that capture many models."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

WORKER = Path(__file__).resolve().parents[2] / "collectors/capture/worker"
SILENCE_S = 900


def environment() -> dict:
    return {**os.environ, "PYTHONPATH": str(WORKER)}


class Worker:
    """One worker process, driven by one thread; started anew when it is lost."""

    def __init__(self, niceness: int = 0, python: str = sys.executable):
        self._niceness, self._python = niceness, python
        self._process = None

    def ask(self, job: dict) -> dict:
        """The result of a `capture` line; its status is worker_lost if the process ended."""
        if self._process is None:
            self._start()
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            return self._answer("result")
        except (OSError, EOFError) as error:
            self.close()
            return {"status": "worker_lost", "detail": str(error)}

    def close(self) -> None:
        if self._process is not None:
            self._process.stdin.close()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process = None

    def _start(self) -> None:
        self._process = subprocess.Popen(
            ["nice", "-n", str(self._niceness), self._python, "-m", "breakwatch_worker"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), text=True)
        self._answer("hello")

    def _answer(self, kind: str) -> dict:
        alarm = threading.Timer(SILENCE_S, self._process.kill)
        alarm.start()
        try:
            for line in self._process.stdout:
                message = json.loads(line)
                if message["type"] == kind:
                    return message
        finally:
            alarm.cancel()
        raise EOFError("the zygote ended its output")
