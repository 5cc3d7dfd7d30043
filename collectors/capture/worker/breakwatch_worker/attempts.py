"""Which attempt captures a job: a transformers model, a model of another library, or a source of the user's own."""

from . import libraries
from .inputs import calls
from .model.architecture import Stop


def of(job: dict):
    """The class whose `run()` gives the result. It is imported here, after the fork: only who needs it pays."""
    if job.get("source") is not None:
        from .sources import attempt

        return attempt.attempt_of(job)
    found = libraries.attempt_of(job)
    if calls.call_name(job) != calls.DEFAULT and not libraries.has_recipes(found):
        raise Stop("skipped_unsupported_library", "call variants are made for models of transformers alone")
    if found is None:
        from .attempt import Attempt as found
    return found
