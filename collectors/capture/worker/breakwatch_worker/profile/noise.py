"""How noisy this machine is now: a fixed loop that takes the same time each time on an idle machine."""

import time

import torch

from . import cells

_TURNS = 200
_SIDE = 96
_QUIET = 0.05  # spread below which a machine is called quiet


def measure() -> dict:
    """{"median_s", "spread"} of the loop: two hundred turns of about a millisecond of arithmetic on small matrices."""
    left, right = torch.ones(_SIDE, _SIDE), torch.ones(_SIDE, _SIDE)
    product = torch.empty(_SIDE, _SIDE)
    times = []
    for _ in range(_TURNS + 1):
        begun = time.perf_counter()
        for _ in range(20):
            torch.mm(left, right, out=product)
        times.append(time.perf_counter() - begun)
    times = times[1:]  # the first one warms up
    return {"median_s": cells.median(times), "spread": cells.digits(cells.spread(times))}


def described(before: dict, after: dict) -> dict:
    spreads = (before["spread"], after["spread"])
    return {**before, "after_spread": after["spread"], "quiet": max(spreads) < _QUIET}
