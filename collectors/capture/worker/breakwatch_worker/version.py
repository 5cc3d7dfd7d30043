"""The names and versions of this toolchain, read without importing torch."""

import functools
import hashlib
import importlib.metadata
import os
import platform

from . import __version__

PROTOCOL = 1

# Files whose content does not affect what a capture finds. The worker's version has a digest of all others, so that
# results of other recipes are never reused.
_UNDIGESTED = {"__main__.py", "process/by_hand.py", "process/child_run.py", "process/ends.py",
               "process/host.py", "process/lines.py", "process/zygote.py", "suggestions.py", "version.py"}
_OUTSIDE = ("../../structure_ignored.yaml",)
# Libraries whose models are captured, other than transformers.
_LIBRARIES = ("diffusers", "timm")


def _digested(here: str) -> list:
    names = list(_OUTSIDE)
    for folder, folders, files in os.walk(here):
        folders[:] = [name for name in folders if name != "__pycache__"]
        paths = [os.path.relpath(os.path.join(folder, name), here) for name in files if name.endswith((".py", ".yaml"))]
        names += [path for path in paths if path not in _UNDIGESTED]
    return sorted(names)


@functools.cache
def worker_version() -> str:
    digest = hashlib.sha256()
    here = os.path.dirname(os.path.abspath(__file__))
    for name in _digested(here):
        digest.update(name.encode())
        try:
            with open(os.path.join(here, name), "rb") as file:
                digest.update(file.read())
        except OSError:
            digest.update(b"absent")
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
