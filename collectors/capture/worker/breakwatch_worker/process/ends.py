"""The status for each end of a child process: the table in PROTOCOL.md."""

import dataclasses
import os
import signal

CAPTURED = ("full_graph", "graph_breaks")  # the statuses of a result with numbers


@dataclasses.dataclass
class End:
    """How a child process ended. `killed_for` is set if the zygote killed it."""

    wait_status: int
    killed_for: str = ""  # "timeout", "attempts", "memory", "scratch", "too long", "cancel" or ""
    phase: str = "create"
    limit: float = 0.0  # the limit that it exceeded, in seconds or bytes


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def result_of(end: End) -> dict:
    """The result of a child process that wrote none."""
    status, detail, *suggestion = _described(end)
    return {"status": status, "detail": detail, "phase": end.phase,
            **({"suggestion": suggestion[0]} if suggestion else {})}


def _described(end: End) -> tuple:
    """(status, detail), and a suggestion if the default of the status is not the right one."""
    more_time = f"raise capture.limits.{end.phase}, or capture on a less busy machine"
    if end.killed_for == "timeout":
        return "timeout", f"{end.phase} passed its limit of {end.limit:g} s", more_time
    if end.killed_for == "attempts":
        return ("timeout", f"{end.phase} passed its limit of {end.limit:g} s for all sizes and call variants together",
                more_time)
    if end.killed_for == "too long":
        return ("crashed", f"its result is longer than {end.limit / 2**20:.0f} MiB",
                "none: a result of this length is not accepted")
    if end.killed_for == "memory":
        return "out_of_memory", f"resident memory passed {end.limit / 2**20:.0f} MiB during {end.phase}"
    if end.killed_for == "scratch":
        return ("out_of_memory", f"the files it wrote passed {end.limit / 2**20:.0f} MiB during {end.phase}",
                "raise capture.scratch_bytes: its temporary files and shared memory exceed it")
    if end.killed_for == "cancel":
        return "not_attempted", "cancelled"
    if os.WIFSIGNALED(end.wait_status):
        number = os.WTERMSIG(end.wait_status)
        if number == signal.SIGKILL:
            return ("out_of_memory", f"killed by SIGKILL from outside during {end.phase}: the kernel ran out of memory",
                    "free memory on this machine, or capture fewer models at a time (capture.zygotes)")
        return "crashed", f"ended by {_signal_name(number)} during {end.phase}"
    code = os.waitstatus_to_exitcode(end.wait_status)
    return "crashed", f"exit code {code} without a result during {end.phase}"
