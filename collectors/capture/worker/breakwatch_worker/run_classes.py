"""The class that runs a job: for a transformers model, a model of another library, or the user's own code."""

from . import libraries
from .inputs import calls
from .model import overrides
from .model.architecture import Stop


def run_class_of(job: dict):
    """The class whose `run()` returns the result. It is imported here, after the fork, because most jobs do not need
    it."""
    if job.get("source") is not None:
        overrides.check_supported(job, plain=False)
        from .sources import source_run

        return source_run.run_class_of(job)
    found = libraries.run_class_of(job)
    if calls.call_name(job) != calls.DEFAULT and not libraries.has_recipes(found):
        raise Stop("skipped_unsupported_library", "this call is for models of transformers only",
                   "capture this model with the default call")
    overrides.check_supported(job, plain=found is None)
    if found is None:
        from .model_run import ModelRun as found
    return found
