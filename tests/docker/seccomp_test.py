"""docker/seccomp.json: Docker's default profile and no more than bubblewrap needs, in containers of a real OCI
runtime."""

import json
import os
import shlex

import pytest
from container import Container, mount

# As capture starts it, with a program that answers at once.
BUBBLEWRAP = shlex.split("""
  bwrap --unshare-user --uid 1000 --gid 1000 --disable-userns --unshare-net --unshare-pid --unshare-ipc --unshare-uts
  --unshare-cgroup-try --hostname breakwatch --as-pid-1 --die-with-parent --new-session --cap-drop ALL
  --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64
  --proc /proc --dev /dev --tmpfs /tmp --remount-ro / -- /usr/bin/id -u
""")


@pytest.fixture(scope="session")
def profile(root):
    return json.loads((root / "docker/seccomp.json").read_text())


@pytest.fixture(scope="session")
def default(docker_library):
    return docker_library("default")


def added(profile, default):
    return [rule for rule in profile["syscalls"] if rule not in default["syscalls"]]


def test_is_the_default_profile_and_one_rule(profile, default, docker_library):
    assert profile == docker_library("seccomp"), "go run . seccomp >../../../docker/seccomp.json"
    (rule,) = added(profile, default)
    assert profile == default | {"syscalls": [*default["syscalls"], rule]}
    assert rule["action"] == "SCMP_ACT_ALLOW" and "includes" not in rule


@pytest.fixture
def run(tmp_path, docker_library):
    """Runs bubblewrap in a container with the machine's programs: the exit code, what it printed, what it said."""
    if os.geteuid() != 0:
        pytest.skip("a container with a user of its own needs root")
    root = tmp_path / "root"
    for name in ("usr", "proc", "dev", "sys", "tmp"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        (root / name).symlink_to(f"usr/{name}")

    def started(profile, covered=False):
        (tmp_path / "profile.json").write_text(json.dumps(profile))
        seccomp = docker_library("resolve", tmp_path / "profile.json")
        programs = [mount("/usr", "bind", "bind", "ro", source="/usr")]
        return Container(root, tmp_path, seccomp, covered, mounts=programs).run(BUBBLEWRAP)

    return started


def test_bubblewrap_works_with_it(run, profile):
    assert run(profile) == (0, "1000", "")


def test_bubblewrap_is_refused_under_dockers_default_profile(run, default):
    code, _, said = run(default)
    assert code == 1 and "No permissions to create new namespace" in said


def test_bubblewrap_is_refused_where_parts_of_proc_are_covered(run, profile):
    code, _, said = run(profile, covered=True)
    assert code == 1 and "Can't mount proc" in said, "compose.yaml: systempaths=unconfined"


@pytest.mark.parametrize("name", ["clone", "mount", "pivot_root", "sethostname", "umount2", "unshare"])
def test_needs_each_system_call_that_it_allows(run, profile, default, name):
    (rule,) = added(profile, default)
    assert len(rule["names"]) == 6 and name in rule["names"]
    less = rule | {"names": [other for other in rule["names"] if other != name]}
    code, _, said = run(default | {"syscalls": [*default["syscalls"], less]})
    assert code == 1 and said.startswith("bwrap: ")
