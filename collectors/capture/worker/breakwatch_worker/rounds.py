"""What the failures of one round of attempts mean for those still to come: another size, another way, or none."""

from .model import config_fixes

_NO_WAY = {"status": "failed_inputs", "detail": "inputs: nothing can be left out"}


class Round:
    """The failures of one config, in order, over its ways of calling and each way's sizes, smallest first."""

    def __init__(self, config, ways, patient: bool):
        self._config, self._ways, self._patient = config, ways, patient
        self.said = []
        self.made = False  # a model of any size
        self.hurried = False  # sizes and ways were left out
        self._first, self._over = None, False
        self._hopeless = set()  # what the smallest size said where no larger one did better
        self._begin_way()

    def _begin_way(self) -> None:
        self._smallest, self._learned, self._heard = None, False, set()

    def another_size(self, failed: dict) -> bool:
        """Whether, after this failure, the next size is to be tried in the same way."""
        said = failed["detail"]
        self.said.append(said)
        self.made = self.made or failed["phase"] != "create"
        if failed["status"] == "skipped_missing_dependency":
            self._first, self._over = failed, True
            return False
        # Another way of calling does not mend a model that cannot be made.
        self._learned = failed["phase"] != "create" and self._ways.learn(said)
        if self._learned:
            self._first = None  # it is what the model says to its wish that tells why it fails
            return False
        self._first = self._first or failed
        self._smallest = self._smallest or said
        if self._is_no_matter_of_size(failed):
            self.hurried = self._over = True
            return False
        self._heard.add(said)
        return self._smallest not in self._hopeless and failed["status"] not in ("out_of_memory", "skipped_too_large")

    def another_way(self) -> bool:
        """Whether, after a way's last failure, the next way is to be tried."""
        if not self._learned:
            self._hopeless.add(self._smallest)
        self._begin_way()
        return self.made and not self._over

    def reported(self) -> dict:
        """What the smallest size says: larger ones mostly fail of their size."""
        return self._first or _NO_WAY

    def _is_no_matter_of_size(self, failed: dict) -> bool:
        """Whether a model of another size said the same words, and they tell of values at odds with one another: then
        larger ones take time and memory and say it, too."""
        said = failed["detail"]
        return not self._patient and failed["phase"] != "create" and said in self._heard and (
            config_fixes.is_at_odds(self._config, said))
