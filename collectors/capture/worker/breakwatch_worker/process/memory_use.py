"""The memory of all processes of a run, and limits on that of a fork. Pages that forks share count once."""

import os
import resource
import time

from . import host

_SHARE = 0.2  # of the zygote's time, at most, for reading shared memory, which walks through every page
_LEAST_BYTES = 512 << 20  # what a fork may take in any case


class MemoryUse:
    """Memory of one child process and its descendants. Owner: the zygote's loop."""

    def __init__(self, pid: int):
        self._pid = pid
        self._next_walk = 0.0
        self._once = 0  # the result of the last walk

    def bytes(self, enough: int) -> int:
        """Exact above `enough`. Below it, shared pages may count more than once."""
        resident = host.resident_by_process(self._pid)
        total = sum(resident.values())
        if len(resident) < 2 or total <= enough:
            return total
        begun = time.monotonic()
        if begun >= self._next_walk:
            self._once = _once(resident)
            now = time.monotonic()
            self._next_walk = now + (now - begun) / _SHARE
        return max(self._once, *resident.values())


def bytes_once(pid: int) -> int:
    """Memory of a process and its descendants, now. Walks through every page: for the begin of long work."""
    return _once(host.resident_by_process(pid))


def _once(resident: dict) -> int:
    parts = {pid: host.proportional_bytes(pid) for pid in resident}
    return sum(resident[pid] if part is None else part for pid, part in parts.items())


def keep_below(limit_bytes: int) -> None:
    """Makes an allocation fail in this fork before the whole capture, which its parent holds, exceeds its limit."""
    _allow_more(max(int(0.9 * limit_bytes) - bytes_once(os.getppid()), _LEAST_BYTES))


def keep_apart(most_bytes: int) -> None:
    """Makes an allocation fail in this fork once it has taken `most_bytes`, or half of what is left to the capture."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]  # of the capture
    _allow_more(most_bytes if hard == resource.RLIM_INFINITY else min(most_bytes, max(hard - data_bytes(), 0) // 2))


def _allow_more(more_bytes: int) -> None:
    """Sets the limit on the data of this process to what it has and `more_bytes`, at most to the hard limit."""
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    most = data_bytes() + more_bytes
    resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def data_bytes() -> int:
    """The data of this process, as RLIMIT_DATA counts it."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[5]) * resource.getpagesize()
