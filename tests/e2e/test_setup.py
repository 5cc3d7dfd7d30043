"""`breakwatch setup` with the real pip and an index of tiny packages."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from e2e_support import DEADLINE_S, ROOT, eventually, free_port, needs
from package_index import Index

PACKAGES = ("numpy", "torch", "transformers")


class Setup:
    """The program with data of its own: a lock file of three packages."""

    def __init__(self, program, folder):
        self.program, self.folder, self.index = program, folder, Index()
        worker = folder / "data/collectors/capture/worker"
        worker.mkdir(parents=True)
        self.lock = worker / "requirements.lock"
        self.lock.write_text("".join(self.index.add(name, "1.0") for name in PACKAGES))
        self.target = folder / "toolchain"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "BREAKWATCH_", "PYTHON"))}
        self.environment = kept | {
            "BREAKWATCH_DATA_DIR": str(folder / "data"), "PIP_INDEX_URL": self.index.url, "PIP_RETRIES": "0",
            "PIP_CACHE_DIR": str(folder / "cache"), "PIP_CONFIG_FILE": "/dev/null",
            "PIP_TRUSTED_HOST": "127.0.0.1",  # else pip keeps nothing from an index without TLS
        }  # fmt: skip

    def argv(self, *args):
        limit = () if "--min-free" in args else ("--min-free", "64MiB")
        return [self.program, "setup", "--dir", str(self.target), *limit, *args]

    def run(self, *args, code=0, **environment):
        done = subprocess.run(self.argv(*args), capture_output=True, text=True, timeout=240, cwd=self.folder,
                              env=self.environment | environment, check=False)  # fmt: skip
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *args):
        return subprocess.Popen(self.argv(*args), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                cwd=self.folder, env=self.environment)  # fmt: skip

    def imported(self, expression):
        python = self.target / "bin/python"
        return subprocess.run([python, "-c", f"import torch, transformers; print({expression})"], capture_output=True,
                              text=True, check=True).stdout.strip()  # fmt: skip

    def environments(self):
        """The folders beside the link."""
        return sorted(path.name for path in self.folder.glob("toolchain-*") if path.is_dir())


@pytest.fixture
def setup(program, tmp_path):
    made = Setup(program, tmp_path)
    yield made
    made.index.let_go()
    made.index.shutdown()


def test_makes_the_toolchain_of_the_lock_file_once(setup):
    plan = json.loads(setup.run("--dry-run", "--json").stdout)
    assert (plan["complete"], plan["packages"], plan["path"]) == (False, 3, str(setup.target))
    assert not setup.target.exists()

    done = setup.run("--json")
    made = json.loads(done.stdout)
    assert (made["torch"], made["transformers"], made["made"]) == ("1.0", "1.0", True)
    assert setup.imported("torch.__version__") == "1.0"
    assert made["python"] == str(setup.target / "bin/python")
    for line in ("create the environment", "fetch torch", "test"):
        assert line in done.stderr
    # The worker is importable there, and no temporary file is left.
    site = next(setup.target.glob("lib/python3*/site-packages"))
    assert (site / "breakwatch_worker.pth").read_text().strip() == str(setup.lock.parent)
    assert setup.environments() == [os.readlink(setup.target)]

    asked = len(setup.index.asked)
    assert "is complete: torch 1.0" in setup.run().stdout
    assert json.loads(setup.run("--dry-run", "--json").stdout)["complete"]
    assert len(setup.index.asked) == asked

    # A new lock file: a new environment, and the old one is removed once the new one works.
    before = setup.environments()
    setup.lock.write_text(setup.lock.read_text().replace("torch==1.0", "torch==2.0", 1))
    refused = setup.run(code=1)
    assert "pip is in" in refused.stderr
    assert setup.imported("torch.__version__") == "1.0"
    setup.lock.write_text("".join(setup.index.add(name, "2.0") for name in PACKAGES))
    assert "torch 2.0" in setup.run().stdout
    assert setup.imported("torch.__version__") == "2.0"
    assert not set(before) & set(setup.environments())


def test_an_environment_that_make_made_is_complete(program, tmp_path):
    def key_of_make(name, *variables):
        rule = f"show:;@echo '$({name})'"
        return subprocess.run([needs("make"), "-s", "-C", ROOT, f"--eval={rule}", "show", *variables], check=True,
                              capture_output=True, text=True).stdout.strip()  # fmt: skip

    def is_complete(key, *args):
        """With an environment that has this key."""
        site = tmp_path / key / f"lib/python3.{sys.version_info[1]}/site-packages"
        site.mkdir(parents=True)
        (tmp_path / key / "pyvenv.cfg").touch()
        (tmp_path / key / ".key").write_text(key + "\n")
        done = subprocess.run([program, "setup", "--dry-run", "--json", "--dir", tmp_path / key, *args],
                              capture_output=True, text=True, cwd=tmp_path, check=True)  # fmt: skip
        return json.loads(done.stdout)["complete"]

    index = "https://packages.example/cpu"
    assert is_complete(key_of_make("VENV_KEY"))
    assert is_complete(key_of_make("VENV_KEY", f"TORCH_INDEX={index}"), "--torch-index", index)
    pair = key_of_make("TOOLCHAIN_KEY", "TORCH=2.13.0", "TRANSFORMERS=5.8.0")
    assert is_complete(pair, "--torch", "2.13.0", "--transformers", "5.8.0")
    assert not is_complete("0" * 12)


def test_an_interrupted_run_leaves_no_toolchain_and_the_next_one_uses_what_was_fetched(setup):
    setup.index.hold("transformers-1.0-py3-none-any.whl")
    child = setup.start()
    assert setup.index.reached.wait(DEADLINE_S), child.communicate(timeout=5)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=DEADLINE_S)
    assert (child.returncode, "run `breakwatch setup` again" in err) == (130, True), err
    assert not setup.target.exists()
    marks = f"TMPDIR={setup.folder}/toolchain-".encode()
    assert not [p for p in Path("/proc").glob("[0-9]*/environ") if _has(p, marks)], "pip goes on"

    setup.index.let_go()
    assert json.loads(setup.run("--dry-run", "--json").stdout)["interrupted"]
    setup.run()
    assert setup.imported("transformers.__version__") == "1.0"
    assert setup.index.asked.count("torch-1.0-py3-none-any.whl") == 1


def _has(path, marks):
    try:
        return marks in path.read_bytes()
    except OSError:
        return False


def test_without_enough_space_nothing_is_begun(setup):
    refused = setup.run("--min-free", "1000TiB", code=74)
    assert "1024000.0 GiB are needed" in refused.stderr and "--min-free" in refused.stderr
    assert setup.environments() == [] and setup.index.asked == []


def test_refuses_a_package_that_is_not_the_one_in_the_lock_file(setup):
    setup.index.add("torch", "1.0", "print('another torch')\n")
    done = setup.run("--quiet", code=1)
    assert "not the one in the lock file" in done.stderr
    assert not setup.target.exists()
    assert (setup.folder / (setup.environments()[0] + ".log")).exists()


def test_says_that_the_index_cannot_be_reached(setup):
    # pip names the cause when it tries again.
    done = setup.run("--quiet", code=69, PIP_RETRIES="1", PIP_INDEX_URL=f"http://127.0.0.1:{free_port()}/simple")
    assert "the package index cannot be reached" in done.stderr and "PIP_INDEX_URL" in done.stderr


def test_says_that_the_index_has_no_such_version(setup):
    done = setup.run("--quiet", "--torch", "9.9", "--transformers", "1.0", code=1)
    assert "no such version" in done.stderr


def test_says_that_the_interpreter_makes_no_environments(setup):
    python = setup.folder / "python"
    python.write_text("#!/bin/sh\necho 3.11\necho 'ModuleNotFoundError: ensurepip' >&2\nexit 1\n")
    python.chmod(0o755)
    done = setup.run("--python", str(python), code=64)
    assert "apt-get install python3-venv" in done.stderr
    assert "cannot start no-such-python" in setup.run("--python", "no-such-python", code=64).stderr


def test_replaces_no_folder_that_is_not_an_environment(setup):
    setup.target.mkdir()
    (setup.target / "thesis.txt").write_text("")
    assert "is not a Python environment" in setup.run(code=64).stderr
    assert (setup.target / "thesis.txt").exists()


def test_says_before_it_begins_that_there_is_no_space(setup, tmp_path):
    small = [needs("bwrap"), "--dev-bind", "/", "/", "--size", str(64 << 20), "--tmpfs", "/mnt"]
    if subprocess.run([*small, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("bwrap cannot make namespaces here")
    done = subprocess.run([*small, setup.program, "setup", "--dir", "/mnt/toolchain"], capture_output=True, text=True,
                          cwd=tmp_path, env=setup.environment, check=False)  # fmt: skip
    assert done.returncode == 74, done.stderr
    assert "10.0 GiB are needed below /mnt, 0.1 GiB are free" in done.stderr
    assert setup.index.asked == []


def test_makes_another_pair_of_versions_and_records_what_pip_chose(setup):
    setup.index.add("torch", "0.9")
    setup.index.add("scipy", "1.0")
    made = json.loads(setup.run("--json", "--torch", "0.9", "--transformers", "1.0", "--package", "scipy").stdout)
    assert (made["toolchain"], made["torch"]) == ("torch0.9-transformers1.0", "0.9")
    lock = (setup.target / "lock.txt").read_text().splitlines()
    assert {"scipy==1.0", "torch==0.9", "transformers==1.0"} <= set(lock)


def test_takes_torch_from_another_index_and_the_rest_from_the_lock_file(setup):
    other = Index()
    other.add("torch", "1.0+cpu")
    made = json.loads(setup.run("--json", "--torch-index", other.url).stdout)
    assert made["torch"] == "1.0+cpu"
    assert "torch-1.0-py3-none-any.whl" not in setup.index.asked
    assert "transformers-1.0-py3-none-any.whl" in setup.index.asked
    other.shutdown()


def test_a_second_one_at_the_same_time_is_refused(setup):
    setup.index.hold("numpy-1.0-py3-none-any.whl")
    child = setup.start("--quiet")
    assert setup.index.reached.wait(DEADLINE_S)
    assert "another `breakwatch setup`" in setup.run(code=1).stderr
    child.kill()
    child.communicate()


@pytest.mark.parametrize(("arguments", "message"), [
    (["--torch", "2.13.0"], "belong together"),
    (["--torch", "--help", "--transformers", "1"], ""),
    (["--torch", "2;x", "--transformers", "1"], "are versions"),
    (["--package", "scipy"], "--package needs --torch"),
    (["--torch", "1", "--transformers", "1", "--package=-r/etc/passwd"], "expected a requirement"),
    (["--name", "../x"], "--name"),
    (["--torch-index", "-x"], ""),
    (["--torch-index", "packages"], "expected a URL"),
])  # fmt: skip
def test_refuses_what_pip_would_take_for_something_else(setup, arguments, message):
    done = subprocess.run(setup.argv(*arguments), capture_output=True, text=True, env=setup.environment, check=False)
    assert done.returncode == 64 or (message == "" and done.returncode == 0 and "Usage:" in done.stdout), done.stderr
    assert message in done.stderr
    assert setup.index.asked == []


def test_draws_a_bar_on_a_terminal(setup):
    main, terminal = pty.openpty()
    setup.index.hold("torch-1.0-py3-none-any.whl")
    child = subprocess.Popen(setup.argv(), stdin=terminal, stdout=terminal, stderr=terminal,
                             env=setup.environment | {"TERM": "xterm"})  # fmt: skip
    os.close(terminal)
    assert setup.index.reached.wait(DEADLINE_S)
    shown = b""
    end = time.monotonic() + DEADLINE_S
    while b"fetch torch" not in shown and time.monotonic() < end:
        shown += os.read(main, 4096)
    assert b"\r\x1b[K[" in shown and b"/3  " in shown
    child.send_signal(signal.SIGTERM)
    assert eventually(lambda: child.poll() is not None)
    assert child.returncode == 130
