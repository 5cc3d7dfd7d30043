"""A real zygote, driven over its standard input and output as the daemon drives it."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORKER = ROOT / "collectors/capture/worker"
sys.path.insert(0, str(WORKER))

BERT = {
    "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 99,
}
LIMITS = {"create_s": 60, "inputs_s": 60, "eager_s": 60, "capture_s": 120, "rss_bytes": 3 << 30, "output_bytes": 65536}


def environment(**more) -> dict:
    return {**os.environ, "PYTHONPATH": str(WORKER), **more}


class Answers:
    """A script of tests/worker that answers each line of JSON on its input. It ends with this process, whose input it
    reads, and imports nothing of the worker."""

    def __init__(self, script: str, *arguments):
        here = pathlib.Path(__file__).parent
        self._process = subprocess.Popen(
            [sys.executable, str(here / script), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment(PYTHONPATH=str(here)))

    def to(self, question):
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        self._process.communicate()


class Zygote:
    """The daemon's side of the protocol. Every wait is bounded."""

    def __init__(self, *command, **env):
        self.process = subprocess.Popen(
            list(command) or [sys.executable, "-m", "breakwatch_worker"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**env))
        self.seen = []
        self.first = None  # the first message of all
        self._buffer = b""
        self._jobs = 0

    def send(self, message) -> None:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def receive(self, kind: str, timeout: float = 120.0) -> dict:
        """The next message of that type; every line before it is kept in `seen`."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            while b"\n" in self._buffer:
                line, self._buffer = self._buffer.split(b"\n", 1)
                message = json.loads(line)
                self.first = self.first or message
                self.seen.append(message)
                if message["type"] == kind:
                    return message
            if select.select([self.process.stdout], [], [], 0.2)[0]:
                data = os.read(self.process.stdout.fileno(), 1 << 16)
                assert data, "the zygote ended its output"
                self._buffer += data
        raise AssertionError(f"no {kind} within {timeout} s")

    def start(self, config=None, **fields) -> str:
        self._jobs += 1
        job = {"type": "capture", "job": f"job-{self._jobs}", "model": "m", "revision": "r", "config": config or BERT,
               "architecture": "", "task": "", "library": "transformers", "mode": "eval", "depth": "auto",
               "structure": "", "limits": LIMITS, **fields}
        self.send(job)
        return job["job"]

    def capture(self, config=None, **fields) -> dict:
        job = self.start(config, **fields)
        result = self.receive("result")
        assert result["job"] == job
        return result

    def close(self) -> None:
        try:
            self.process.stdin.close()
            self.process.wait(10)
        except (subprocess.TimeoutExpired, BrokenPipeError):
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()
