"""Packages that tests share, and breakwatch-runner."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

from worker_support import ROOT, Zygote

RUNNER = ROOT / "build/release/breakwatch-runner"
EXAMPLE = ROOT / "build/release/collectors/artifact/run_package"
LIMITS = {"create_s": 300, "inputs_s": 300, "eager_s": 300, "capture_s": 900, "rss_bytes": 4 << 30,
          "output_bytes": 65536}


def zygote(**environment) -> Zygote:
    """A zygote of the default toolchain, also where the tests run in an older one."""
    python = ROOT / ".venv/bin/python"
    command = [str(python if python.exists() else sys.executable), "-m", "breakwatch_worker"]
    made = Zygote(*command, **environment)
    made.receive("hello", 600)  # a busy machine imports slowly
    return made


def needs(program: pathlib.Path) -> None:
    if not program.exists():
        import pytest  # scripts use this file too

        pytest.skip(f"{program.name} was not built: cmake --preset release, then ninja -C build/release")


def run(command, folder, *arguments, **environment) -> dict:
    """The answer of breakwatch-runner with --json, and its exit code. It has no PATH: no Python, no compiler."""
    needs(RUNNER)
    ran = subprocess.run([RUNNER, command, folder, "--json", *arguments], capture_output=True, text=True, timeout=300,
                         check=False, env={"TMPDIR": os.environ.get("TMPDIR", "/tmp"), **environment})
    assert ran.stdout, ran.stderr
    return {**json.loads(ran.stdout), "code": ran.returncode}


def build(zygote, folder, config=None, **options) -> dict:
    """The result of a `build` job."""
    job = {name: options.pop(name) for name in ("limits", "model", "architecture", "dtype") if name in options}
    zygote.start(config, mode="build", **{"limits": LIMITS, **job}, build={"folder": str(folder), **options})
    return zygote.receive("result", 1200)  # past every limit: the zygote ends the build


def manifest_of(folder) -> dict:
    return json.loads((pathlib.Path(folder) / "manifest.json").read_text())


def copied(folder, to) -> pathlib.Path:
    return pathlib.Path(shutil.copytree(folder, to))


def signed(folder, **changes) -> pathlib.Path:
    """Writes the manifest again, with the digests of the files as they are now."""
    manifest = {**manifest_of(folder), **changes}
    for entry in manifest["files"]:
        data = (folder / entry["path"]).read_bytes()
        entry.update(sha256=hashlib.sha256(data).hexdigest(), bytes=len(data))
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True))
    return folder
