"""What to try after a failed attempt: another size of the model, another call variant, or nothing more."""

from .model import config_fixes

_NO_VARIANT = {"status": "failed_inputs", "detail": "inputs: no optional argument can be omitted"}


class Retries:
    """The failures of one config, in order. Each call variant is attempted with each size of the model, the smallest
    size first. `exhaustive`: contradicting values of the config end no variant early."""

    def __init__(self, config, variants, exhaustive: bool):
        self._config, self._variants, self._exhaustive = config, variants, exhaustive
        self.errors = []
        self.built = False  # a model of any size
        self.cut_short = False  # sizes and variants were skipped
        self._first, self._over = None, False
        self._hopeless = set()  # errors of the smallest size that larger sizes did not avoid
        self._begin_variant()

    def _begin_variant(self) -> None:
        self._smallest, self._fixed, self._seen = None, False, set()

    def another_size(self, failed: dict) -> bool:
        """Whether to attempt the next size with the same variant after this failure."""
        error = failed["detail"]
        self.errors.append(error)
        self.built = self.built or failed["phase"] != "create"
        if failed["status"] == "skipped_missing_dependency":
            self._first, self._over = failed, True
            return False
        # Another call variant cannot fix a model that cannot be built.
        self._fixed = failed["phase"] != "create" and self._variants.add_fix(error)
        if self._fixed:
            self._first = None  # the error after the fix is the one that explains the failure
            return False
        self._first = self._first or failed
        self._smallest = self._smallest or error
        if self._is_contradiction(failed):
            self.cut_short = self._over = True
            return False
        self._seen.add(error)
        return self._smallest not in self._hopeless and failed["status"] not in ("out_of_memory", "skipped_too_large")

    def another_variant(self) -> bool:
        """Whether to attempt the next variant after the last failure of one."""
        if not self._fixed:
            self._hopeless.add(self._smallest)
        self._begin_variant()
        return self.built and not self._over

    def reported(self) -> dict:
        """The failure of the smallest size: larger sizes mostly fail because of their size."""
        return self._first or _NO_VARIANT

    def _is_contradiction(self, failed: dict) -> bool:
        """Whether two sizes gave the same error, which is about values of the config that contradict each other. Larger
        sizes would then take time and memory and give the error again."""
        error = failed["detail"]
        return not self._exhaustive and failed["phase"] != "create" and error in self._seen and (
            config_fixes.is_contradiction(self._config, error))
