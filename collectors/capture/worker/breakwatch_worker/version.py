"""What this toolchain calls itself, found without importing torch."""

import functools
import hashlib
import importlib.metadata
import os
import platform

from . import __version__

PROTOCOL = 1

# Files whose content changes what a capture finds: they are part of the worker's version, so that results of other
# recipes are never reused.
_DIGESTED = (
    "architecture.py", "breaks.py", "build.py", "child.py", "inputs.py", "make_values.py", "recipes.yaml", "sizes.py",
    "sizes.yaml", "trace.py", "weights.py", "../../structure_ignored.yaml",
    "libraries/diffusers_inputs.py", "libraries/diffusers_inputs.yaml", "libraries/diffusers_model.py",
    "libraries/diffusers_sizes.py", "libraries/diffusers_sizes.yaml", "libraries/pipeline.py", "libraries/plain.py",
    "libraries/sentence.py", "libraries/timm_model.py",
)
# Libraries whose models are captured, besides transformers, which a toolchain names itself.
_LIBRARIES = ("diffusers", "timm")


@functools.cache
def worker_version() -> str:
    digest = hashlib.sha256()
    here = os.path.dirname(os.path.abspath(__file__))
    for name in _DIGESTED:
        digest.update(name.encode())
        try:
            with open(os.path.join(here, name), "rb") as file:
                digest.update(file.read())
        except OSError:
            digest.update(b"absent")
    for name in _LIBRARIES:
        digest.update(f"{name} {_version_of(name)}".encode())
    return f"{__version__}+{digest.hexdigest()[:10]}"


def _version_of(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


@functools.cache
def _toolchain() -> tuple:
    return tuple({
        "torch": _version_of("torch"),
        "transformers": _version_of("transformers"),
        "python": platform.python_version(),
        "worker": worker_version(),
        "device": "cpu",
    }.items())


def toolchain() -> dict:
    return dict(_toolchain())


def hello() -> dict:
    return {"type": "hello", "protocol": PROTOCOL, **toolchain(), "pid": os.getpid()}
