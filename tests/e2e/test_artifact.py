"""Artifacts through the command line: the order of stages, faults in each, and registries."""

import contextlib
import hashlib
import http.server
import json
import shutil
import signal
import subprocess
import threading
from pathlib import Path

import pytest
from artifact_support import MODEL
from e2e_support import Process, eventually, free_port
from test_output import small_disk

USAGE, UNAVAILABLE, STORE = 64, 69, 74


def test_a_package_goes_from_the_hub_to_a_registry_and_back(artifacts, tmp_path):
    built = artifacts.build("--seed", "7")
    assert built["state"] == "checked"
    assert list(artifacts.statuses(built).items()) == [("fetch", "ok"), ("build", "ok"), ("check", "ok")]
    assert all(stage["detail"] and stage["directory"] for stage in built["stages"])
    assert artifacts.build("--seed", "7")["package_id"] == built["package_id"]
    assert len(artifacts.breakwatch.captures()) == 1, "an equal request finds the package"
    registry = f"dir:{tmp_path}/registry"
    published = artifacts.json("publish", built["key"][:12], "--to", registry)
    assert published["state"] == "published"
    reference = published["stages"][-1]["reference"]
    assert reference == f"{registry}@sha256:{built['package_id']}"
    assert [p["package_id"] for p in artifacts.json("ls", "--from", registry)] == [built["package_id"]]
    for query in ([reference], [registry, "--model", MODEL], [registry, "--id", built["package_id"][:8]]):
        pulled = artifacts.json("pull", *query, "--output", str(tmp_path / "pulled"))
        assert pulled["package_id"] == built["package_id"]
    assert (tmp_path / "pulled/package.pt2").read_text() == f"compiled {MODEL} 7"
    card = (tmp_path / "pulled/README.md").read_text()
    assert f"`{MODEL}`" in card and built["package_id"] in card and "## Graph breaks" in card
    assert "verified 3 files" in artifacts.run("verify", str(tmp_path / "pulled")).stdout
    assert artifacts.json("show", built["package_id"][:8])["key"] == built["key"]
    assert "published" in artifacts.run("ls").stdout
    artifacts.run("pull", registry, "--model", "org/other", "--output", str(tmp_path / "none"), code=1)
    assert not (tmp_path / "none").exists()


def test_each_stage_needs_the_one_before_it(artifacts, tmp_path):
    registry = f"dir:{tmp_path}/registry"
    fetched = artifacts.build("--until", "fetch")
    assert fetched["state"] == "fetched" and not artifacts.breakwatch.captures()
    assert "not built" in artifacts.run("check", fetched["key"], code=1).stderr
    built = artifacts.build("--until", "build")
    assert built["state"] == "built"
    assert "not checked" in artifacts.run("publish", built["key"], "--to", registry, code=1).stderr
    assert not Path(registry.removeprefix("dir:")).exists()
    artifacts.answers("wrong_result", "outputs[0] differs by 0.5")
    wrong = artifacts.json("check", built["key"], code=1)
    assert wrong["state"] == "wrong_result"
    assert "outputs[0] differs" in artifacts.run("publish", built["key"], "--to", registry, code=1).stderr
    artifacts.answers("ok")
    assert artifacts.json("check", built["key"])["state"] == "checked"
    artifacts.run("publish", built["key"], "--to", registry)


@pytest.mark.parametrize("answer, status, cause", [
    ({"build": {"status": "failed", "cause": "unsupported_operator", "detail": "no aten::x"}}, "failed_build",
     "unsupported_operator"),
    ({"build": {"status": "timeout", "cause": "compiler", "detail": "slow"}}, "timeout", "compiler"),
    ({"status": "out_of_memory", "result": {"mode_detail": None, "phase": "capture"}}, "out_of_memory", "capture"),
    ({"manifest": {"model": "org/other"}}, "failed_build", "package"),
    ({"manifest": {"files": []}}, "failed_build", "package"),
])  # fmt: skip
def test_a_build_that_fails_names_its_cause_and_leaves_no_package(artifacts, hub, answer, status, cause):
    hub.model(MODEL, 300, **answer)
    failed = artifacts.build(code=1)
    assert failed["state"] == status
    assert failed["stages"][-1]["cause"] == cause
    assert not artifacts.package(failed).exists()
    assert (artifacts.package(failed).parent / "build.log").read_text()


def test_a_package_that_was_changed_is_neither_checked_nor_published_and_is_built_again(artifacts, tmp_path):
    built = artifacts.build()
    file = artifacts.package(built) / "package.pt2"
    text = file.read_text()
    file.write_text(text.replace("compiled", "tampered"))
    assert "it was changed" in artifacts.run("verify", built["key"], code=1).stderr
    to = ("publish", built["key"], "--to", f"dir:{tmp_path}/registry")
    assert "it was changed" in artifacts.run(*to, code=1).stderr
    assert not (tmp_path / "registry").exists()
    calls = artifacts.answer.with_name("answer.json.calls").read_text()
    assert artifacts.json("check", built["key"], code=1)["stages"][2]["cause"] == "refused"
    assert artifacts.answer.with_name("answer.json.calls").read_text() == calls, "nothing was loaded"
    again = artifacts.build()
    assert again["state"] == "checked" and file.read_text() == text


def test_rebuild_always_replaces_the_package_and_its_check(artifacts, hub, tmp_path):
    first = artifacts.build()
    artifacts.run("publish", first["key"], "--to", f"dir:{tmp_path}/registry")
    again = artifacts.build("--rebuild", "always", "--until", "build")
    assert again["key"] == first["key"] and len(artifacts.breakwatch.captures()) == 2
    if again["package_id"] != first["package_id"]:  # `built_at` has seconds
        assert again["state"] == "built"
    assert not list(artifacts.package(again).parent.glob("work-*"))


def test_the_second_of_two_builders_waits_and_builds_nothing(artifacts, hub, tmp_path):
    hub.model(MODEL, 300, wait=True)
    first = artifacts.start("build", MODEL, "--json")
    assert eventually(artifacts.breakwatch.captures)
    second = artifacts.start("build", MODEL, "--json")
    assert f"process {first.pid} works on this artifact" in second.stderr.readline()
    (tmp_path / "no_more_waiting").touch()
    documents = [json.loads(process.communicate(timeout=60)[0]) for process in (first, second)]
    assert documents[0][0]["package_id"] == documents[1][0]["package_id"]
    assert len(artifacts.breakwatch.captures()) == 1


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.communicate()


def test_a_build_that_is_killed_leaves_no_package_and_the_next_run_resumes(artifacts, hub, tmp_path):
    hub.model(MODEL, 300, hang=True)
    process = artifacts.start("build", MODEL)
    assert eventually(artifacts.breakwatch.captures)
    kill(process)
    (tmp_path / "no_more_hanging").touch()
    [left] = artifacts.json("ls")
    assert left["state"] == "fetched" and not artifacts.package(left).exists()
    assert list(artifacts.package(left).parent.glob("work-*"))
    assert "1 unfinished build" in artifacts.run("gc", "--keep-last", "1", "--dry-run").stdout
    built = artifacts.build()
    assert built["state"] == "checked" and not list(artifacts.package(built).parent.glob("work-*"))


def test_a_package_that_was_complete_when_its_builder_was_killed_is_kept(artifacts):
    built = artifacts.build()
    database = artifacts.breakwatch.state / "breakwatch.db"
    subprocess.run(["sqlite3", database, "DELETE FROM artifact_stages WHERE stage IN ('build', 'check')"], check=True)
    again = artifacts.build()
    assert again["package_id"] == built["package_id"] and again["state"] == "checked"
    assert "interrupted" in again["stages"][1]["detail"]
    assert len(artifacts.breakwatch.captures()) == 1


def test_a_check_that_is_killed_is_run_again(artifacts):
    hang = artifacts.answer.with_name("answer.json.hang")
    hang.touch()
    process = artifacts.start("build", MODEL)
    assert eventually(artifacts.answer.with_name("answer.json.calls").exists)
    kill(process)
    hang.unlink()
    assert artifacts.json("ls")[0]["state"] == "built"
    assert artifacts.build()["state"] == "checked"
    assert len(artifacts.breakwatch.captures()) == 1


def test_a_full_disk_and_an_unwritable_folder_are_named(artifacts, hub):
    hub.model(MODEL, 300, files={"package.pt2": "x" * 4_000_000})
    with small_disk(artifacts.breakwatch.state, "2m"):
        folder = f"{artifacts.breakwatch.state}/artifacts/"
        failed = artifacts.run("build", MODEL, code=STORE).stderr
        assert "No space left" in failed and folder in failed
        artifacts.run("gc", "--max-bytes", "1")
        hub.model(MODEL, 300)
        assert artifacts.build()["state"] == "checked"
        shutil.rmtree(folder)
        Path(folder.rstrip("/")).write_text("no folder")
        assert folder in artifacts.run("build", MODEL, code=STORE).stderr


def test_gc_keeps_the_newest_packages(artifacts):
    keys = [artifacts.build("--seed", str(seed))["key"] for seed in range(3)]
    artifacts.run("gc", code=USAGE)
    assert artifacts.json("gc", "--keep-last", "2", "--dry-run")["removed"] == [keys[0]]
    assert len(artifacts.json("ls")) == 3
    assert artifacts.json("gc", "--keep-last", "2")["removed"] == [keys[0]]
    assert not artifacts.package({"key": keys[0]}).parent.exists()
    assert artifacts.json("gc", "--max-bytes", "1")["removed"] == [keys[2], keys[1]]
    assert artifacts.json("ls") == []


def test_signatures_are_verified(artifacts, tmp_path):
    keys = {}
    for name in ("ours", "theirs"):
        key, public = tmp_path / f"{name}.pem", tmp_path / f"{name}.pub"
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
        subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
        keys[name] = (str(key), str(public))
    registry = f"dir:{tmp_path}/registry"
    built = artifacts.build()
    artifacts.run("publish", built["key"], "--to", registry)
    pull = ("pull", registry, "--output", str(tmp_path / "pulled"), "--public-key")
    assert "not signed" in artifacts.run(*pull, keys["ours"][1], code=1).stderr
    artifacts.run("publish", built["key"], "--to", registry, "--sign-key", keys["ours"][0])
    assert "signature is not by the key" in artifacts.run(*pull, keys["theirs"][1], code=1).stderr
    assert not (tmp_path / "pulled").exists()
    artifacts.run(*pull, keys["ours"][1])
    assert artifacts.json("verify", str(tmp_path / "pulled"), "--public-key", keys["ours"][1])["signed"]
    artifacts.run("publish", built["key"], "--to", registry, "--sign-key", keys["ours"][1], code=78)


def test_a_directory_registry_is_verified_when_it_is_read_and_repaired_by_a_publish(artifacts, tmp_path):
    built = artifacts.build()
    registry = tmp_path / "registry"
    artifacts.run("publish", built["key"], "--to", f"dir:{registry}")
    [blob] = [file for file in (registry / "blobs/sha256").iterdir() if file.read_text().startswith("compiled")]
    blob.write_text("tampered")
    pull = ("pull", f"dir:{registry}", "--output", str(tmp_path / "pulled"))
    assert "it was changed" in artifacts.run(*pull, code=1).stderr
    assert not (tmp_path / "pulled").exists()
    (registry / "blobs/sha256/.new-half").write_text("what a killed publisher left")
    artifacts.run("publish", built["key"], "--to", f"dir:{registry}")
    assert not (registry / "blobs/sha256/.new-half").exists()
    artifacts.run(*pull)
    (registry / "index.json").write_text("{")
    assert "index.json" in artifacts.run("ls", "--from", f"dir:{registry}", code=1).stderr


def test_names_that_are_no_registry_are_refused(artifacts):
    built = artifacts.build()
    for name in ("models", "dir:", "oci:host", "oci:host/UPPER", "mlflow:host", "s3:bucket", "dir:/x@sha256:zz"):
        artifacts.run("publish", built["key"], "--to", name, code=USAGE)


class OciStub(http.server.BaseHTTPRequestHandler):
    """A registry in memory. `server.left`: number of requests after which it answers 500 to all. `server.hang`: what a
    request has in "METHOD PLACE" that is answered only after `server.released`."""

    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_request(self):
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        server.seen.append(f"{self.command} {self.path.split('?')[0].split('/')[-2]}")
        if server.hang is not None and server.hang in server.seen[-1]:
            server.released.wait(30)
        server.left -= 1
        if server.left < 0:
            return self.answer(500, b"full")
        name = self.path.rsplit("/", 1)[1]
        if self.command in ("HEAD", "GET") and "tags/list" in self.path:
            return self.answer(200, json.dumps({"tags": list(server.tags)}).encode())
        if self.command in ("HEAD", "GET"):
            found = (
                server.blobs.get(name) if "/blobs/" in self.path else server.manifests.get(server.tags.get(name, name))
            )
            return self.answer(200 if found is not None else 404, found or b"")
        if self.command == "POST":
            return self.answer(202, Location=self.path + "one")
        if "/manifests/" in self.path:
            server.tags[name] = "sha256:" + hashlib.sha256(body).hexdigest()
            server.manifests[server.tags[name]] = body
            return self.answer(201)
        server.blobs[self.path.split("digest=")[1].replace("%3A", ":")] = body
        return self.answer(201)

    do_GET = do_HEAD = do_POST = do_PUT = handle_request

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def oci_stub():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), OciStub)
    server.blobs, server.manifests, server.tags, server.seen = {}, {}, {}, []
    server.left, server.hang = 1_000_000, None
    server.released = threading.Event()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server, f"oci:127.0.0.1:{server.server_port}/team/models"
    finally:
        server.released.set()
        server.shutdown()
        server.server_close()


def test_a_registry_that_fails_half_way_has_no_package_and_the_next_publish_continues(artifacts, tmp_path):
    built = artifacts.build()
    with oci_stub() as (server, name):
        server.left = 6
        failed = artifacts.run("publish", built["key"], "--to", name, code=UNAVAILABLE)
        assert "status 500 full" in failed.stderr and server.blobs and not server.tags
        assert artifacts.json("show", built["key"])["state"] == "failed_publish"
        server.left, sent = 1_000_000, set(server.blobs)
        server.seen.clear()
        published = artifacts.json("publish", built["key"], "--to", name)
        assert published["state"] == "published"
        assert server.seen.count("POST uploads") == len(server.blobs) - len(sent)
        reference = published["stages"][-1]["reference"]
        artifacts.run("pull", reference, "--output", str(tmp_path / "pulled"))
        assert [p["package_id"] for p in artifacts.json("ls", "--from", name)] == [built["package_id"]]
        digest = next(d for d, blob in server.blobs.items() if blob.startswith(b"compiled"))
        server.blobs[digest] = b"tampered" + server.blobs[digest][8:]
        again = artifacts.run("pull", reference, "--output", str(tmp_path / "again"), code=1)
        assert "it was changed" in again.stderr and not (tmp_path / "again").exists()
    artifacts.run("publish", built["key"], "--to", name, code=UNAVAILABLE)


def test_a_publish_that_is_killed_publishes_nothing_and_can_be_repeated(artifacts):
    built = artifacts.build()
    with oci_stub() as (server, name):
        server.hang = ""
        process = artifacts.start("publish", built["key"], "--to", name)
        assert eventually(lambda: server.seen)
        kill(process)
        server.hang = None
        assert not server.tags
        assert artifacts.json("show", built["key"])["state"] == "checked"
        assert artifacts.json("publish", built["key"], "--to", name)["state"] == "published"


@pytest.fixture
def weights(artifacts, hub, tmp_path, processes):
    """Files beside the config of the model, on a Hub that serves them."""
    folder = next((hub.folder / "files").rglob("config.json")).parent

    def put(**files):
        for name, data in files.items():
            (folder / name).write_bytes(data)
        for info in hub.models.values():
            info["siblings"] = [{"rfilename": file.name} for file in folder.iterdir()]
        hub._write_listing()

    port = free_port()
    url = f"http://127.0.0.1:{port}"
    server = Process([artifacts.breakwatch.program, "hub", "serve", str(hub.folder), "--port", str(port)],
                     f"{url}/api/models", tmp_path / "hub.log")  # fmt: skip
    processes.append(server)
    artifacts.breakwatch.settings += ["--hub.endpoint", url]
    return put, server


def cached(artifacts, revision):
    return artifacts.folder / f"hf/hub/models--org--a/snapshots/{revision}"


def test_weights_of_the_hub_are_fetched_once_within_the_budget(artifacts, weights):
    put, server = weights
    data = bytes(range(256)) * 4096
    put(**{"model.safetensors": data})
    server.start()
    too_large = artifacts.json("build", MODEL, "--weights", "hub", "--seed", "9", "--artifact.max_weight_bytes", "1KiB",
                               code=1)[0]  # fmt: skip
    assert too_large["state"] == "failed_resolve" and "max_weight_bytes" in too_large["stages"][0]["detail"]
    built = artifacts.build("--weights", "hub")
    assert built["state"] == "checked"
    file = cached(artifacts, built["revision"]) / "model.safetensors"
    assert file.is_symlink() and file.read_bytes() == data
    job = json.loads((artifacts.folder / "jobs").read_text().splitlines()[-1])
    assert job["build"]["weights"] == str(file.parent)
    server.kill()
    artifacts.run("build", MODEL, "--weights", "hub", "--hub.retries", "0", "--rebuild", "always", code=UNAVAILABLE)
    assert artifacts.build("--weights", "hub", "--hub.offline", "--rebuild", "always")["state"] == "checked"


def test_an_interrupted_download_continues_and_a_wrong_one_starts_again(artifacts, weights, hub):
    put, server = weights
    shards = {f"model-0000{n}-of-00002.safetensors": bytes([n]) * 300_000 for n in (1, 2)}
    index = {"weight_map": {f"layer.{n}": name for n, name in enumerate(shards)}}
    put(**shards, **{"model.safetensors.index.json": json.dumps(index).encode()})
    server.start()
    blobs = artifacts.folder / "hf/hub/models--org--a/blobs"
    blobs.mkdir(parents=True)
    names = list(shards)
    for name, half in ((names[0], shards[names[0]][:100_000]), (names[1], b"x" * 100_000)):
        data = shards[name]
        digest = hashlib.sha256(data).hexdigest()
        (blobs / f"{digest}.breakwatch.incomplete").write_bytes(half)
    wrong = artifacts.build("--weights", "hub", code=1)
    assert wrong["state"] == "failed_resolve" and names[1] in wrong["stages"][0]["detail"]
    folder = cached(artifacts, wrong["revision"])
    assert (folder / names[0]).read_bytes() == shards[names[0]] and not (folder / names[1]).exists()
    assert artifacts.build("--weights", "hub")["state"] == "checked"
    assert (folder / names[1]).read_bytes() == shards[names[1]]
    assert not list(blobs.glob("*.incomplete"))


def test_weights_of_a_folder_are_part_of_the_request(artifacts, tmp_path):
    folder = tmp_path / "weights"
    folder.mkdir()
    assert "no safetensors" in artifacts.run("build", MODEL, "--weights", str(folder), code=USAGE).stderr
    (folder / "model.safetensors").write_bytes(b"one")
    first = artifacts.build("--weights", str(folder))
    assert artifacts.build("--weights", str(folder))["key"] == first["key"]
    (folder / "model.safetensors").write_bytes(b"two")
    assert artifacts.build("--weights", str(folder))["key"] != first["key"]
    artifacts.run("build", MODEL, "--weights", "no/such/folder", code=USAGE)
