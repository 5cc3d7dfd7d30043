"""The memory of all processes of a run. Pages that forks share count once."""

import time

from . import host

_SHARE = 0.2  # of the zygote's time, at most, for reading shared memory, which walks through every page


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
