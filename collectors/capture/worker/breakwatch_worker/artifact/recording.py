"""A recorded call: the model as a function of tensors by position, its inputs, and its eager outputs."""

import dataclasses

import torch
from torch.utils import _pytree

from ..inputs.copies import tensors_in
from ..modes.exporters import register_caches


class Flat(torch.nn.Module):
    """A model whose arguments are tensors by position, and whose output is a tuple of tensors. All other arguments are
    fixed. Every target is made of it, so all packages of a model have the same arguments and outputs."""

    def __init__(self, model, arguments: dict):
        super().__init__()
        self.model = model
        leaves, self._spec = _pytree.tree_flatten(arguments)
        self._fixed = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self._places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.eval()

    def forward(self, *tensors):
        leaves = list(self._fixed)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        output = self.model(**_pytree.tree_unflatten(leaves, self._spec))
        return tuple(tensor for _, tensor in tensors_in(output))

    def output_paths(self, tensors: tuple) -> list:
        """The place of each tensor in the model's own output: `logits`, `past_key_values.layers.0.keys`."""
        leaves = list(self._fixed)
        for place, tensor in zip(self._places, tensors, strict=True):
            leaves[place] = tensor
        output = self.model(**_pytree.tree_unflatten(leaves, self._spec))
        return [path or "output" for path, _ in tensors_in(output)]


@dataclasses.dataclass
class Case:
    """Tensors in flat order."""

    inputs: tuple
    outputs: tuple


@dataclasses.dataclass
class Recording:
    flat: Flat
    names: list  # of the inputs
    paths: list  # of the outputs
    cases: list  # one, or two with other batch sizes
    batch: int
    dynamic_shapes: tuple = None  # for torch.export; None: all sizes are fixed

    @property
    def inputs(self) -> tuple:
        """Of the first case, which the package is made with."""
        return self.cases[0].inputs


class NoBatch(Exception):
    """The arguments of this model have no size that a batch could change."""


def record(model, by_batch, batch: int, dynamic: bool) -> Recording:
    """Calls the model eagerly. `by_batch(n)` makes the arguments for a batch of n."""
    register_caches(model)
    # torch.export fixes sizes 0 and 1, so a symbol needs a larger example.
    batch = max(batch, 2) if dynamic else batch
    arguments = by_batch(batch)
    flat = Flat(model, arguments)
    named = _named_tensors(arguments)
    with torch.no_grad():
        paths = flat.output_paths(tuple(tensor.clone() for _, tensor in named))
    recording = Recording(flat, [name for name, _ in named], paths, [_case(flat, named)], batch)
    if dynamic:
        other = _named_tensors(by_batch(batch + 1))
        recording.dynamic_shapes = _dynamic_shapes(named, other)
        recording.cases.append(_case(flat, other))
    return recording


def _named_tensors(arguments: dict) -> list:
    """(name, tensor) in the order in which pytree flattens them."""
    leaves, _ = _pytree.tree_flatten_with_path(arguments)
    return [(_name(path), leaf.detach().contiguous()) for path, leaf in leaves if isinstance(leaf, torch.Tensor)]


def _name(path) -> str:
    keys = [getattr(key, "key", getattr(key, "idx", getattr(key, "name", key))) for key in path]
    return ".".join(str(key) for key in keys)


def _case(flat: Flat, named: list) -> Case:
    inputs = tuple(tensor for _, tensor in named)
    with torch.no_grad():
        outputs = flat(*(tensor.clone() for tensor in inputs))  # the model may write into its arguments
    return Case(inputs, tuple(tensor.detach().contiguous() for tensor in outputs))


def _dynamic_shapes(named: list, other: list) -> tuple:
    """The sizes that two batches differ in, as torch.export wants them for `*tensors`."""
    shapes, found = [], False
    for (_, one), (_, two) in zip(named, other, strict=True):
        places = [place for place, (a, b) in enumerate(zip(one.shape, two.shape, strict=True)) if a != b]
        found = found or bool(places)
        shapes.append(dict.fromkeys(places, torch.export.Dim.AUTO))
    if not found:
        raise NoBatch("dynamic: no size of the arguments depends on the batch")
    return (tuple(shapes),)
