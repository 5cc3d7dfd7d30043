"""Artifacts in real registries. `make test` provides MLflow, `make test-registries` also the OCI registry."""

import json
import os
import shutil
import subprocess

import pytest
from artifact_support import MODEL
from e2e_support import ROOT, Process, free_port

UNAVAILABLE = 69
MLFLOW_START_S = 180
REGISTRY, MLFLOW = ROOT / ".cache/registry", ROOT / ".venv-mlflow/bin/mlflow"


def program_of(built, made_by):
    path = built if built.exists() else shutil.which(built.name)
    if not path:
        pytest.skip(f"no {built.name}: `make {made_by}` provides it")
    return str(path)


@pytest.fixture
def oci(tmp_path, processes):
    port = free_port()
    config = tmp_path / "registry.yml"
    config.write_text(
        "version: 0.1\nlog: {level: warn}\n"
        f"storage: {{filesystem: {{rootdirectory: {tmp_path}/oci}}, delete: {{enabled: true}}}}\n"
        f"http: {{addr: '127.0.0.1:{port}'}}\n"
    )
    server = Process([program_of(REGISTRY, "test-registries"), "serve", str(config)], f"http://127.0.0.1:{port}/v2/",
                     tmp_path / "registry.log")  # fmt: skip
    processes.append(server)
    return server.start(), f"oci:127.0.0.1:{port}/team/models"


@pytest.fixture
def start_mlflow(tmp_path, processes):
    """Starts a server with one process: without those that run its jobs."""

    def start(*options):
        port = free_port()
        argv = [program_of(MLFLOW, "test-mlflow"), "server", "--host", "127.0.0.1", "--port", str(port),
                "--workers", "1", "--backend-store-uri", f"sqlite:///{tmp_path}/mlflow.db", *options]  # fmt: skip
        url = f"http://127.0.0.1:{port}"
        server = Process(argv, f"{url}/health", tmp_path / "mlflow.log",
                         os.environ | {"MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"})  # fmt: skip
        processes.append(server)
        return server.start(MLFLOW_START_S), f"mlflow:{url}"

    return start


@pytest.fixture
def mlflow(start_mlflow, tmp_path):
    return start_mlflow("--serve-artifacts", "--artifacts-destination", str(tmp_path / "mlflow"))


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


def test_an_mlflow_client_loads_what_was_published(artifacts, mlflow, tmp_path):
    built = artifacts.build()
    artifacts.run("publish", built["key"], "--to", mlflow[1])
    program = """
import sys, mlflow
version = mlflow.MlflowClient().get_model_version_by_alias("org--a", "aot_inductor")
print(version.tags["breakwatch.package_id"], version.status)
mlflow.artifacts.download_artifacts("models:/org--a@aot_inductor", dst_path=sys.argv[1])
"""
    environment = os.environ | {"MLFLOW_TRACKING_URI": mlflow[1].removeprefix("mlflow:")}
    done = subprocess.run([MLFLOW.with_name("python"), "-c", program, tmp_path / "got"], env=environment,
                          capture_output=True, text=True, timeout=MLFLOW_START_S)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [built["package_id"], "READY"]
    assert "verified 3 files" in artifacts.run("verify", str(tmp_path / "got")).stdout


def test_an_mlflow_server_without_the_proxy_is_refused(artifacts, start_mlflow, tmp_path):
    _, registry = start_mlflow("--no-serve-artifacts", "--default-artifact-root", str(tmp_path / "runs"))
    built = artifacts.build()
    refused = artifacts.run("publish", built["key"], "--to", registry, code=1)
    assert "--serve-artifacts" in refused.stderr
