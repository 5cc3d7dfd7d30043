"""The few things asked of Linux that Python has no call for."""

import contextlib
import ctypes
import os
import resource
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PAGE = resource.getpagesize()
_TOKEN_PARTS = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "API_KEY", "ACCESS_KEY")


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Descendants that lose their parent become ours, so that none outlives its capture unseen."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def children_of(pid: int) -> list:
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return found


def resident_bytes(pid: int) -> int:
    """Resident memory of a process and all its descendants."""
    total = 0
    queue = [pid]
    while queue:
        process = queue.pop()
        try:
            with open(f"/proc/{process}/statm") as file:
                total += int(file.read().split()[1]) * _PAGE
        except (OSError, IndexError, ValueError):
            continue
        queue += children_of(process)
    return total


def kill_family(pid: int) -> None:
    """SIGKILL to the group and session of `pid` and to every descendant, wherever it moved."""
    queue = [pid] + children_of(pid)
    seen = set()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    while queue:
        process = queue.pop()
        if process in seen:
            continue
        seen.add(process)
        queue += children_of(process)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def scrub_secrets() -> None:
    for name in list(os.environ):
        if any(part in name.upper() for part in _TOKEN_PARTS) and name != "HF_TOKEN_PATH":
            del os.environ[name]


def scrub_environment() -> None:
    """No token reaches code that builds models, and nothing there asks the network."""
    scrub_secrets()
    os.environ.update({
        "HF_HUB_OFFLINE": "1",
        "HF_TOKEN_PATH": "/nonexistent",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "TRANSFORMERS_VERBOSITY": "error",
        "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "CUDA_VISIBLE_DEVICES": "",
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "NUMEXPR_NUM_THREADS": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        "TORCH_WARM_POOL": "0",
        "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_LOCAL_PGO": "0",
        "TORCH_DYNAMO_AUTOMATIC_DYNAMIC_REMOTE_PGO": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
    })
