"""The walk-through of the task guide: the real worker, breakwatch-runner, and a C++ program that runs the package."""

import json
import re
import subprocess

import pytest
from e2e_support import REAL_WORKER, ROOT, Program

MODEL = "google-bert/bert-base-uncased"
RUNNER = ROOT / "build/release/breakwatch-runner"
EXAMPLE = ROOT / "build/release/collectors/artifact/run_package"


def test_a_model_of_the_hub_runs_in_a_program_without_python(program, tmp_path):
    for needed in (RUNNER, EXAMPLE):
        if not needed.exists():
            pytest.skip(f"{needed.name} is not built: it needs the torch of `make venv`")
    real = Program(program, tmp_path, "--hub.source", "snapshot", "--hub.snapshot_dir",
                   str(ROOT / "collectors/hub/snapshot"), "--artifact.runner", str(RUNNER), *REAL_WORKER,
                   timeout_s=1200)  # fmt: skip
    [built] = json.loads(real.run("artifact", "build", MODEL, "--dynamic", "--json").stdout)
    assert [(stage["stage"], stage["status"]) for stage in built["stages"]] == [
        ("fetch", "ok"), ("build", "ok"), ("check", "ok"),
    ]  # fmt: skip
    registry = f"dir:{tmp_path}/registry"
    real.run("artifact", "publish", built["key"], "--to", registry)
    real.run("artifact", "pull", registry, "--model", MODEL, "--output", "bert")
    manifest = json.loads((tmp_path / "bert/manifest.json").read_text())
    assert (manifest["family"], manifest["architecture"]) == ("nlp", "BertForMaskedLM")
    ran = subprocess.run([EXAMPLE, tmp_path / "bert/package.pt2"], capture_output=True, text=True, env={})
    assert ran.returncode == 0, ran.stderr
    outputs = [re.fullmatch(r"(\[.*\]) (\S+)", line).groups() for line in ran.stdout.splitlines()]
    assert [json.loads(shape) for shape, _ in outputs] == [output["shape"] for output in manifest["outputs"]]
    assert all(0 < float(mean) < 100 for _, mean in outputs)
