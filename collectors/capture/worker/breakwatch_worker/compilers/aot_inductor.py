"""AOTInductor: a library of compiled code and weights, which libtorch loads without Python."""

import contextlib
import os
import platform

import torch

from .. import restore
from ..process.scratch import own_folder

# Instruction sets from the best: flags of a processor that has it, its name for the C++ compiler, inductor's class.
# Neither compiler uses other instructions, so the package runs on every processor that has these.
_SETS = {
    "avx512": (("avx512f", "avx512bw", "avx512vl", "avx512dq"), "x86-64-v4", "VecAVX512"),
    "avx2": (("avx2", "fma"), "x86-64-v3", "VecAVX2"),
    "default": ((), "x86-64", ""),
}


class NotThisProcessor(Exception):
    """The wanted instruction set is not one of this machine: what is built could not be run here."""


def capability(wanted: str) -> str:
    """The instruction set to build for; the best of this processor if `wanted` is empty."""
    flags = _processor_flags()
    known = [name for name, (needed, _, _) in _SETS.items() if set(needed) <= flags]
    if wanted and wanted not in known:
        raise NotThisProcessor(f"cpu_capability {wanted}: this processor has {', '.join(known)}")
    return wanted or known[0]


def save(program, path: str, wanted: str = "") -> None:
    """Compiles an exported program for the instruction set `wanted`, and writes the package."""
    from torch._inductor import aoti_compile_and_package
    from torch._inductor.utils import fresh_inductor_cache

    chosen = capability(wanted)
    # Compiled into the code, and switched on by AOTI_RUNTIME_CHECK_INPUTS=1 when it runs.
    with (
        own_folder("compiling-") as folder,  # it gets several copies of the weights, which nobody uses afterwards
        fresh_inductor_cache(dir=folder, delete=False),
        restore.environment(AOTI_RUNTIME_CHECK_INPUTS="1"),
        _only(chosen),
        torch.no_grad(),
    ):
        aoti_compile_and_package(program, package_path=path, inductor_configs=_settings(chosen))


def load(path: str):
    """The package as a function in this process. It is unpacked below TMPDIR, and stays there if the process dies."""
    import ctypes

    from torch._inductor import aoti_load_package

    for name in ("libtorch_cpu.so", "libtorch.so"):  # packages do not link it
        library = os.path.join(os.path.dirname(torch.__file__), "lib", name)
        if os.path.exists(library):
            ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    return aoti_load_package(path)


def _settings(chosen: str) -> dict:
    wanted = {
        "aot_inductor.link_libtorch": False,  # a program that links libtorch_cpu alone could not load it otherwise
        "cpp.dynamic_threads": True,  # the program that runs it sets the number of threads
        "cpp.march": _SETS[chosen][1],
        "cpp.vec_isa_ok": True,  # do not try it out: on a busy machine the trial takes too long and counts as failed
        "aot_inductor.precompile_headers": False,  # pays only from the second package in one folder
    }
    # Older releases of torch have some of them.
    known = torch._inductor.config.get_config_copy() if hasattr(torch._inductor.config, "get_config_copy") else wanted
    if platform.machine() != "x86_64":
        del wanted["cpp.march"]
    return {name: value for name, value in wanted.items() if name in known}


@contextlib.contextmanager
def _only(chosen: str):
    """Inside this context, inductor uses this instruction set alone."""
    from torch._inductor import cpu_vec_isa

    if platform.machine() != "x86_64":
        yield
        return
    cls = getattr(cpu_vec_isa, _SETS[chosen][2], None)
    with (
        restore.environment(ATEN_CPU_CAPABILITY=chosen),
        restore.replaced(cpu_vec_isa, valid_vec_isa_list=lambda: [cls()] if cls else []),
    ):
        yield


def _processor_flags() -> set:
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("flags"):
                return set(line.split(":", 1)[1].split())
    return set()
