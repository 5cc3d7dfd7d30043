"""Artifacts under attack: what is missing, damaged, full, killed, silent or forged. Each error names the thing."""

import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from artifact_support import MODEL
from e2e_support import Process, eventually, free_port, get
from test_artifact import kill, oci_stub
from test_output import small_disk

FAILURE, USAGE, UNAVAILABLE, STORE, CONFIG = 1, 64, 69, 74, 78


@pytest.fixture
def kept(artifacts, tmp_path):
    """A checked artifact, and a registry in a directory that has it."""
    built = artifacts.build()
    registry = tmp_path / "registry"
    artifacts.run("publish", built["key"], "--to", f"dir:{registry}")
    return built, registry


@pytest.mark.parametrize("arguments, code, texts", [
    (("build", "org/none"), FAILURE, ("org/none", "skipped_not_found")),
    (("build", "../x"), FAILURE, ("../x",)),
    (("build", MODEL, "--target", "tensorflow"), USAGE, ("tensorflow", "aot_inductor", "onnx")),
    (("build", MODEL, "--weights", "no/such/folder"), USAGE, ("no/such/folder", "hub or a folder")),
    (("check", "abcdef123456"), FAILURE, ("abcdef123456", "breakwatch artifact ls")),
    (("publish", "abcdef123456", "--to", "dir:x"), FAILURE, ("abcdef123456",)),
    (("show", "x"), FAILURE, ("no artifact x",)),
    (("verify", "no/such/folder"), FAILURE, ("no/such/folder",)),
    (("pull", "dir:no/such/registry", "--output", "out"), FAILURE, ("no/such/registry",)),
    (("ls", "--from", "dir:no/such/registry"), FAILURE, ("no/such/registry",)),
    (("gc",), USAGE, ("--keep-last", "--max-bytes")),
])  # fmt: skip
def test_what_does_not_exist_is_named(artifacts, arguments, code, texts):
    artifacts.build("--until", "fetch")
    stderr = artifacts.run(*arguments, code=code).stderr
    for text in texts:
        assert text in stderr
    assert len(stderr.splitlines()) <= 6, stderr


def test_targets_that_are_examples_are_skipped_with_their_text(artifacts, hub):
    hub.model(MODEL, 300, build={"status": "skipped", "cause": "not_installed", "detail": "install neuronx-cc"})
    skipped = artifacts.build("--target", "neuron", code=FAILURE)
    assert skipped["state"] == "skipped_missing_dependency"
    assert "neuronx-cc" in skipped["stages"][-1]["detail"]


def test_keys_that_are_none_are_named(artifacts, kept, tmp_path):
    built, registry = kept
    no_key = tmp_path / "no key"
    no_key.write_text("nothing")
    for key in (str(no_key), str(tmp_path / "absent.pem")):
        for command in (("publish", built["key"], "--to", f"dir:{registry}", "--sign-key", key),
                        ("verify", built["key"], "--public-key", key)):  # fmt: skip
            refused = artifacts.run(*command, code=FAILURE if command[0] == "verify" else CONFIG)
            assert key in refused.stderr or "not signed" in refused.stderr, command


def test_a_pull_that_was_changed_is_found(artifacts, kept, tmp_path):
    pulled = tmp_path / "pulled"
    artifacts.run("pull", f"dir:{kept[1]}", "--output", str(pulled))
    package = pulled / "package.pt2"
    text = package.read_bytes()
    for change, words in ((text + b"x", "bytes"), (text[:-1] + b"x", "it was changed"), (None, "package.pt2")):
        if change is None:
            package.unlink()
        else:
            package.write_bytes(change)
        assert words in artifacts.run("verify", str(pulled), code=FAILURE).stderr
    package.write_bytes(text)
    (pulled / "extra.so").write_text("loaded too?")
    assert "extra.so" in artifacts.run("verify", str(pulled), code=FAILURE).stderr


@pytest.mark.parametrize("damage", [
    "{", "[]", "null", '{"schema": 2, "packages": []}', '{"schema": 1, "packages": 5}', "[" * 5000, "\x00\xff",
    '{"schema": 1, "packages": [{"package_id": "../../etc"}]}',
])  # fmt: skip
def test_a_damaged_index_is_named_and_not_replaced(artifacts, kept, tmp_path, damage):
    built, registry = kept
    index = registry / "index.json"
    index.write_bytes(damage.encode("latin-1"))
    before = index.read_bytes()
    for command in (("ls", "--from", f"dir:{registry}"), ("publish", built["key"], "--to", f"dir:{registry}"),
                    ("pull", f"dir:{registry}", "--output", str(tmp_path / "out"))):  # fmt: skip
        done = subprocess.run(artifacts.breakwatch.argv("artifact", *command), capture_output=True, text=True,
                              timeout=60, cwd=tmp_path, env=artifacts.breakwatch.environment)  # fmt: skip
        assert done.returncode == FAILURE and str(index) in done.stderr, (command, done.stderr)
    assert index.read_bytes() == before
    assert not (tmp_path / "out").exists()


def test_a_registry_that_cannot_be_written_is_named(artifacts, kept, tmp_path):
    built, _ = kept
    full = tmp_path / "full"
    with small_disk(full, "64k"):
        ballast = full / "ballast"
        ballast.write_bytes(b"x" * 52_000)
        failed = artifacts.run("publish", built["key"], "--to", f"dir:{full}", code=STORE).stderr
        assert str(full) in failed and ("No space left" in failed or "disk is full" in failed)
        assert not (full / "index.json").exists()
        ballast.unlink()
        artifacts.run("publish", built["key"], "--to", f"dir:{full}")
        packages = json.loads((full / "index.json").read_text())["packages"]
        assert [entry["package_id"] for entry in packages] == [built["package_id"]]
    read_only = tmp_path / "read_only"
    with small_disk(read_only, "1m"):
        remount = subprocess.run(["mount", "-o", "remount,ro", read_only], capture_output=True, text=True)
        if remount.returncode != 0:
            pytest.skip(f"no read-only file system: {remount.stderr}")
        refused = artifacts.run("publish", built["key"], "--to", f"dir:{read_only}", code=STORE).stderr
        assert str(read_only) in refused and "Read-only file system" in refused
    state = artifacts.json("show", built["key"])
    places = {stage.get("place"): stage["status"] for stage in state["stages"]}
    assert places[f"dir:{read_only}"] == "failed_publish" and places[f"dir:{full}"] == "ok"


def test_two_publishers_at_once_publish_one_package(artifacts, tmp_path):
    keys = [artifacts.build("--seed", str(seed))["key"] for seed in range(2)]
    registry = f"dir:{tmp_path}/registry"
    running = [artifacts.start("publish", key, "--to", registry, "--json") for key in keys * 3]
    for process in running:
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert sorted(p["package_id"] for p in artifacts.json("ls", "--from", registry)) == sorted(
        {artifacts.json("show", key)["package_id"] for key in keys}
    )


def test_gc_leaves_what_is_being_built(artifacts, hub, tmp_path):
    other = artifacts.build("--seed", "5")
    hub.model(MODEL, 300, wait=True)
    process = artifacts.start("build", MODEL, "--json")
    assert eventually(lambda: len(artifacts.breakwatch.captures()) == 2)
    collected = artifacts.json("gc", "--max-bytes", "1")
    assert collected["removed"] == [other["key"]] and collected["unfinished_builds"] == 0
    (tmp_path / "no_more_waiting").touch()
    built = json.loads(process.communicate(timeout=60)[0])[0]
    assert built["state"] == "checked"
    artifacts.run("verify", built["key"])


def test_gc_leaves_what_is_being_published(artifacts):
    other, built = artifacts.build("--seed", "5"), artifacts.build()
    with oci_stub() as (server, name):
        server.hang = ""
        process = artifacts.start("publish", built["key"], "--to", name)
        assert eventually(lambda: server.seen)
        collected = artifacts.json("gc", "--max-bytes", "1")
        assert collected["removed"] == [other["key"]] and collected["skipped"] == [built["key"]]
        server.hang = None
        server.released.set()
        _, stderr = process.communicate(timeout=60)
        assert process.returncode == 0, stderr
        assert server.tags
    assert artifacts.json("show", built["key"])["state"] == "published"


def test_a_pull_that_is_killed_leaves_no_package_and_the_next_one_cleans_up(artifacts, tmp_path):
    built = artifacts.build()
    with oci_stub() as (server, name):
        artifacts.run("publish", built["key"], "--to", name)
        server.seen.clear()
        server.hang = "GET blobs"
        pull = ("pull", name, "--output", f"{tmp_path}/pulled/")
        process = artifacts.start(*pull)
        assert eventually(lambda: "GET blobs" in server.seen)
        other = tmp_path / f"pulled.pull-{os.getpid()}"
        other.mkdir()
        kill(process)
        assert not (tmp_path / "pulled").exists() and (tmp_path / f"pulled.pull-{process.pid}").exists()
        server.hang = None
        artifacts.run(*pull)
    assert "verified 3 files" in artifacts.run("verify", str(tmp_path / "pulled")).stdout
    assert list(tmp_path.glob("pulled.pull-*")) == [other], "one of a process that runs is not removed"


def test_a_wrong_onnx_package_is_wrong_and_never_published(artifacts, hub, tmp_path):
    wrong = {"status": "wrong_result", "detail": "outputs[0] differs by 0.5", "cases": []}
    hub.model(MODEL, 300, build={"check": wrong})
    built = artifacts.build("--target", "onnx", code=FAILURE)
    assert built["state"] == "wrong_result"
    refused = artifacts.run("publish", built["key"], "--to", f"dir:{tmp_path}/registry", code=FAILURE)
    assert "outputs[0] differs by 0.5" in refused.stderr and not (tmp_path / "registry").exists()
    assert artifacts.json("check", built["key"], code=FAILURE)["state"] == "wrong_result"
    hub.model(MODEL, 300, build={"check": wrong | {"status": "ok", "detail": ""}})
    assert artifacts.build("--target", "onnx")["state"] == "checked"


def test_a_registry_that_accepts_and_says_nothing_is_given_up(artifacts, kept, tmp_path):
    with socket.create_server(("127.0.0.1", 0), backlog=64) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        quick = ("--artifact.registry.timeout", "1s")
        for command in (("publish", kept[0]["key"], "--to", f"oci:{address}/models", *quick),
                        ("ls", "--from", f"mlflow:http://{address}", *quick)):  # fmt: skip
            began = time.monotonic()
            assert address in artifacts.run(*command, code=UNAVAILABLE).stderr
            assert time.monotonic() - began < 8


class SlowWeights(http.server.BaseHTTPRequestHandler):
    """Hands requests to a Hub, and holds the second part of a file until the test lets it go."""

    def do_GET(self):
        if not self.headers.get("Range", "bytes=0-").startswith("bytes=0-"):
            self.server.reached.set()
            self.server.go_on.wait(60)
        headers = {name: self.headers[name] for name in ("Range", "Accept-Encoding") if name in self.headers}
        try:
            with urllib.request.urlopen(urllib.request.Request(self.server.hub + self.path, headers=headers)) as answer:
                body = answer.read()
                self.send_response(answer.status)
                for name, value in answer.getheaders():
                    if name.lower() not in ("connection", "transfer-encoding"):
                        self.send_header(name, value)
        except urllib.error.HTTPError as error:
            body = error.read()
            self.send_response(error.code)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def test_a_fetch_that_is_killed_is_continued(artifacts, hub, processes, tmp_path):
    folder = next((hub.folder / "files").rglob("config.json")).parent
    data = os.urandom(1 << 20) * 20  # two parts
    (folder / "model.safetensors").write_bytes(data)
    for info in hub.models.values():
        info["siblings"] = [{"rfilename": file.name} for file in folder.iterdir()]
    hub._write_listing()
    port = free_port()
    origin = f"http://127.0.0.1:{port}"
    server = Process([artifacts.breakwatch.program, "hub", "serve", str(hub.folder), "--port", str(port)],
                     f"{origin}/api/models", tmp_path / "hub.log")  # fmt: skip
    processes.append(server)
    server.start()
    slow = http.server.ThreadingHTTPServer(("127.0.0.1", 0), SlowWeights)
    slow.hub, slow.reached, slow.go_on = origin, threading.Event(), threading.Event()
    threading.Thread(target=slow.serve_forever, daemon=True).start()
    try:
        artifacts.breakwatch.settings += ["--hub.endpoint", f"http://127.0.0.1:{slow.server_port}"]
        process = artifacts.start("build", MODEL, "--weights", "hub")
        assert slow.reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        [left] = artifacts.json("ls")
        assert left["state"] == "requested" and not artifacts.breakwatch.captures()
        cache = tmp_path / "hf/hub/models--org--a"
        [partial] = cache.glob("blobs/*.incomplete")
        assert partial.stat().st_size == 16 << 20
        assert not list(cache.glob("snapshots/*/model.safetensors"))
        slow.go_on.set()
        built = artifacts.build("--weights", "hub")
        assert built["state"] == "checked"
        assert (Path(built["stages"][0]["directory"]) / "model.safetensors").read_bytes() == data
        assert not list(cache.glob("blobs/*.incomplete"))
    finally:
        slow.go_on.set()
        slow.shutdown()
        slow.server_close()


def test_the_numbers_of_artifacts_are_served(artifacts, hub):
    artifacts.build()
    artifacts.build("--seed", "1", "--until", "build")
    artifacts.breakwatch.run("sweep", "--quiet")
    _, address = artifacts.breakwatch.serve("--sweep.interval", "24h")
    assert eventually(lambda: "breakwatch_artifact_status" in get(address + "/metrics/models")[1])
    text = get(address + "/metrics/models")[1]
    found = dict(re.findall(r'^breakwatch_artifact_status{target="aot_inductor",status="(\w+)"} (\d+)$', text, re.M))
    assert found == {"checked": "1", "built": "1"}


def test_a_state_folder_that_cannot_be_read_is_named(artifacts, kept):
    folder = artifacts.package(kept[0])
    shutil.rmtree(folder)
    folder.write_text("no folder")
    assert str(folder) in artifacts.run("verify", kept[0]["key"], code=FAILURE).stderr
    assert artifacts.json("check", kept[0]["key"], code=FAILURE)["stages"][2]["cause"] == "refused"
    folder.unlink()
    assert artifacts.build()["state"] in ("checked", "published")  # published: within a second it is the same package
