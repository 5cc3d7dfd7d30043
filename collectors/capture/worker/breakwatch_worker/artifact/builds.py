"""Builds the packages of one model: one target after another, each in its own process."""

import os
import time

from ..compilers import causes
from ..compilers.aot_inductor import capability
from ..process import isolated, tuning
from . import package, targets
from .recording import Recording

_SHARE = 0.9  # of the phase's time, for all targets together
_DETAIL_BYTES = 600


def build_all(recording: Recording, options, fields: dict, limit_s: float) -> dict:
    """The result by target. `fields` are those of the manifests that the model determines."""
    end = time.monotonic() + _SHARE * limit_s
    found = {}
    for place, name in enumerate(options.targets):
        begun = time.monotonic()
        seconds = (end - begun) / (len(options.targets) - place)
        found[name] = {**_build(targets.find(name), seconds, recording, options, fields),
                       "seconds": round(time.monotonic() - begun, 3)}
    return found


def _build(target, seconds: float, recording: Recording, options, fields: dict) -> dict:
    if why := target.why_skipped():
        return {"status": "skipped", "detail": why, "cause": "not_installed"}
    if seconds <= 0:
        return {"status": "timeout", "detail": "no time was left for it", "cause": "time"}
    try:
        # Beside the packages, not in the worker's scratch: a compiler needs several times the space of the weights.
        with package.temporary_folder(options.folder, target.name) as folder:
            built = isolated.run(seconds, folder, _built, target, recording, options, fields)
    except OSError as error:
        return _failed(error)
    if isinstance(built, isolated.Ended):
        package.remove_unfinished(options.folder, target.name)
        return {"status": built.status, "detail": built.detail, "cause": built.cause}
    return built


def _built(target, recording: Recording, options, fields: dict) -> dict:
    try:
        with package.new_folder(options.folder, target.name) as folder:
            more = target.builder()(recording, options, os.path.join(folder, target.file)) or {}
            package.write_cases(folder, recording)
            package.write_manifest(folder, {**_of_target(target.name, recording, options), **fields})
    except Exception as error:
        return _failed(error)
    return {"status": "built", "detail": "", "cause": "", "manifest": f"{target.name}/{package.MANIFEST}", **more}


def _failed(error: Exception) -> dict:
    return {"status": "failed", "detail": causes.text_of(error, _DETAIL_BYTES), "cause": causes.cause_of(error)}


def _of_target(name: str, recording: Recording, options) -> dict:
    return {
        "target": name,
        # Only compiled code depends on the processor.
        "cpu_capability": capability(options.cpu_capability) if name == "aot_inductor" else "default",
        "inputs": package.described(recording.names, recording.inputs, "name"),
        "outputs": package.described(recording.paths, recording.cases[0].outputs, "path"),
        "batch": options.batch,
        "dynamic": recording.dynamic_shapes is not None,
        "flush_denormals": tuning.flushes_denormals(),
    }
