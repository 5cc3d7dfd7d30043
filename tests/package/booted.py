"""A root folder, booted: systemd as the first process of namespaces of its own, with this machine's network."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
LINKS = {"dev/ptmx": "pts/ptmx", "dev/fd": "/proc/self/fd", "dev/stdin": "/proc/self/fd/0",
         "dev/stdout": "/proc/self/fd/1", "dev/stderr": "/proc/self/fd/2"}  # fmt: skip
# The kernel's files are not covered, unlike in systemd-nspawn: bubblewrap could not mount a /proc of its own.
MOUNTS = (
    ("--bind", "{root}", "{root}"),
    ("-t", "proc", "proc", "{root}/proc"),
    ("-t", "sysfs", "-o", "ro", "sysfs", "{root}/sys"),
    ("--rbind", "/sys/fs/cgroup", "{root}/sys/fs/cgroup"),
    *(("-t", "tmpfs", "tmpfs", "{root}/" + folder) for folder in ("run", "tmp", "dev")),
)


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def enter(root):
    """Runs in new namespaces, as their first process: mounts what systemd needs, and becomes systemd."""
    for words in MOUNTS:
        mount(*(word.format(root=root) for word in words))
    for name in DEVICES:
        (root / "dev" / name).touch()
        mount("--bind", f"/dev/{name}", root / "dev" / name)
    for name in ("dev/pts", "dev/shm", ".outside"):
        (root / name).mkdir(exist_ok=True)
    mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", root / "dev/pts")
    mount("-t", "tmpfs", "tmpfs", root / "dev/shm")
    for link, target in LINKS.items():
        (root / link).symlink_to(target)
    os.chdir(root)
    subprocess.run(["pivot_root", ".", ".outside"], check=True)
    subprocess.run(["umount", "--lazy", "/.outside"], check=True)
    path = "/usr/sbin:/usr/bin:/sbin:/bin"
    os.execve("/lib/systemd/systemd", ["systemd", "--log-target=null"], {"container": "test", "PATH": path})


class Booted:
    def __init__(self, pid):
        self.pid = pid

    def run(self, *argv, timeout=600, **environment):
        """Standard output and error of a command beside systemd."""
        variables = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "DEBIAN_FRONTEND": "noninteractive",
        } | environment
        command = ["nsenter", "--target", str(self.pid), "--mount", "--pid", "--uts", "--ipc", "--cgroup", "--wdns=/",
                   "env", "-i", *(f"{key}={value}" for key, value in variables.items()), *argv]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        return done.stdout + done.stderr

    def property(self, unit, name):
        return self.run("systemctl", "show", "--value", "--property", name, unit).strip()

    def prints(self, *argv, text, seconds=120):
        """Whether a command, asked again and again, prints the text."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            if text in self.run(*argv):
                return True
            time.sleep(0.2)
        return False


@contextlib.contextmanager
def booted(root):
    """Boots a root with systemd in it. Needs root, and control groups that can be mounted."""
    command = ["unshare", "--pid", "--mount", "--uts", "--ipc", "--cgroup", "--fork", "--kill-child",
               "--propagation", "private", "python3", __file__, root]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.DEVNULL) as outer:
        try:
            yield Booted(first_process(outer))
        finally:
            outer.send_signal(signal.SIGKILL)


def first_process(outer, seconds=60):
    """The process id, outside, of the systemd that has started its units."""
    children = Path(f"/proc/{outer.pid}/task/{outer.pid}/children")
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up and outer.poll() is None:
        found = children.read_text().split()
        if found and "running" in Booted(int(found[0])).run("systemctl", "is-system-running", "--wait").split():
            return int(found[0])
        time.sleep(0.2)
    raise SystemExit("systemd does not start in the clean root")


if __name__ == "__main__":
    import sys

    enter(Path(sys.argv[1]))
