"""Room for deep calls and for tensors that come and go, so that the kernel is asked once and not at every step; and
none for numbers next to nothing.

CPython keeps the frames of running functions in blocks of 16 KiB. A call just past the end of a block maps another, and
its return unmaps it: tracing, a deep tree of short calls, did that at the same depth thousands of times in a capture
(T5 of two layers: 26,000 page faults of 61,000, and a twelfth of its processor time). A function that claims a huge
evaluation stack gets a block of that size, which every call below it then shares. The claimed part is never written.
"""

import contextlib
import ctypes

import torch

_CLAIMED_SLOTS = (2 << 20) // 8 + 4096  # just over half of the 4 MiB block that is mapped for it: the rest is for calls
_M_MMAP_THRESHOLD, _M_TRIM_THRESHOLD = -3, -1
_KEPT_BYTES = 1 << 30


def in_one_block(function, *arguments):
    return function(*arguments)


in_one_block.__code__ = in_one_block.__code__.replace(co_stacksize=_CLAIMED_SLOTS)


def keep_freed_memory() -> None:
    """What a tensor leaves serves the next one, in place of a mapping of its own with new pages each time."""
    with contextlib.suppress(AttributeError, OSError):  # another C library
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def flush_denormals(skip: bool = True) -> None:
    """Numbers next to nothing count as nothing. Not for the user's own code, which computes as it does elsewhere.
    Through layers that an author starts with small weights they are most of what is computed, and the processor takes a
    hundred times as long for each (EfficientNet 15 -> 1.2 s a call, MobileViT 3.2 -> 0.27)."""
    torch.set_flush_denormal(skip)
