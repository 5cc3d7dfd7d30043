"""The program as `cmake --install` leaves it: it finds its data relative to itself, from any working directory."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from e2e_support import ROOT, needs, results_in


@pytest.fixture(scope="module")
def prefix(program, tmp_path_factory):
    """An installation that was moved afterwards."""
    build = Path(program).parent
    if not (build / "cmake_install.cmake").exists():
        pytest.skip(f"{build} is not a build folder")
    folder = tmp_path_factory.mktemp("install")
    done = subprocess.run([needs("cmake"), "--install", build, "--prefix", folder / "first", "--strip"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return (folder / "first").rename(folder / "moved")


@pytest.fixture
def elsewhere(tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


def files_below(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def run(prefix, cwd, *args):
    """With an empty environment."""
    return subprocess.run([prefix / "bin/breakwatch", *args], capture_output=True, text=True, cwd=cwd, env={},
                          timeout=120, check=False)  # fmt: skip


def test_sweeps_the_snapshot_from_another_folder_with_an_empty_environment(prefix, elsewhere, tmp_path):
    worker = json.dumps([sys.executable, str(ROOT / "tests/e2e/fake_worker.py"), str(tmp_path)])
    done = run(prefix, elsewhere, "sweep", "--hub.source", "snapshot", "--top", "3", "--capture.launcher=[]",
               "--capture.sandbox", "off", "--capture.zygotes", "1", "--capture.worker", worker)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [result["status"] for result in results_in(elsewhere / "var")] == ["full_graph"] * 3
    environment = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert environment["PYTHONPATH"] == str(prefix / "share/breakwatch/collectors/capture/worker")


def test_the_installed_worker_is_the_worker_of_the_source_tree(prefix, elsewhere):
    python = ROOT / ".venv/bin/python"
    if not python.exists():
        pytest.skip("no .venv: make venv")

    def describe(folder):
        environment = {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([python, "-m", "breakwatch_worker", "--describe"], capture_output=True, text=True,
                              cwd=elsewhere, env=environment, timeout=60, check=True)  # fmt: skip
        return json.loads(done.stdout.splitlines()[0])["worker"]

    installed = describe(prefix / "share/breakwatch/collectors/capture/worker")
    assert installed == describe(ROOT / "collectors/capture/worker")


def test_installs_all_that_the_program_and_its_users_need(prefix):
    installed = files_below(prefix)
    data = {
        "collectors/capture/structure_ignored.yaml", "collectors/capture/worker/requirements.lock",
        "collectors/hub/snapshot/models.jsonl", "config/breakwatch.example.yaml", "config/families.yaml",
        "config/prices.example.yaml", "dashboards/grafana/overview.json", "dashboards/rules/alerts.yml",
        "dashboards/rules/recording.yml", "dashboards/alloy/breakwatch.alloy",
    }  # fmt: skip
    expected = {f"share/breakwatch/{name}" for name in data} | {
        "bin/breakwatch", "share/doc/breakwatch/README.md", "share/doc/breakwatch/daemon/commands/README.md",
        "lib/systemd/system/breakwatch.service", "lib/systemd/system/breakwatch-sweep.timer",
    }  # fmt: skip
    assert expected - installed == set()
    for name in ("collectors/capture/worker/breakwatch_worker", "collectors/hub/snapshot"):
        sources = {str(Path(name) / path) for path in files_below(ROOT / name) if "__pycache__" not in path}
        assert sources - {path.removeprefix("share/breakwatch/") for path in installed} == set()
    assert [path for path in installed if "__pycache__" in path or path.endswith((".pyc", ".cc", ".h"))] == []


def test_units_name_the_program_where_it_is(prefix):
    # The prefix at the installation, before it was moved.
    first = prefix.parent / "first"
    unit = (prefix / "lib/systemd/system/breakwatch.service").read_text()
    assert f"ExecStart={first}/bin/breakwatch serve" in unit
    assert f"Documentation=file://{first}/share/doc/breakwatch/README.md" in unit


def test_programs_have_no_path_of_the_machine_that_built_them(prefix):
    runner = prefix / "lib/breakwatch/breakwatch-runner"
    for program in filter(os.path.exists, (prefix / "bin/breakwatch", runner)):
        dynamic = subprocess.run([needs("objdump"), "-p", program], capture_output=True, text=True, check=True).stdout
        paths = re.findall(r"(?:RPATH|RUNPATH)\s+(\S+)", dynamic)
        assert paths == (["$ORIGIN/../lib/libtorch"] if program == runner else []), program
