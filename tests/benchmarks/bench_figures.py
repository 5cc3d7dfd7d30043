"""Computes the figures of the benchmark from its measurements. Pure: no process, no clock, no file."""

import dataclasses

# Statuses of a successful capture. Any other status costs its time and counts as no capture, on both sides.
CAPTURED = ("full_graph", "graph_breaks")
# The phases that are the purpose of a capture. Making inputs is not included: it is short, and not tracing.
PURPOSE = ("create", "eager", "capture")

# For each set: captures per minute (none for the first set), ratio to the baseline, share of core time inside tracing.
GOALS = {"60": (150.0, 12.0, 0.90), "20": (None, 8.0, 0.80)}
PEAK_GOAL_MB = 6144.0
REST_GOAL_MB = 20.0


@dataclasses.dataclass(frozen=True)
class Figure:
    """One number and its goal."""

    name: str
    value: float
    goal: float
    at_least: bool
    unit: str = ""

    @property
    def hit(self) -> bool:
        return self.value >= self.goal if self.at_least else self.value < self.goal

    def text(self) -> str:
        sign = ">=" if self.at_least else "<"
        return f"{self.name} {self.value:.2f}{self.unit} (goal {sign} {self.goal:g}{self.unit}: {self.verdict})"

    @property
    def verdict(self) -> str:
        return "hit" if self.hit else "missed"


def per_minute(captures: int, seconds: float) -> float:
    return 60.0 * captures / seconds if seconds > 0 else 0.0


def common(results: list, baseline: list) -> set:
    """Models with a result on both sides. A second capture at full depth does not count as another model."""
    explained = {row["model"] for row in baseline if row["ok"]}
    return {result["model"] for result in results if result["status"] in CAPTURED} & explained


def total(rows: list, models: set, name: str) -> float:
    return sum(row[name] for row in rows if row["model"] in models)


def purpose_seconds(results: list) -> float:
    """Processor seconds inside create, eager and capture; rounded down if they are not known exactly.

    Phases are measured in seconds of wall time, which exceeds processor time as soon as a capture waits for a core.
    `cpu_s` is all the processor time of the capture's child. So a capture counts the smaller of the two: the phases'
    share of cpu_s. A child has one thread, so its phases cannot take more than that.
    """
    total = 0.0
    for result in results:
        phases = result.get("phase_s") or {}
        everything = sum(phases.values())
        if everything > 0:
            inside = sum(phases.get(name, 0.0) for name in PURPOSE)
            total += min(inside, (result.get("cpu_s") or 0.0) * inside / everything)
    return total


def share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0


def ratio(ours: float, theirs: float) -> float:
    """The ratio of two numbers; 0 if there is nothing to compare with, which misses every goal."""
    return ours / theirs if theirs > 0 else 0.0


def with_goals(values: dict, name: str) -> list:
    """The figures of a set that have a goal, computed from the measurements."""
    per_minute_goal, ratio_goal, share_goal = GOALS[name]
    found = [
        Figure("captures per minute, times the baseline's", values["ratio"], ratio_goal, True),
        Figure("core time inside tracing", values["tracing_share"], share_goal, True),
        Figure("largest capture", values["peak_mb"], PEAK_GOAL_MB, False, " MB"),
        Figure("daemon at rest", values["rest_mb"], REST_GOAL_MB, False, " MB"),
    ]
    if per_minute_goal is not None:
        found.insert(0, Figure("captures per minute", values["captures_per_minute"], per_minute_goal, True))
    return found


def parse_stat(text: str) -> float:
    """Clock ticks that a process and the children it waited for have used, from /proc/PID/stat."""
    fields = text.rsplit(")", 1)[1].split()  # the name may contain blanks and brackets
    return float(sum(int(field) for field in fields[11:15]))


def parse_resident_mb(status: str) -> float:
    """VmRSS of /proc/PID/status, in units of 1,000,000 bytes."""
    for line in status.splitlines():
        name, _, value = line.partition(":")
        if name == "VmRSS":
            return int(value.split()[0]) * 1024 / 1e6
    raise ValueError("no VmRSS: the process has ended")


def disagreements(results: list, baseline: list) -> list:
    """Models for which one side finds a full graph and the other finds breaks. Numbers are not compared, because the
    two count differently."""
    other = {row["model"]: row for row in baseline}
    found = []
    for result in results:
        row = other.get(result["model"], {})
        if result["status"] in CAPTURED and row.get("ok") and (
                (result["status"] == "graph_breaks") != (row["graph_break_count"] > 0)):
            found.append(result["model"])
    return found


def summary(figures: list) -> str:
    return "bench: " + "; ".join(figure.text() for figure in figures)
