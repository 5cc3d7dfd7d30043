"""A user model that tries to escape from its sandbox, and reports the result of each attempt.

It prints one line, `ATTACKS {...}`. The file `attacks.json` beside it contains the paths and addresses to attack. The
key of each attempt is its purpose; its value is "done", or the reason for which it failed.
"""

import contextlib
import ctypes
import errno
import json
import os
import signal
import socket
import stat
import tempfile

import torch

LIBC = ctypes.CDLL(None, use_errno=True)
HERE = os.path.dirname(os.path.abspath(__file__))
MS_REMOUNT, MS_BIND = 32, 4096
CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
CLONE3, PIDFD_GETFD, MEMFD_CREATE, FSOPEN, OPEN_TREE = 435, 438, 319, 430, 428


def call(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")


def tried(action):
    try:
        answer = action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    except Exception as error:
        return type(error).__name__
    return "done" if answer is None else answer


def remount(path):
    call(LIBC.mount, b"none", path.encode(), None, MS_REMOUNT | MS_BIND, None)


def write(path):
    with open(path, "a"):
        pass


def read(path):
    with open(path, "rb") as file:
        file.read(64)


def others():
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]


def of_others(action):
    """The processes for which the attack worked; there should be none."""
    done = []
    for pid in others():
        with contextlib.suppress(OSError):
            action(pid)
            done.append(pid)
    return done


def write_into_pipes(pid):
    """Each of the existing ones: one that opens is enough."""
    refused = OSError(errno.EBADF, "")
    for number in os.listdir(f"/proc/{pid}/fd"):
        try:
            return open(f"/proc/{pid}/fd/{number}", "wb").close()
        except OSError as error:
            refused = error
    raise refused


def take_descriptor(pid):
    pidfd = os.pidfd_open(pid)
    try:
        call(LIBC.syscall, PIDFD_GETFD, pidfd, 1, 0)
    finally:
        os.close(pidfd)


def clone3():
    arguments = (ctypes.c_uint64 * 11)(CLONE_NEWUSER, *[0] * 3, signal.SIGCHLD)
    pid = LIBC.syscall(CLONE3, arguments, ctypes.c_size_t(88))
    if pid == 0:
        os._exit(0)
    if pid < 0:
        raise OSError(ctypes.get_errno(), "")


def connect(family, address):
    with socket.socket(family) as client:
        client.settimeout(2)
        client.connect(address)


def send_datagram(path):
    for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM):
        end.sendto(b"x", path)


def fill(folder):
    """The bytes that fit into a folder, at most 1 GiB."""
    path, taken = os.path.join(folder, "fill"), 0
    try:
        with open(path, "wb", buffering=0) as file:
            while taken < 1 << 30:
                taken += file.write(bytes(1 << 20))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
    return taken


def status():
    with open("/proc/self/status") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def attack(where):
    libc = LIBC
    me = status()
    return {
        "remount /": tried(lambda: remount("/")), "remount /usr": tried(lambda: remount("/usr")),
        "remount own folder": tried(lambda: remount(HERE)),
        "mount": tried(lambda: call(libc.mount, b"none", b".", b"tmpfs", 0, None)),
        "unmount": tried(lambda: call(libc.umount2, b"/proc", 2)),
        "fsopen": tried(lambda: call(libc.syscall, FSOPEN, b"tmpfs", 0)),
        "open_tree": tried(lambda: call(libc.syscall, OPEN_TREE, -100, b"/", 1)),
        "mknod": tried(lambda: os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(254, 0))),
        "chroot": tried(lambda: os.chroot(".")),
        "user namespace": tried(lambda: call(libc.unshare, CLONE_NEWUSER)),
        "mount namespace": tried(lambda: call(libc.unshare, CLONE_NEWNS)),
        "clone3": tried(clone3),
        "setns": tried(lambda: call(libc.setns, os.open("/proc/self/ns/mnt", os.O_RDONLY), 0)),
        "ptrace": of_others(lambda pid: call(libc.ptrace, PTRACE_ATTACH, pid, None, None)),
        "seize": of_others(lambda pid: call(libc.ptrace, PTRACE_SEIZE, pid, None, None)),
        "memory of others": of_others(lambda pid: open(f"/proc/{pid}/mem", "r+b").close()),
        "pipes of others": of_others(write_into_pipes),
        "descriptors of others": of_others(take_descriptor),
        "environment of others": of_others(lambda pid: read(f"/proc/{pid}/environ")),
        "root of others": of_others(lambda pid: os.listdir(f"/proc/{pid}/root/")),
        "signal others": of_others(lambda pid: os.kill(pid, 0)),
        "signal all": tried(lambda: os.kill(-1, 0)),
        "write sysrq": tried(lambda: write("/proc/sysrq-trigger")),
        "write core_pattern": tried(lambda: write("/proc/sys/kernel/core_pattern")),
        "write cpu": tried(lambda: write("/sys/devices/system/cpu/uevent")),
        "write own code": tried(lambda: write(os.path.join(HERE, "attacks.py"))),
        "truncate own code": tried(lambda: os.truncate(os.path.join(HERE, "attacks.py"), 0)),
        "truncate outside": tried(lambda: os.truncate(where["outside"], 0)),
        "write beside it": tried(lambda: write(os.path.join(HERE, "new"))),
        "write interpreter": tried(lambda: write(os.path.join(os.path.dirname(torch.__file__), "new"))),
        "write /etc": tried(lambda: write("/etc/breakwatch_was_here")),
        "TCP": tried(lambda: connect(socket.AF_INET, ("127.0.0.1", where["port"]))),
        "control socket": tried(lambda: connect(socket.AF_UNIX, where["control"])),
        "datagram": tried(lambda: send_datagram(where["datagrams"])),
        "memory file": tried(lambda: call(libc.syscall, MEMFD_CREATE, b"x", 0)),
        "secrets read": [path for path in where["secrets"] if tried(lambda path=path: read(path)) == "done"],
        "environment": sorted(os.environ), "secret values": [v for v in os.environ.values() if "s3cret" in v],
        "capabilities": [me[name] for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb") if int(me[name], 16)],
        "no new privileges": me["NoNewPrivs"], "filter": me["Seccomp"], "processes": len(others()),
        "home": tried(lambda: len(os.listdir(os.path.expanduser("~/.ssh")))),
        "shared memory": tried(lambda: fill("/dev/shm")),
        "scratch": tried(lambda: fill(tempfile.gettempdir())) if where["fill"] else 0,
        "own data": tried(lambda: read(os.path.join(HERE, "data.txt"))),
    }


def make():
    with open(os.path.join(HERE, "attacks.json")) as file:
        where = json.load(file)
    print("ATTACKS " + json.dumps(attack(where)), flush=True)
    return torch.nn.Linear(4, 4), {"input": torch.ones(2, 4)}
