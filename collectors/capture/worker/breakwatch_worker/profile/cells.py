"""Cells: the statistics of repeated runs, or why there are none."""

import math

from ..compilers import causes
from ..text import one_line

_DETAIL_BYTES = 300
_PERCENTILES = (50, 90, 95, 99)
_CONFIDENCE = 0.95
_REASONS = {"disk": "no space for its temporary files (capture.scratch_bytes): "}


def failed(status: str, detail: str, **more) -> dict:
    """A cell without numbers. `status` is failed, timeout, skipped, out_of_memory or wrong_result."""
    return {"status": status, "detail": one_line(detail, _DETAIL_BYTES), "runs": 0, "failures": 0, **more}


def of_error(error: BaseException) -> dict:
    cause = causes.cause_of(error)
    reason = _REASONS.get(cause, "")
    text = causes.text_of(error, _DETAIL_BYTES - len(reason))
    return failed("out_of_memory" if cause == "memory" else "failed", reason + text)


def measured(samples, failures: int = 0, detail: str = "", **more) -> dict:
    """The cell of these times in seconds, at least one."""
    ordered = sorted(samples)
    low, high = interval(ordered)
    return {
        "status": "ok", "detail": detail, "runs": len(ordered), "failures": failures,
        "mean_s": digits(math.fsum(ordered) / len(ordered)), "median_s": digits(percentile(ordered, 50)),
        "low_s": digits(low), "high_s": digits(high),
        **{f"p{each}_s": digits(percentile(ordered, each)) for each in _PERCENTILES},
        **{name: value for name, value in more.items() if value is not None},
    }


def digits(value: float) -> float:
    """Seven significant digits: more is noise, and a profile has many numbers."""
    return float(f"{value:.7g}")


def percentile(ordered: list, percent: float) -> float:
    """With linear interpolation between neighbours."""
    place = (len(ordered) - 1) * percent / 100
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def median(samples) -> float:
    return digits(percentile(sorted(samples), 50))


def interval(ordered: list) -> tuple:
    """The interval of the median at 95 % confidence, without an assumption about the distribution: two order
    statistics. The whole range with fewer than six samples, for which there is none."""
    skipped = outside(len(ordered))
    return ordered[skipped], ordered[len(ordered) - 1 - skipped]


def outside(count: int) -> int:
    """How many of the smallest (and of the largest) of `count` samples lie outside the interval: the largest number k
    for which so few samples fall on one side of the median by chance in at most 2.5 % of all cases."""
    chance, total, log_half = 0.0, 0, count * math.log(0.5)
    for k in range(count // 2):
        chance += math.exp(math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) + log_half)
        if chance > (1 - _CONFIDENCE) / 2:
            break
        total = k
    return total


def spread(samples) -> float:
    """Interquartile range divided by the median."""
    ordered = sorted(samples)
    return (percentile(ordered, 75) - percentile(ordered, 25)) / percentile(ordered, 50)
