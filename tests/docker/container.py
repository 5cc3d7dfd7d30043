"""A container as Docker would start it, by the runtime that Docker uses (runc): its configuration, and its run."""

import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# Docker covers these unless `systempaths=unconfined`.
MASKED = ["/proc/acpi", "/proc/asound", "/proc/kcore", "/proc/keys", "/proc/latency_stats", "/proc/timer_list",
          "/proc/sched_debug", "/proc/scsi", "/sys/firmware"]  # fmt: skip
READ_ONLY = ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"]


def mount(destination, kind, *options, source=None):
    return {"destination": destination, "type": kind, "source": source or kind, "options": list(options)}


ALWAYS = [
    mount("/proc", "proc"),
    mount("/dev", "tmpfs", "nosuid", "strictatime", "mode=755", "size=65536k"),
    mount("/dev/pts", "devpts", "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"),
    mount("/dev/shm", "tmpfs", "nosuid", "noexec", "nodev", "mode=1777", "size=65536k"),
    mount("/sys", "sysfs", "nosuid", "noexec", "nodev", "ro"),
]


@dataclass
class Container:
    """`cap_drop: [ALL]`, `no-new-privileges`, `read_only`, a user that is not root, a network of its own."""

    root: Path
    bundle: Path  # an empty folder
    seccomp: dict  # as the runtime takes it
    covered: bool  # whether parts of /proc are covered, as is Docker's default
    environment: list = field(default_factory=lambda: ["PATH=/usr/bin"])
    mounts: list = field(default_factory=list)
    folder: str = "/"
    user: int = 10001

    def config(self, arguments):
        return {
            "ociVersion": "1.0.2",
            "process": {
                "args": [str(word) for word in arguments],
                "cwd": self.folder,
                "env": self.environment,
                "user": {"uid": self.user, "gid": self.user},
                "capabilities": {},
                "noNewPrivileges": True,
            },
            "root": {"path": str(self.root), "readonly": True},
            "hostname": "container",
            "mounts": [*ALWAYS, *self.mounts],
            "linux": {
                "namespaces": [{"type": kind} for kind in ("pid", "network", "ipc", "uts", "mount")],
                "seccomp": self.seccomp,
                "maskedPaths": MASKED if self.covered else [],
                "readonlyPaths": READ_ONLY if self.covered else [],
            },
        }

    def runc(self, *words):
        return ["runc", "--root", str(self.bundle / "state"), *words]

    def command(self, arguments, name="container"):
        """The command that starts it and waits for its end."""
        (self.bundle / "config.json").write_text(json.dumps(self.config(arguments)))
        return self.runc("run", "--bundle", str(self.bundle), name)

    def run(self, arguments, timeout=60):
        """The exit code, standard output, standard error."""
        quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
        done = subprocess.run(self.command(arguments), **quiet, timeout=timeout, check=False)
        return done.returncode, done.stdout.strip(), done.stderr.strip()
