"""Parts of the end-to-end tests: the program with a state directory, a Hub on disk, servers."""

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
REAL_WORKER = ("--capture.zygotes", "1", "--capture.worker",
               json.dumps([str(ROOT / ".venv/bin/python"), "-m", "breakwatch_worker"]))  # fmt: skip
DEADLINE_S = 30


def eventually(question, deadline_s=DEADLINE_S):
    """Calls a function until its result is true, and returns it. The event happens in another process."""
    end = time.monotonic() + deadline_s
    while True:
        answer = question()
        if answer or time.monotonic() > end:
            return answer
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def get(url, **headers):
    """Status and text; 0 if nothing answers."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


class LocalServer:
    """An HTTP server on loopback that answers with a test's handler, until `close`."""

    def __init__(self, handler):
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


class Process:
    """A server of a test: started until its address answers, and stopped with the test."""

    def __init__(self, argv, ready_url, log, environment=None):
        self.argv, self.ready_url, self.log, self.environment = argv, ready_url, log, environment
        self.child = None

    def start(self, deadline_s=DEADLINE_S):
        with open(self.log, "ab") as out:
            self.child = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          env=self.environment, start_new_session=True)  # fmt: skip
        assert eventually(lambda: get(self.ready_url)[0] == 200, deadline_s), Path(self.log).read_text()
        return self

    def kill(self):
        """Also what it started: some servers are a group of processes."""
        if self.child and self.child.returncode is None:
            os.killpg(self.child.pid, signal.SIGKILL)
            self.child.wait()


def needs(program):
    path = shutil.which(program)
    if not path:
        pytest.skip(f"{program} is not installed")
    return path


class Hub:
    """A recording that a test can change."""

    def __init__(self, folder):
        self.folder = folder
        self.models = {}

    def model(self, model_id, downloads, **fake):
        """Adds or changes a model; its commit depends on its config."""
        config = {"model_type": "bert", "architectures": ["BertModel"], "fake": fake}
        text = json.dumps(config)
        sha = hashlib.sha1((model_id + text).encode()).hexdigest()
        self.models[model_id] = {
            "_id": hashlib.sha1(model_id.encode()).hexdigest()[:24], "id": model_id, "modelId": model_id, "sha": sha,
            "downloads": downloads, "likes": 0, "private": False, "gated": False, "disabled": False,
            "tags": ["transformers"], "pipeline_tag": "fill-mask", "library_name": "transformers",
            "createdAt": "2024-01-01T00:00:00.000Z", "lastModified": "2024-01-01T00:00:00.000Z",
            "config": {"model_type": "bert", "architectures": ["BertModel"]},
            "siblings": [{"rfilename": "config.json"}],
        }  # fmt: skip
        file = self.folder / "files" / model_id.replace("/", "--") / sha / "config.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        (self.folder / "recording.json").write_text(
            json.dumps({"format": 1, "recorded_at": "2024-01-01T00:00:00Z", "endpoint": "https://example.org"})
        )
        self._write_listing()
        return sha

    def remove(self, model_id):
        del self.models[model_id]
        self._write_listing()

    def _write_listing(self):
        (self.folder / "models.jsonl").write_text("".join(json.dumps(m) + "\n" for m in self.models.values()))


class Program:
    """The program on a state directory of its own, without the settings of the user's environment."""

    def __init__(self, program, tmp_path, *settings, cwd=None, state="state", timeout_s=120):
        self.program, self.tmp_path, self.state = program, tmp_path, tmp_path / state
        # Another test, or a measurement of somebody else, must not make this one wait.
        self.settings = ["--state-dir", str(self.state), "--measure.lock_file", str(tmp_path / "lock"), *settings]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("BREAKWATCH_", "HF_", "OTEL_"))}
        self.environment["HF_HOME"] = str(tmp_path / "hf")
        self._cwd, self._timeout_s = cwd or tmp_path, timeout_s

    def argv(self, *args):
        return [self.program, *self.settings, *args]

    def run(self, *args, code=0, **environment):
        done = subprocess.run(self.argv(*args), capture_output=True, text=True, timeout=self._timeout_s, cwd=self._cwd,
                              env=self.environment | environment)  # fmt: skip
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def results(self):
        """By model, of the last finished sweep."""
        return {result["model"]: result for result in results_in(self.state)}


class Breakwatch(Program):
    """The program with the worker that does as configs say."""

    def __init__(self, program, tmp_path, hub):
        worker = json.dumps([sys.executable, str(ROOT / "tests/e2e/fake_worker.py"), str(tmp_path)])
        super().__init__(program, tmp_path, "--hub.source", "snapshot", "--hub.snapshot_dir", str(hub.folder),
                         "--capture.launcher=[]", "--capture.worker", worker, "--capture.sandbox", "off",
                         "--capture.zygotes", "1")  # fmt: skip
        self.hub = hub

    def start(self, *args, **environment):
        with open(self.tmp_path / "serve.log", "ab") as log:
            return subprocess.Popen(self.argv(*args), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    cwd=self.tmp_path, env=self.environment | environment)  # fmt: skip

    def serve(self, *args, **environment):
        """Starts the daemon, waits until it is ready, and returns its process and address."""
        port = free_port()
        child = self.start("serve", "--web.listen_address", f"127.0.0.1:{port}", *args, **environment)
        address = f"http://127.0.0.1:{port}"
        log = self.tmp_path / "serve.log"
        assert eventually(lambda: get(address + "/-/ready")[0] == 200 or child.poll() is not None), log.read_text()
        assert child.poll() is None, log.read_text()
        return child, address

    def captures(self):
        log = self.tmp_path / "captures"
        return log.read_text().splitlines() if log.exists() else []


def results_in(state):
    """The results of the last finished sweep, in their order."""
    return list(map(json.loads, (state / "latest/results.jsonl").read_text().splitlines()))


def breaks_by_series(prometheus_url):
    """(model, commit, reason) -> value of the documented query."""
    query = urllib.parse.quote("sum by(model, commit, reason) (compile_breaks_total)")
    status, text = get(f"{prometheus_url}/api/v1/query?query={query}")
    if status != 200:
        return {}
    rows = json.loads(text)["data"]["result"]
    return {(r["metric"]["model"], r["metric"]["commit"], r["metric"]["reason"]): float(r["value"][1]) for r in rows}
