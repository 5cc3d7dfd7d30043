"""The base class of the worker's own errors."""


class WorkerError(Exception):
    """An error of the worker itself. `suggestion` is what a person can do about it, in one sentence; '' for the default
    of the status (suggestions.py)."""

    def __init__(self, message: str, suggestion: str = ""):
        super().__init__(message)
        self.suggestion = suggestion
