"""Requests to a daemon over HTTP and its control socket, and their outcome."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from e2e_support import DEADLINE_S, ROOT, eventually, free_port, get
from fake_environment import make_environment

TOKEN = "s3cret"


def post(address, body, path="/api/v1/sweeps", content_type="application/json"):
    """(status, document, headers)."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": content_type}
    request = urllib.request.Request(address + path, json.dumps(body).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
            return answer.status, json.loads(answer.read()), answer.headers
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read()), error.headers


def ended(address, location):
    """The request's document after the end of its sweep and deliveries."""
    def question():
        document = json.loads(get(address + location)[1])
        return document if document["state"] in ("done", "failed") else None

    return eventually(question)


def raw(address, text):
    """(status, seconds) of the response to bytes that no client library would send."""
    host, port = address.removeprefix("http://").split(":")
    began = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=DEADLINE_S) as connection:
        connection.sendall(text.replace("\n", "\r\n").encode())
        answer = connection.recv(65536).decode()
    return int(answer.split(" ")[1]), time.monotonic() - began


@pytest.fixture
def evil(tmp_path):
    """An environment whose interpreter writes a file when it runs."""
    folder = tmp_path / "evil"
    make_environment(folder, "6.6.6", "6.6.6")
    python = folder / "bin/python"
    python.write_text(f"#!/bin/sh\ntouch {tmp_path}/was-run\n")
    python.chmod(0o755)
    return python


def test_a_request_over_http_runs_nothing_that_is_not_configured(breakwatch, hub, evil):
    hub.model("org/one", 1)
    (breakwatch.tmp_path / "mine.py").write_text(f"open('{breakwatch.tmp_path}/was-run', 'w')\ndef make(): ...")
    old = make_environment(breakwatch.tmp_path / ".venv-old", "2.13.0", "5.8.0")
    new = make_environment(breakwatch.tmp_path / "new", "2.15.0", "5.23.0")
    worker = breakwatch.settings.index("--capture.worker") + 1
    breakwatch.settings[worker] = json.dumps([str(new), str(breakwatch.tmp_path)])
    child, address = breakwatch.serve("--allow-factories", "--capture.toolchains", f"old={old}",
                                      BREAKWATCH_WEB_TOKEN=TOKEN)  # fmt: skip
    for toolchain in (f"x={evil}", str(evil), "old/../evil", "evil", "../evil"):
        status, document, _ = post(address, {"toolchain": toolchain})
        assert status == 400, toolchain
        assert "configured: default or old" in document["detail"]
    plan = {"schema": 1, "models": [{"model": "python:mine:make", "config_source": "python", "config": {
        "kind": "python", "factory": "mine:make", "path": [str(breakwatch.tmp_path)]}}]}
    script = f"script:{breakwatch.tmp_path}/mine.py"
    for body in ({"models": ["python:mine:make"]}, {"models": [script]}, {"plan": plan}):
        status, document, _ = post(address, body)
        assert (status, "runs code" in document["detail"]) == (400, True), document
    for body, names in (({"modes": ["fast"]}, "fullgraph"), ({"sort": "stars"}, "trendingScore"),
                        ({"worker": [str(evil)]}, "unknown field"), ({"python": str(evil)}, "unknown field"),
                        ({"plan": {"schema": 1, "models": [{"model": "a/b", "mode": "fast"}]}}, "models[0]")):
        status, document, _ = post(address, body)
        assert (status, names in document["detail"]) == (400, True), document
    status, document, headers = post(address, {"toolchain": "old"})
    assert status == 202
    assert ended(address, headers["Location"])["exit_code"] == 0
    assert (breakwatch.tmp_path / "captured_by").read_text().startswith("2.13.0 5.8.0 ")
    assert not (breakwatch.tmp_path / "was-run").exists()
    child.terminate()
    assert child.wait(timeout=DEADLINE_S) == 0


def test_the_outcome_of_a_request_is_available(breakwatch, hub):
    hub.model("org/one", 1)
    gone = f"http://127.0.0.1:{free_port()}"
    child, address = breakwatch.serve("--exporters.loki.url", gone, "--delivery.drain_timeout", "200ms",
                                      "--web.enable_lifecycle", BREAKWATCH_WEB_TOKEN=TOKEN)  # fmt: skip
    status, taken, headers = post(address, {"models": ["org/one"]})
    assert (status, taken["request"]) == (202, headers["Location"])
    done = ended(address, headers["Location"])
    assert (done["state"], done["id"]) == ("done", taken["id"])
    assert (done["exit_code"], done["exporters_behind"]) == (3, ["loki"])
    assert json.loads(get(address + "/api/v1/sweeps/" + done["sweep_id"])[1])["state"] == "finished"
    _, _, headers = post(address, {"resume": True})
    failed = ended(address, headers["Location"])
    assert (failed["state"], failed["exit_code"]) == ("failed", 1)
    assert "nothing to resume" in failed["error"]["message"]
    _, _, headers = post(address, {}, path="/-/reload")
    assert ended(address, headers["Location"])["state"] == "done"
    assert len(json.loads(get(address + "/api/v1/requests")[1])["requests"]) == 3
    assert get(address + "/api/v1/requests/api-1")[0] == 404
    child.terminate()


def test_requests_without_a_handler_are_answered_at_once(breakwatch, hub):
    hub.model("org/one", 1)
    child, address = breakwatch.serve(BREAKWATCH_WEB_TOKEN=TOKEN)
    head = f"POST /api/v1/sweeps HTTP/1.1\nHost: x\nAuthorization: Bearer {TOKEN}\n"
    for text, expected in (("PUT /api/v1/sweeps HTTP/1.1\nHost: x\n\n", 405), ("POST /api/v1/models HTTP/1.1\n\n", 405),
                           ("DELETE /nowhere HTTP/1.1\nHost: x\n\n", 404), (head + "Content-Length: two\n\n{}", 400),
                           (head + "Content-Length: -2\n\n{}", 400),
                           (head + "Content-Type: multipart/form-data; boundary=b\nContent-Length: 5\n\n--b--", 415)):
        status, seconds = raw(address, text)
        assert status == expected, text
        assert seconds < 4.5, "the library's read time-out is 5 s"
    assert json.loads(get(address + "/api/v1/requests")[1])["requests"] == []
    child.terminate()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can start a daemon of another user")
def test_root_is_untrusted_by_a_daemon_of_another_user(program, hub, evil):
    nobody = 65534
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        subprocess.run(["cp", "-r", str(hub.folder), name], check=True)
        state = folder / "state"
        state.mkdir()
        os.chown(state, nobody, nobody)
        port = free_port()
        worker = json.dumps([sys.executable, str(ROOT / "tests/e2e/fake_worker.py"), name])
        common = [program, "--state-dir", str(state), "--hub.source", "snapshot", "--hub.snapshot_dir",
                  str(folder / "hub"), "--capture.launcher=[]", "--capture.worker", worker]  # fmt: skip
        try:
            subprocess.run([program, "version"], user=nobody, check=True, capture_output=True, cwd=folder)
            subprocess.run([sys.executable, "-c", ""], user=nobody, check=True, cwd=folder)
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"another user cannot run the program here: {error}")
        with open(folder / "log", "wb") as log:
            child = subprocess.Popen([*common, "serve", "--web.listen_address", f"127.0.0.1:{port}"], user=nobody,
                                     group=nobody, extra_groups=[], stdout=log, stderr=log, cwd=folder)  # fmt: skip
        try:
            ready = eventually(lambda: get(f"http://127.0.0.1:{port}/-/ready")[0] == 200 or child.poll() is not None)
            assert ready and child.poll() is None, (folder / "log").read_text()
            for asked in (["--toolchain", "evil", "--capture.toolchains", f"evil={evil}"],
                          ["--allow-factories", "--model", "python:mine:make"]):  # fmt: skip
                done = subprocess.run([*common, "sweep", *asked], capture_output=True, text=True, cwd=folder)
                assert done.returncode == 64, done.stderr
            assert not (evil.parents[2] / "was-run").exists()
        finally:
            child.kill()
            child.wait()
