"""Weights from a folder of safetensors files. Names and shapes must be exactly those of the model."""

import hashlib
import json
import os

from ..errors import WorkerError
from ..text import one_line
from .package import digest_of

_SINGLE, _INDEX = "model.safetensors", "model.safetensors.index.json"
_NAMES_SHOWN = 8
_MOST_INDEX_BYTES = 64 << 20


class WrongWeights(WorkerError):
    """The folder has no weights, or those of another model."""

    def __init__(self, message: str):
        super().__init__(message, "give a folder with model.safetensors of exactly this model, or use random weights")


def files_of(folder: str) -> list:
    """The paths of the files with weights."""
    if os.path.isfile(os.path.join(folder, _SINGLE)):
        return [os.path.join(folder, _SINGLE)]
    index = os.path.join(folder, _INDEX)
    if not os.path.isfile(index):
        raise WrongWeights(f"weights: {folder} has neither {_SINGLE} nor {_INDEX}")
    names = _names_in(index)
    for name in names:
        if os.path.basename(name) != name or not os.path.isfile(os.path.join(folder, name)):
            raise WrongWeights(f"weights: {index} names {name!r}, which is no file of that folder")
    return [os.path.join(folder, name) for name in names]


def _names_in(index: str) -> list:
    try:
        if os.path.getsize(index) > _MOST_INDEX_BYTES:
            raise ValueError("it is too long")
        with open(index, encoding="utf-8") as file:
            return sorted(set(json.load(file)["weight_map"].values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WrongWeights(f"weights: {index} is no index: {error}") from error


def digest(folder: str) -> str:
    """SHA-256 over the names and digests of the files."""
    lines = [f"{digest_of(path)}  {os.path.basename(path)}\n" for path in files_of(folder)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def load(model, folder: str):
    """The model with these weights, loaded as its library loads them. Raises WrongWeights with the names that are
    missing, unexpected or of another shape."""
    from safetensors.torch import load_file

    state = {}
    for path in files_of(folder):
        try:
            state.update(load_file(path))
        except Exception as error:  # the library's own class, and errors of the system
            raise WrongWeights(f"weights: {path} cannot be read: {one_line(str(error))}") from error
    if not hasattr(type(model), "from_pretrained"):
        return _load_plainly(model, state)
    loaded, found = type(model).from_pretrained(
        None, config=model.config, state_dict=state, output_loading_info=True, ignore_mismatched_sizes=True)
    _refuse(found["missing_keys"], found["unexpected_keys"], [item[0] for item in found["mismatched_keys"]])
    return loaded.eval()


def _load_plainly(model, state: dict):
    own = model.state_dict()
    _refuse(own.keys() - state.keys(), state.keys() - own.keys(),
            [name for name in own.keys() & state.keys() if own[name].shape != state[name].shape])
    model.load_state_dict(state)
    return model


def _refuse(missing, unexpected, mismatched) -> None:
    found = {"missing": missing, "unexpected": unexpected, "of another shape": mismatched}
    texts = [f"{kind}: {_listed(sorted(names))}" for kind, names in found.items() if names]
    if texts:
        raise WrongWeights(f"weights: {'; '.join(texts)}")


def _listed(names: list) -> str:
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + more
