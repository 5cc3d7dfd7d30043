"""One capture in the foreground, in a folder that stays: what a person repeats to look at it."""

import functools
import gc
import glob
import json
import os
import select
import sys
import time

from .. import sources
from ..capture import Capture
from . import host
from .lines import MAX_LINE_BYTES
from .scratch import Scratch

_CHECK_MS = 50
_SCRATCH, _TRACE = "scratch", "trace"
_TRACE_FILES = "dedicated_log_torch_trace_*.log"  # as torch names them


def main(folder: str, trace: bool) -> int:
    """Exit code 0 if the capture has a result, 1 otherwise."""
    folder = os.path.abspath(folder)
    try:
        job = _job_of(os.path.join(folder, "job.json"))
        for name in (_SCRATCH, *([_TRACE] if trace else [])):
            os.makedirs(os.path.join(folder, name), exist_ok=True)
        scratch = Scratch(os.path.join(folder, _SCRATCH))
    except (OSError, ValueError) as error:
        print(f"breakwatch_worker: {error}", file=sys.stderr)
        return 1
    said = os.dup(1)
    os.dup2(2, 1)  # what libraries print is no result
    result = _captured(job, scratch, os.path.join(folder, _TRACE) if trace else "", said)
    with open(os.path.join(folder, "result.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
    os.write(said, f"{result['status']}: {result['detail']}\n".encode("utf-8", "replace"))
    return 0


def _job_of(path: str) -> dict:
    """Raises OSError, or ValueError with a text for a person."""
    with open(path, "rb") as file:
        text = file.read(MAX_LINE_BYTES + 1)
    try:
        job = json.loads(text) if len(text) <= MAX_LINE_BYTES else None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: not JSON: {error}") from error
    if not isinstance(job, dict) or not isinstance(job.get("job"), str):
        raise ValueError(f"{path}: expected a job as in PROTOCOL.md, of at most {MAX_LINE_BYTES >> 20} MiB")
    return job


def _captured(job: dict, scratch: Scratch, trace: str, said: int) -> dict:
    host.shield()
    host.scrub_environment()
    sources.keep_hub_cache()
    os.environ["HF_HOME"] = os.path.join(scratch.folder, "hf")
    from . import child, warm_up

    warm_up.prepare()
    host.adopt_orphans()
    gc.freeze()
    body_of = functools.partial(child.body, scratch=scratch.folder, protocol=said)
    if trace:
        body_of = _tracing(body_of, trace)
    return _run(Capture(job, body_of, lambda message: print(message["phase"], file=sys.stderr)), scratch)


def _run(capture: Capture, scratch: Scratch) -> dict:
    while capture.result is None:
        run = capture.run
        if run.finished:
            capture.advance()
            continue
        poll = select.poll()
        for descriptor in run.descriptors():
            poll.register(descriptor, select.POLLIN)
        for descriptor, _ in poll.poll(_CHECK_MS):
            run.ready(descriptor)
        run.check(time.monotonic())
        if scratch.over(time.monotonic()) and not run.finished:
            run.kill("scratch", scratch.limit)
    return capture.result


def _tracing(body_of, folder: str):
    """The same runs, with a TORCH_TRACE of the last one in the folder: an import would add up those of several."""
    def traced(job: dict, depth: str):
        run = body_of(job, depth)

        def begin(result_fd: int, output_fd: int) -> None:
            for old in glob.glob(_TRACE_FILES, root_dir=folder):
                os.unlink(os.path.join(folder, old))
            trace_into(folder)
            run(result_fd, output_fd)

        return begin

    return traced


def trace_into(folder: str) -> None:
    """What TORCH_TRACE does when torch is imported, in a process that has imported it."""
    from torch._logging import _internal

    os.environ["TORCH_TRACE"] = folder
    _internal.LOG_TRACE_HANDLER = None
    _internal._init_logs()
