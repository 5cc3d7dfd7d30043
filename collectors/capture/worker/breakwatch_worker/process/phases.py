"""The current phase of a run, and the time of each phase."""

import time


class Phases:
    """Reports each phase and measures its time. The times of a phase that is entered again (another attempt) add up."""

    def __init__(self, say):
        self.seconds = {}
        self.processor_seconds = {}
        self.current = "create"
        self._say = say
        self._since, self._since_used = time.monotonic(), time.process_time()
        self._say({"type": "phase", "phase": "create"})

    def enter(self, name: str) -> None:
        self._settle()
        self.current = name
        if name != "done":
            self._say({"type": "phase", "phase": name})

    def _settle(self) -> None:
        now, used = time.monotonic(), time.process_time()
        for seconds, spent in ((self.seconds, now - self._since), (self.processor_seconds, used - self._since_used)):
            seconds[self.current] = seconds.get(self.current, 0.0) + spent
        self._since, self._since_used = now, used

    def state(self) -> tuple:
        """What another process needs to continue the measurement with `go_on`."""
        self._settle()
        return self.current, self.seconds, self.processor_seconds

    def go_on(self, state: tuple) -> None:
        self.current, self.seconds, self.processor_seconds = state
        self._since, self._since_used = time.monotonic(), time.process_time()

    def numbers(self) -> dict:
        return {name: round(seconds, 4) for name, seconds in self.seconds.items()}

    def processor_numbers(self) -> dict:
        return {name: round(seconds, 4) for name, seconds in self.processor_seconds.items()}
