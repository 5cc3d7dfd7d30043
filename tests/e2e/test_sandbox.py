"""What captured code can reach: a hostile program runs through the command line, as two users."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from e2e_support import REAL_WORKER, ROOT, get, needs, results_in

MIB = 1 << 20
OTHER_USER = "65532"
# Errors of a refused access; a missing file is also out of reach.
REFUSED = {"EPERM", "EACCES", "EROFS", "ENOSYS", "ENOENT", "ENOTDIR", "ECONNREFUSED", "ENETUNREACH", "EINVAL"}
ATTEMPTS = [
    "remount /", "remount /usr", "remount own folder", "mount", "unmount", "fsopen", "open_tree", "mknod", "chroot",
    "user namespace", "mount namespace", "clone3", "setns", "write sysrq", "write core_pattern", "write cpu",
    "write own code", "truncate own code", "truncate outside", "write beside it", "write interpreter", "write /etc",
    "TCP", "control socket", "datagram", "memory file", "home",
]
ON_OTHERS = ["ptrace", "seize", "memory of others", "pipes of others", "descriptors of others", "environment of others",
             "root of others", "signal others"]
# Runs the program as if the kernel had no Landlock.
WITHOUT_LANDLOCK = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
code = [(0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x00050000 | 38), (0x06, 0, 0, 0x7FFF0000)]
packed = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in code))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code), ctypes.addressof(packed)))
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


def as_user(number):
    """What a command begins with that another user runs."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    prefix = [needs("setpriv"), "--reuid", number, "--regid", number, "--clear-groups"]
    if subprocess.run([*prefix, "test", "-r", ROOT / "README.md"], check=False).returncode != 0:
        pytest.skip(f"only its owner can enter the folder of {ROOT}")
    return prefix


class Attacker:
    """A folder with the program, secrets around it, and a daemon's state directory."""

    def __init__(self, program, folder, other_user=False):
        self.program, self.folder = program, folder
        self.home, self.state, self.code = folder / "home", folder / "code/var", folder / "code"
        self.path = os.environ["PATH"]
        self.prefix = as_user(OTHER_USER) if other_user else []
        self.environment = {"HOME": str(self.home), "XDG_CACHE_HOME": str(folder / "cache"), "HF_HOME": "~/hub home",
                            "MY_API_KEY": "s3cret", "HF_TOKEN": "s3cret", "PLAIN": "s3cret"}  # fmt: skip
        self.secrets = [folder / "cache/huggingface/token", self.home / "hub home/token", self.home / ".ssh/id_rsa",
                        self.code / "web.token", self.code / "gateway.password", self.code / "breakwatch.yaml",
                        self.state / "breakwatch.db", folder / "elsewhere"]  # fmt: skip
        for path in self.secrets:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("" if path.name == "breakwatch.db" else "s3cret")
        (self.code / "breakwatch.yaml").write_text(
            f"web: {{token_file: {self.code}/web.token}}\n"
            f"exporters: {{pushgateway: {{username: me, password_file: {self.code}/gateway.password}}}}\n")
        shutil.copy(Path(__file__).with_name("attacks.py"), self.code)
        (self.code / "data.txt").write_text("read by the model")

    def run(self, *arguments, code=0):
        argv = [*self.prefix, self.program, "--config.file", "breakwatch.yaml", "--state-dir", "var", *REAL_WORKER,
                "--capture.scratch_bytes", "64MiB", *arguments]  # fmt: skip
        done = subprocess.run(argv, cwd=self.code, capture_output=True, text=True, timeout=300,
                              env={**self.environment, "PATH": self.path})
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def attack(self, fill):
        with (socket.create_server(("127.0.0.1", 0)) as server,
              socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams):  # fmt: skip
            datagrams.bind(str(self.folder / "datagrams"))
            where = {"port": server.getsockname()[1], "control": str(self.state / "control.sock"), "fill": fill,
                     "datagrams": str(self.folder / "datagrams"), "outside": str(self.folder / "elsewhere"),
                     "secrets": [str(path) for path in self.secrets]}  # fmt: skip
            (self.code / "attacks.json").write_text(json.dumps(where))
            if self.prefix:
                subprocess.run(["chown", "-R", OTHER_USER, str(self.folder)], check=True)
            self.run("sweep", "--allow-factories", "--model", "python:attacks:make")
        (result,) = results_in(self.state)
        (found,) = [json.loads(text.removeprefix("ATTACKS ")) for text in result["output_tail"].splitlines()
                    if text.startswith("ATTACKS ")]
        return result, found


@pytest.fixture
def folder():
    """Below a path that every user may enter; pytest's own is closed to others."""
    with tempfile.TemporaryDirectory(prefix="breakwatch-sandbox-", dir="/var/tmp") as path:
        os.chmod(path, 0o755)
        yield Path(path)


@pytest.fixture
def real_worker():
    if not os.access(ROOT / ".venv/bin/python", os.X_OK):
        pytest.skip("no .venv: make venv")


def needs_landlock():
    import ctypes

    if ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) < 1:
        pytest.skip("the kernel has no Landlock")


def came_to_nothing(found):
    assert {name: found[name] for name in ATTEMPTS if found[name] not in REFUSED} == {}
    assert {name: found[name] for name in ON_OTHERS if found[name]} == {}
    assert found["signal all"] in {"EPERM", "ESRCH"}, "nobody else is there, or it is refused"
    for nothing in ("secrets read", "secret values", "capabilities"):
        assert found[nothing] == [], nothing
    assert (found["no new privileges"], found["filter"], found["own data"]) == ("1", "2", "done")
    assert not {"PLAIN", "MY_API_KEY", "XDG_CACHE_HOME"} & set(found["environment"])


@pytest.mark.parametrize("other_user", [False, True], ids=["as we are", "as another user"])
def test_no_attack_gets_out_of_bubblewrap(program, real_worker, folder, other_user):
    needs("bwrap")
    result, found = Attacker(program, folder, other_user).attack(fill=True)
    assert (result["status"], result["sandbox"]) == ("full_graph", "bubblewrap"), result
    came_to_nothing(found)
    assert found["processes"] == 1, "its own zygote and nobody else"
    assert 4 * MIB < found["shared memory"] <= 8 * MIB
    assert 32 * MIB < found["scratch"] <= 48 * MIB


def test_no_attack_gets_out_of_landlock_where_bubblewrap_does_not_run(program, real_worker, folder):
    needs_landlock()
    attacker = Attacker(program, folder)
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "bwrap").write_text("#!/bin/sh\necho no namespaces here >&2; exit 1\n")
    (bin_folder / "bwrap").chmod(0o755)
    attacker.path = f"{bin_folder}:/usr/bin:/bin"
    result, found = attacker.attack(fill=False)
    assert (result["status"], result["sandbox"]) == ("full_graph", "landlock"), result
    came_to_nothing(found)
    assert found["shared memory"] in REFUSED


def without_a_sandbox(breakwatch, policy):
    """On a machine where bubblewrap is not allowed, with a kernel without Landlock."""
    folder = breakwatch.tmp_path / "bin"
    folder.mkdir()
    (folder / "bwrap").write_text("#!/bin/sh\necho no namespaces here >&2; exit 1\n")
    (folder / "breakwatch").write_text(
        f"#!/bin/sh\nexec {sys.executable} -c '{WITHOUT_LANDLOCK}' {breakwatch.program} \"$@\"\n")
    for script in folder.iterdir():
        script.chmod(0o755)
    breakwatch.program = str(folder / "breakwatch")
    breakwatch.environment["PATH"] = f"{folder}:{os.environ['PATH']}"
    breakwatch.settings[breakwatch.settings.index("off")] = policy
    breakwatch.settings[breakwatch.settings.index("--capture.launcher=[]")] = "--capture.launcher=auto"


def test_library_models_run_without_a_sandbox_with_one_warning_and_own_code_does_not(breakwatch, hub):
    hub.model("a/one", 5)
    hub.model("a/two", 4, sites=[["Data-dependent branching", "GB0170", 1]])
    without_a_sandbox(breakwatch, "prefer")
    done = breakwatch.run("sweep")
    assert done.stderr.count("without a sandbox") == 1, done.stderr
    assert "no namespaces here" in done.stderr and "no Landlock" in done.stderr
    assert {r["sandbox"] for r in breakwatch.results().values()} == {"none"}
    (breakwatch.tmp_path / "mine.py").write_text("def make(): ...")
    made = len(breakwatch.captures())
    breakwatch.run("sweep", "--allow-factories", "--model", "python:mine:make", code=3)
    (result,) = breakwatch.results().values()
    assert (result["status"], result["sandbox"]) == ("not_attempted", "none")
    assert "own code needs a sandbox" in result["status_detail"] and "capture.sandbox=off" in result["status_detail"]
    assert "own code needs a sandbox" in breakwatch.run("discover", "mine.py", code=1).stderr
    assert len(breakwatch.captures()) == made
    _, address = breakwatch.serve()
    assert 'breakwatch_sandbox_info{sandbox="none"} 1' in get(address + "/metrics/models")[1]


def test_a_sandbox_that_is_required_and_absent_leaves_every_model_not_attempted(breakwatch, hub):
    hub.model("a/one", 5)
    without_a_sandbox(breakwatch, "require")
    breakwatch.run("sweep", code=3)
    result = breakwatch.results()["a/one"]
    assert result["status"] == "not_attempted" and "capture.sandbox is require" in result["status_detail"]
    assert breakwatch.captures() == []
    assert "no sandbox" in breakwatch.run("doctor", code=1).stdout


def test_a_worker_that_never_ends_its_capture_is_ended_by_the_daemon(breakwatch, hub):
    hub.model("a/endless", 5, hang=True)
    hub.model("a/good", 4)
    breakwatch.run("sweep", "--capture.limits.capture", "100ms")
    results = breakwatch.results()
    assert results["a/endless"]["status"] == "timeout"
    assert results["a/endless"]["status_detail"] == "capture exceeded its limit of 0.1 s, and the worker did not end it"
    assert results["a/good"]["status"] == "full_graph"


def test_a_limit_on_threads_is_an_error_that_names_it(breakwatch, hub):
    """From the first thread that cannot be started on, one more is allowed each time."""
    if os.geteuid() == 0:  # root has no such limit
        prefix = as_user("65531")
        for path in [breakwatch.tmp_path, *breakwatch.tmp_path.parents[:3]]:
            os.chmod(path, 0o755)
    else:
        prefix = []
    state = breakwatch.tmp_path / "state"
    state.mkdir()
    os.chmod(state, 0o777)
    hub.model("a/one", 5)
    said = []
    for threads in range(1, 5):
        argv = [*prefix, needs("prlimit"), f"--nproc={threads}", *breakwatch.argv("sweep")]
        done = subprocess.run(argv, capture_output=True, text=True, timeout=60, cwd=state, env=breakwatch.environment)
        assert done.returncode in (0, 1, 3), f"{threads}: exit {done.returncode}\n{done.stderr}"
        said += [line for line in done.stderr.splitlines() if f"ulimit -u is {threads}" in line]
    assert any("cannot start the" in line or "cannot start a thread" in line for line in said), said
