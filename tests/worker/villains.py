"""A real zygote whose children hang, flood, grow, fork and die: the errors of a capture, on demand. The supervision is
the worker's own. Only the child's work is replaced, selected by the name in the job's `model`."""

import functools
import os
import signal
import sys
import time

from breakwatch_worker.process import child, warm_up, zygote
from breakwatch_worker.process.lines import write_line

_GOOD = {"type": "result", "status": "full_graph", "detail": "1 graph", "phase": "done", "depth": "original"}


def _hang(job, say):
    say({"type": "phase", "phase": "eager"})
    time.sleep(600)


def _ignore_and_hang(job, say):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _hang(job, say)


def _grow(job, say):
    say({"type": "phase", "phase": "capture"})
    kept = []
    while True:
        kept.append(bytearray(b"x" * (8 << 20)))
        time.sleep(0.005)


def _grow_in_a_grandchild(job, say):
    if os.fork() == 0:
        _grow(job, lambda _: None)
    time.sleep(600)


def _share(job, say):
    """A large block of memory, shared by six processes."""
    say({"type": "phase", "phase": "capture"})
    kept = bytearray(b"x" * (256 << 20))
    ready, write = os.pipe()
    for _ in range(5):
        if os.fork() == 0:
            os.write(write, kept[:1])
            time.sleep(600)
    for _ in range(5):
        os.read(ready, 1)
    time.sleep(0.5)  # to be looked at
    say(_GOOD)


def _write_files(job, say):
    say({"type": "phase", "phase": "capture"})
    for number in range(600):
        with open(f"file-{number}", "wb") as file:
            file.write(bytes(1 << 20))
    time.sleep(600)


def _litter(job, say):
    """A tree of folders that its own user cannot read. Prints what was there before."""
    found = os.listdir(".")
    os.makedirs("closed/inner")
    open("closed/inner/file", "w").close()
    os.chmod("closed/inner", 0)
    os.chmod("closed", 0)
    say({**_GOOD, "detail": f"found {found}"})


def _reach(job, say):
    """Attacks the zygote's environment, memory, pipes and process."""
    zygote = os.getppid()
    done = []
    for name, action in {
        "environment": lambda: os.open(f"/proc/{zygote}/environ", os.O_RDONLY),
        "memory": lambda: os.open(f"/proc/{zygote}/mem", os.O_RDWR),
        "input": lambda: os.open(f"/proc/{zygote}/fd/0", os.O_RDONLY),
        "protocol": lambda: os.open(f"/proc/{zygote}/fd/3", os.O_WRONLY),
        "root": lambda: os.listdir(f"/proc/{zygote}/root/"),
        "signal": lambda: os.kill(zygote, 0),
    }.items():
        try:
            action()
            done.append(name)
        except OSError:
            pass
    say({**_GOOD, "detail": f"reached {done}"})


def _die(number):
    def die(job, say):
        say({"type": "phase", "phase": "capture"})
        os.kill(os.getpid(), number)

    return die


def _flood(job, say):
    for _ in range(200):
        os.write(1, b"noise\n" * 1000)
    os.write(2, b"last words\n")
    say(_GOOD)


def _leave_a_daemon(job, say):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(600)
        os._exit(0)
    time.sleep(0.2)
    say(_GOOD)


def _linger(job, say):
    say(_GOOD)
    time.sleep(600)


def _raise(job, say):
    raise RuntimeError("nobody caught this")


def _try_for_ever(job, say):
    while True:
        for phase in ("create", "inputs", "eager"):
            say({"type": "phase", "phase": phase})
            time.sleep(0.1)


_VILLAINS = {
    "share": _share, "write": _write_files, "litter": _litter, "reach": _reach,
    "tireless": _try_for_ever, "wordy": lambda job, say: say({**_GOOD, "detail": "x" * (17 << 20)}),
    "hang": _hang, "stubborn": _ignore_and_hang, "grow": _grow, "grow-below": _grow_in_a_grandchild,
    "segv": _die(signal.SIGSEGV), "kill": _die(signal.SIGKILL), "abort": _die(signal.SIGABRT), "flood": _flood,
    "daemon": _leave_a_daemon, "linger": _linger, "raise": _raise, "exit-3": lambda job, say: os._exit(3),
    "garbage": lambda job, say: os._exit(0),
}


def body(job, depth, scratch, protocol):
    def run(result_fd, output_fd):
        child._confine(job, output_fd, protocol, scratch)
        _VILLAINS[job["model"]](job, functools.partial(write_line, result_fd))
        os._exit(0)

    return run


if __name__ == "__main__":
    child.body = body
    warm_up.prepare = lambda: None  # nothing is traced here
    code = zygote.main()
    sys.stderr.flush()
    os._exit(code)
