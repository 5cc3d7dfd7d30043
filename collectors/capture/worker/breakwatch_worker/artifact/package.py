"""Writes a package: the model, the recorded call and manifest.json in one folder. It appears complete or not at all."""

import contextlib
import datetime
import hashlib
import json
import os
import shutil

import torch

from .. import version
from ..compilers.outputs import TOLERANCES
from .recording import Recording

MANIFEST = "manifest.json"
_SCHEMA = 1
_BLOCK = 1 << 20


@contextlib.contextmanager
def new_folder(parent: str, name: str):
    """A folder to fill. It gets its name, replacing what has it, when the block ends without an error."""
    target, temporary = os.path.join(parent, name), _unfinished(parent, name)
    shutil.rmtree(temporary, ignore_errors=True)
    os.makedirs(temporary)
    try:
        yield temporary
        old = f"{temporary}.old"
        if os.path.lexists(target):
            os.rename(target, old)
        os.rename(temporary, target)
        shutil.rmtree(old, ignore_errors=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


@contextlib.contextmanager
def temporary_folder(parent: str, name: str):
    """For the temporary files of a build; what a killed build left there is removed."""
    folder = os.path.join(parent, f".{name}.tmp")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_unfinished(parent: str, name: str) -> None:
    """After the process that filled the folder was killed."""
    shutil.rmtree(_unfinished(parent, name), ignore_errors=True)


def _unfinished(parent: str, name: str) -> str:
    return os.path.join(parent, f".{name}.new")


def inputs_file(case: int) -> str:
    """The name of the file with the inputs of a case, from 0."""
    return "inputs.safetensors" if case == 0 else f"inputs-{case + 1}.safetensors"


def outputs_file(case: int) -> str:
    return inputs_file(case).replace("inputs", "outputs")


def write_cases(folder: str, recording: Recording) -> None:
    from safetensors.torch import save_file

    for number, case in enumerate(recording.cases):
        for name, tensors in ((inputs_file(number), case.inputs), (outputs_file(number), case.outputs)):
            # A copy of each, because the format does not accept tensors that share memory.
            by_place = {f"{place:04}": tensor.clone() for place, tensor in enumerate(tensors)}
            save_file(by_place, os.path.join(folder, name))


def write_manifest(folder: str, fields: dict) -> None:
    """`fields`: all but those that follow from the folder and from this toolchain."""
    for name in os.listdir(folder):
        os.chmod(os.path.join(folder, name), 0o644)  # some libraries write files that only their owner can read
    tools = version.toolchain()
    manifest = {
        "schema": _SCHEMA, **fields, "files": _files(folder), "torch": tools["torch"],
        "torch_abi": "cxx11" if torch._C._GLIBCXX_USE_CXX11_ABI else "pre-cxx11",
        "transformers": tools["transformers"], "python": tools["python"], "worker": tools["worker"],
        "tolerance": {str(dtype).removeprefix("torch."): {"rtol": relative, "atol": absolute}
                      for dtype, (relative, absolute) in TOLERANCES.items()},
        "built_at": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    with open(os.path.join(folder, MANIFEST), "w", encoding="utf-8") as file:
        json.dump(manifest, file, indent=2, sort_keys=True, ensure_ascii=False)
        file.write("\n")


def described(names: list, tensors: tuple, key: str) -> list:
    return [{key: name, "dtype": str(tensor.dtype).removeprefix("torch."), "shape": list(tensor.shape)}
            for name, tensor in zip(names, tensors, strict=True)]


def digest_of(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _files(folder: str) -> list:
    return [{"path": name, "sha256": digest_of(os.path.join(folder, name)),
             "bytes": os.path.getsize(os.path.join(folder, name))}
            for name in sorted(os.listdir(folder)) if name != MANIFEST]
