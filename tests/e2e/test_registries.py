"""Artifacts in real registries. REGISTRY and MLFLOW name the programs; `make test-registries` provides both."""

import json
import os
import shutil

import pytest
from artifact_support import MODEL
from e2e_support import Process, free_port

UNAVAILABLE = 69
MLFLOW_START_S = 180


def program_of(variable, name):
    path = os.environ.get(variable) or shutil.which(name)
    if not path:
        pytest.skip(f"no {name}: `make test-registries` builds it, or set {variable}")
    return path


@pytest.fixture
def oci(tmp_path, processes):
    port = free_port()
    config = tmp_path / "registry.yml"
    config.write_text(
        "version: 0.1\nlog: {level: warn}\n"
        f"storage: {{filesystem: {{rootdirectory: {tmp_path}/oci}}, delete: {{enabled: true}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n"
    )
    server = Process([program_of("REGISTRY", "registry"), "serve", str(config)], f"http://127.0.0.1:{port}/v2/",
                     tmp_path / "registry.log")  # fmt: skip
    processes.append(server)
    return server.start(), f"oci:127.0.0.1:{port}/team/models"


@pytest.fixture
def mlflow(tmp_path, processes):
    port = free_port()
    argv = [program_of("MLFLOW", "mlflow"), "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
            "--backend-store-uri", f"sqlite:///{tmp_path}/mlflow.db", "--serve-artifacts",
            "--artifacts-destination", str(tmp_path / "mlflow")]  # fmt: skip
    server = Process(argv, f"http://127.0.0.1:{port}/health", tmp_path / "mlflow.log")
    processes.append(server)
    return server.start(MLFLOW_START_S), f"mlflow:http://127.0.0.1:{port}"


@pytest.mark.parametrize("kind", ["oci", "mlflow"])
def test_a_package_is_published_found_and_pulled(artifacts, request, tmp_path, kind):
    server, registry = request.getfixturevalue(kind)
    built = artifacts.build()
    published = artifacts.json("publish", built["key"], "--to", registry)
    reference = published["stages"][-1]["reference"]
    again = artifacts.json("publish", built["key"], "--to", registry)
    assert again["stages"][-1]["reference"] == reference, "the same package is the same reference"
    other = artifacts.build("--seed", "1")
    artifacts.run("publish", other["key"], "--to", registry)
    listed = artifacts.json("ls", "--from", registry)
    assert sorted(p["package_id"] for p in listed) == sorted([built["package_id"], other["package_id"]])
    assert {(p["model"], p["target"]) for p in listed} == {(MODEL, "aot_inductor")}
    for number, query in enumerate(
        ([reference], [registry, "--id", other["package_id"]], [registry, "--model", MODEL])
    ):
        pulled = artifacts.json("pull", *query, "--output", str(tmp_path / f"pulled{number}"))
        assert pulled["package_id"] in (built["package_id"], other["package_id"])
    assert json.loads((tmp_path / "pulled0/manifest.json").read_text())["weights"]["seed"] == 0
    assert (tmp_path / "pulled1/package.pt2").read_text().endswith(" 1")
    assert (tmp_path / "pulled2/README.md").exists()
    artifacts.run("pull", registry, "--model", "org/none", "--output", str(tmp_path / "none"), code=1)
    server.kill()
    artifacts.run("publish", built["key"], "--to", registry, "--artifact.registry.timeout", "1s", code=UNAVAILABLE)


def test_an_mlflow_server_without_the_proxy_is_refused(artifacts, tmp_path, processes):
    port = free_port()
    argv = [program_of("MLFLOW", "mlflow"), "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1",
            "--backend-store-uri", f"sqlite:///{tmp_path}/mlflow.db", "--no-serve-artifacts",
            "--default-artifact-root", str(tmp_path / "runs")]  # fmt: skip
    server = Process(argv, f"http://127.0.0.1:{port}/health", tmp_path / "mlflow.log")
    processes.append(server)
    server.start(MLFLOW_START_S)
    built = artifacts.build()
    refused = artifacts.run("publish", built["key"], "--to", f"mlflow:http://127.0.0.1:{port}", code=1)
    assert "--serve-artifacts" in refused.stderr
