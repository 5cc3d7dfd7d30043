"""Linux functions that Python has no call for: confinement, process trees, memory of processes."""

import contextlib
import ctypes
import os
import resource
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CAPABILITIES = 64  # more than exist
_CAPABILITY_VERSION = 0x20080522
# The numbers of Landlock's system calls, the same on every architecture.
_LANDLOCK_CREATE, _LANDLOCK_RESTRICT = 444, 446
_LANDLOCK_VERSION = 1  # a flag: the call returns the version
_MAKE_BLOCK_DEVICE = 1 << 11
_SCOPES = 0b11  # abstract sockets, signals
_PAGE = resource.getpagesize()
# The user's traces of other programs: a capture must not write into them.
_TRACES = ("TORCH_TRACE", "TORCH_LOGS", "TORCH_LOGS_OUT", "TORCH_COMPILE_DEBUG")
_HIDDEN_CUDA = "BREAKWATCH_CUDA_VISIBLE_DEVICES"  # the user's CUDA_VISIBLE_DEVICES
_TOKEN_PARTS = ("TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "API_KEY", "ACCESS_KEY")


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def adopt_orphans() -> None:
    """Makes this process the parent of orphaned descendants, so that none outlives its capture unnoticed."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def die_with_parent() -> None:
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def shield() -> None:
    """Prevents other processes of the same user from reading or writing our memory, descriptors and environment."""
    _prctl(_PR_SET_DUMPABLE, 0)


def confine() -> None:
    """Drops what a child process does not need: capabilities, new privileges by exec and, with Landlock, signals to
    other processes than its descendants. The zygote can still read its memory use."""
    _prctl(_PR_SET_DUMPABLE, 1)
    _drop_capabilities()
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _leave_our_domain()


def _drop_capabilities() -> None:
    for capability in range(_CAPABILITIES):
        _prctl(_PR_CAPBSET_DROP, capability)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    ctypes.CDLL(None).capset(header, (ctypes.c_uint32 * 6)())


def _leave_our_domain() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION)
    if version < 1:
        return
    # A ruleset must handle something: this is an operation that no capture does. Signals are scoped from version 6.
    rules = (ctypes.c_uint64 * 3)(_MAKE_BLOCK_DEVICE, 0, _SCOPES if version >= 6 else 0)
    ruleset = libc.syscall(_LANDLOCK_CREATE, rules, ctypes.c_size_t(24 if version >= 6 else 8), 0)
    if ruleset >= 0:
        libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0)
        os.close(ruleset)


def process_limit() -> str:
    """A text that names the limit on processes and threads."""
    limit = resource.getrlimit(resource.RLIMIT_NPROC)[0]
    limit_text = "unlimited" if limit == resource.RLIM_INFINITY else str(limit)
    return f"the limit on processes and threads is reached (ulimit -u is {limit_text} here; TasksMax, pids.max)"


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
    return sum(resident_by_process(pid).values())


def resident_by_process(pid: int) -> dict:
    """Resident memory by process id. Shared pages count in each process."""
    found = {}
    queue = [pid]
    while queue:
        process = queue.pop()
        try:
            with open(f"/proc/{process}/statm") as file:
                found[process] = int(file.read().split()[1]) * _PAGE
        except (OSError, IndexError, ValueError):
            continue
        queue += children_of(process)
    return found


def proportional_bytes(pid: int) -> int | None:
    """A process's own memory and its share of shared pages. None if it cannot be read."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            for line in file:
                if line.startswith("Pss:"):
                    return int(line.split()[1]) << 10
    except (OSError, ValueError):
        pass
    return None


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


def show_cuda() -> bool:
    """Undoes what hides CUDA devices from a process that has not used any, and returns whether torch finds one."""
    import torch

    os.environ["CUDA_VISIBLE_DEVICES"] = os.environ.get(_HIDDEN_CUDA, "")
    if not os.environ["CUDA_VISIBLE_DEVICES"]:
        del os.environ["CUDA_VISIBLE_DEVICES"]
    return torch.cuda.is_available()


def scrub_environment() -> None:
    """Removes secrets, the user's settings of torch's traces, and switches off network access, devices and threads in
    the libraries that build models."""
    scrub_secrets()
    for name in _TRACES:
        os.environ.pop(name, None)
    os.environ.setdefault(_HIDDEN_CUDA, os.environ.get("CUDA_VISIBLE_DEVICES", ""))
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
