"""Tuning of a child process: interpreter frames, memory allocation, denormal numbers.

CPython keeps the frames of running functions in blocks of 16 KiB. A call just past the end of a block maps another, and
its return unmaps it: tracing, a deep tree of short calls, did that at the same depth thousands of times in a capture
(T5 of two layers: 26,000 page faults of 61,000, and a twelfth of its processor time). A function that claims a huge
evaluation stack gets a block of that size, and all calls below it share the block. The claimed part is never written.
"""

import contextlib
import ctypes

import torch

_CLAIMED_SLOTS = (2 << 20) // 8 + 4096  # just over half of the 4 MiB block that is mapped for it; calls use the rest
_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1
_KEPT_BYTES = 1 << 30


def in_one_block(function, *arguments):
    return function(*arguments)


in_one_block.__code__ = in_one_block.__code__.replace(co_stacksize=_CLAIMED_SLOTS)


def keep_freed_memory() -> None:
    """Makes the allocator reuse freed memory for the next tensor instead of mapping new pages each time."""
    with contextlib.suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def flush_denormals(flush: bool = True) -> None:
    """Flushes denormal numbers to zero. Not used for the user's own code, which computes as it does elsewhere.
    Activations of deep networks with small initial weights are mostly denormal, and each such operation takes a hundred
    times as long (one call: EfficientNet 15 -> 1.2 s, MobileViT 3.2 -> 0.27)."""
    torch.set_flush_denormal(flush)


def flushes_denormals() -> bool:
    """Whether this process flushes denormal numbers to zero."""
    return bool((torch.tensor([1e-40]) * 1).item() == 0)
