"""The child process of a run: confines itself, captures one model, writes one result and exits."""

import gc
import os
import resource
import signal
import sys
import traceback

import torch

from .. import failure, modes, run_classes, suggestions
from ..dynamo import trace
from . import host, memory_use, tuning
from .lines import write_line
from .phases import Phases
from .scratch import use_for_temporary_files

_GIB = 1 << 30


def body(job: dict, depth: str, scratch: str, protocol: int):
    """The body of a child process: a function of its two pipes that never returns."""
    def run(result_fd: int, output_fd: int) -> None:
        try:
            _confine(job, output_fd, protocol, scratch)
            trace.seed = job.get("attempt") or 0
            result = tuning.in_one_block(_guarded, job, depth, lambda message: write_line(result_fd, message))
            write_line(result_fd, {"type": "result", **result})
            code = 0
        except BaseException:
            traceback.print_exc()
            code = 70
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    return run


def _confine(job: dict, output_fd: int, protocol: int, scratch: str) -> None:
    os.setsid()
    host.die_with_parent()
    host.confine()
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.close(protocol)
    os.dup2(output_fd, 1)
    os.dup2(output_fd, 2)
    os.close(output_fd)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    host.scrub_environment()
    folder = os.path.join(scratch, "capture")
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    use_for_temporary_files(folder)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = os.path.join(folder, "inductor")  # emptied with the folder
    limits = job.get("limits") if isinstance(job.get("limits"), dict) else {}
    rss = int(limits.get("rss_bytes") or 6 * _GIB)
    data_now = memory_use.data_bytes()
    # A single huge allocation fails here with a clear error, before the zygote can notice it.
    resource.setrlimit(resource.RLIMIT_DATA, (data_now + rss + _GIB, data_now + rss + _GIB))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    most = rss if job.get("mode") == "build" else _GIB  # a package contains all weights
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    tuning.keep_freed_memory()
    torch.set_num_threads(1)
    # Few long collections are faster than many short ones: most objects made by tracing live as long as the process.
    gc.set_threshold(100_000, 50, 100)


def _guarded(job: dict, depth: str, say) -> dict:
    phases = Phases(say)
    try:
        result = run_classes.run_class_of(job)(job, depth, phases).run()
    except BaseException as error:  # including a SystemExit of a model or a factory
        origin = suggestions.OWN if job.get("source") else suggestions.CONFIG
        result = failure.result_of(phases.current, error, origin)
    result.setdefault("phase", phases.current)
    phases.enter("done")
    result["phase_s"] = phases.numbers()
    result["phase_cpu_s"] = phases.processor_numbers()
    result["capture_s"] = round(sum(result["phase_s"].values()), 4)
    result["mode"] = modes.mode_name(job)
    result["device"] = "cpu"
    return result
