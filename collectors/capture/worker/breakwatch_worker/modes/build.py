"""Mode `build`: the capture of `eval`, then packages (package artifact)."""

from ..artifact import builds, weights_folder
from ..artifact.options import options_of
from ..artifact.recording import record
from ..artifact.runnable import without_custom_operators
from ..model import weights
from ..model.architecture import Stop
from ..text import one_line
from .base import Call, Found, Mode


class Build(Mode):
    """The status of the capture if a target was built, otherwise `failed_build`."""

    def configure(self, job: dict) -> None:
        self._options, self._job = options_of(job), job
        if job.get("source") is not None:
            raise Stop("skipped_custom_code", "packages are built from models of the Hub and from configs only",
                       "build this module with torch.export in your own program")
        if "model_index" in (job.get("config") or {}):
            raise Stop("skipped_unsupported_library", "packages are built of one model, not of a pipeline",
                       "build a component of the pipeline")
        weights.use_seed(self._options.seed)
        self._loaded = False

    def constructed(self, model):
        if not self._options.weights:
            return model
        self._loaded = True
        return weights_folder.load(model, self._options.weights)

    def capture(self, call: Call) -> Found:
        if self._options.weights and not self._loaded:
            raise Stop("skipped_unsupported_library", "weights from a folder are for models of transformers only",
                       "build it with random weights")
        without_custom_operators(call.model)
        trace = self._trace(call)
        numbers = {} if trace.error is not None else trace.numbers()
        trace.error = None  # what Dynamo cannot capture, torch.export may still export
        recording = self._record(call)
        built = builds.build_all(recording, self._options, self._fields(call, numbers), call.limit_s)
        done = [name for name, found in built.items() if found["status"] == "built"]
        if done:
            return Found(trace, detail=f"built: {', '.join(done)}", mode_detail={"targets": built})
        return Found(trace, status="failed_build", detail=_why(built), mode_detail={"targets": built},
                     suggestion=_suggestion(built))

    def _record(self, call: Call):
        def by_batch(batch: int) -> dict:
            if call.remake is None or call.sizes is None:
                return call.by_name()
            return call.remake({"batch": (batch, int(call.sizes("batch")))})

        return record(call.model, by_batch, self._options.batch, self._options.dynamic)

    def _fields(self, call: Call, numbers: dict) -> dict:
        job, options = self._job, self._options
        return {
            **{name: str(job.get(name) or "") for name in ("model", "revision", "family", "task", "structure")},
            **{name: call.about.get(name) or "" for name in ("architecture", "model_type", "dtype")},
            "device": "cpu", "size": "published" if options.published else "reduced",
            "weights": {"kind": options.weights_kind, "seed": None, "digest": weights_folder.digest(options.weights)}
            if options.weights else {"kind": "random", "seed": options.seed, "digest": ""},
            "breaks": numbers.get("breaks"), "graphs": numbers.get("graphs"),
        }


def _why(built: dict) -> str:
    return one_line("not built: " + "; ".join(
        f"{name}: {found['cause'] or found['status']}: {found['detail']}" for name, found in built.items()))


_SUGGESTIONS = {
    "export": "remove the data-dependent code that the error names, or use another target",
    "compiler": "install g++ in the toolchain's machine; if it is there, report the error text to PyTorch",
    "time": "raise capture.limits.capture, or build on a less busy machine",
    "memory": "raise the memory limit, or build the reduced model",
    "disk": "free space on the disk with the state directory",
    "not_installed": "install what the detail names",
    "options": "change the option that the detail names",
}


def _suggestion(built: dict) -> str:
    first = next(iter(built.values()))
    return _SUGGESTIONS.get(first["cause"], "report the error text to PyTorch: this is an error of the compiler")
