"""Runs lanes in turns, so that all backends see the same state of the machine, within the time limit."""

import time

from . import cells

_TURN_S = 0.1
_RESERVE = 0.1  # of the time limit: for what follows the last run
_FINISH_S = 20.0


class Budget:
    """The time that is left for measuring. The phase's limit would otherwise end the whole capture."""

    def __init__(self, limit_s: float):
        self.end = time.monotonic() + (1 - _RESERVE) * limit_s

    def left(self) -> float:
        return self.end - time.monotonic()

    def part(self, parts: int):
        """A budget of its own for the first of so many equal parts of what is left."""
        made = Budget(0.0)
        made.end = time.monotonic() + self.left() / parts
        return made


def prepare(lanes: list, budget: Budget) -> None:
    """Compiles in one lane after another. Each gets at most half of the time that is left."""
    for lane in lanes:
        if budget.left() <= 0:
            lane.fail(cells.failed("timeout", "not begun within the time limit of the capture"))
        else:
            lane.answer = lane.ask({"do": "prepare"}, budget.left() / 2)


def measure(lanes: list, budget: Budget) -> None:
    """Turns until each lane has enough runs. The first lane of each round changes."""
    first = 0
    while True:
        waiting = [lane for lane in lanes if lane.alive and not lane.enough]
        if not waiting or budget.left() <= 0:
            return
        first = (first + 1) % len(waiting)
        for lane in waiting[first:] + waiting[:first]:
            if budget.left() <= 0:
                return
            answer = lane.ask({"do": "turn", "seconds": _TURN_S}, budget.left())
            lane.enough = answer.get("enough", False)


def finish(lanes: list) -> dict:
    """The findings of the lanes that are alive, by name."""
    found = {}
    for lane in lanes:
        if lane.alive and (answer := lane.ask({"do": "finish"}, _FINISH_S)):
            found[lane.name] = answer
    return found
