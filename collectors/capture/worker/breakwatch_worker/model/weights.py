"""Cheap deterministic weights: a model's own initialisation, with its random draws replaced by one shared block.

The block is drawn once in the zygote and copied, scaled as the model's code requests (`normal_(std=0.02)` and so on).
Constants (norms, biases, buffers, decay tables) are set by the author's code, which keeps an eager run finite. Random
draws are deferred: of several draws on one tensor only the last is made.
"""

import contextlib
import functools
import importlib.util
import math

import torch

from .. import restore

_BLOCK = 1 << 19
_DEFAULT_STD = 0.02
_seed = 0


@functools.cache
def block() -> torch.Tensor:
    generator = torch.Generator().manual_seed(20240229)
    return torch.randn(_BLOCK, generator=generator).clamp_(-3, 3)


def use_seed(seed: int) -> None:
    """Other weights for each seed, in this process: a model's tensors begin at other places of the block."""
    global _seed
    _seed = seed


def fill(tensor: torch.Tensor, mean: float, std: float, salt: int) -> None:
    """Fills the tensor with scaled copies of the block. `salt` moves the start, so that two tensors differ."""
    if tensor.is_meta or not (tensor.is_floating_point() or tensor.is_complex()):
        return
    if tensor.is_complex() or not tensor.is_contiguous():
        with torch.no_grad():
            tensor.copy_(torch.full_like(tensor, mean) + std)
        return
    source = block()
    flat = tensor.detach().view(-1)
    count = flat.numel()
    # An odd length of the copies prevents equal rows.
    start, size = (salt * 7919 + _seed * 977) % 4096, _BLOCK - 4097
    for begin in range(0, count, size):
        piece = flat[begin:begin + size]
        chosen = source[start:start + piece.numel()]
        if piece.dtype == chosen.dtype:
            torch.mul(chosen, std, out=piece)
        else:
            piece.copy_(chosen * std)
        if mean:
            piece.add_(mean)
        start = (start + 61) % 4096


def _fans(tensor) -> tuple:
    if tensor.dim() < 2:
        return max(tensor.numel(), 1), max(tensor.numel(), 1)
    receptive = math.prod(tensor.shape[2:])
    return max(tensor.shape[1] * receptive, 1), max(tensor.shape[0] * receptive, 1)


# torch.nn.init's random functions -> (mean, std) of what they would draw.
def _normal(tensor, mean=0.0, std=1.0, *_, **__):
    return float(mean), float(std)


def _uniform(tensor, a=0.0, b=1.0, *_, **__):
    return (a + b) / 2, max(b - a, 0.0) / math.sqrt(12)


def _xavier(tensor, gain=1.0, *_, **__):
    fan_in, fan_out = _fans(tensor)
    return 0.0, float(gain) * math.sqrt(2.0 / (fan_in + fan_out))


def _kaiming(tensor, *_, **__):
    return 0.0, math.sqrt(1.0 / (3.0 * _fans(tensor)[0]))


def _orthogonal(tensor, gain=1.0, *_, **__):
    return 0.0, float(gain) / math.sqrt(max(_fans(tensor)))


_RANDOM = {
    "normal_": _normal, "trunc_normal_": _normal, "uniform_": _uniform, "xavier_uniform_": _xavier,
    "xavier_normal_": _xavier, "kaiming_uniform_": _kaiming, "kaiming_normal_": _kaiming, "orthogonal_": _orthogonal,
    "sparse_": _orthogonal,
}
_CONSTANT = ("constant_", "zeros_", "ones_", "eye_", "dirac_")
# Before transformers 5, models call methods of a tensor (`module.weight.data.normal_(std=0.02)`). A small tensor is
# drawn at once, because the next statement may compute something from it.
_METHODS = ("normal_", "uniform_")
_CONSTANT_METHODS = ("zero_", "fill_")
_LARGE = 1 << 16  # elements


class Deferred:
    """The deferred random draws, and parameters without initialisation. A context manager around construction."""

    def __init__(self):
        self._owed = {}
        self._empty = set()
        self._touched = set()

    @contextlib.contextmanager
    def active(self):
        functions = {name: self._later(spread) for name, spread in _RANDOM.items()}
        functions.update({name: self._now(getattr(torch.nn.init, name)) for name in _CONSTANT})
        library = _library_table()
        saved = dict(library)
        library.update(functions)
        try:
            with restore.replaced(torch.nn.init, **functions), restore.replaced(
                    torch, empty=self._remembering(torch.empty)), restore.replaced(
                    torch.Tensor, **(self._methods() if _calls_methods() else {})):
                yield self
        finally:
            library.update(saved)

    def _methods(self) -> dict:
        """Replacements of a tensor's methods that draw or set numbers."""
        def drawing(later, now):
            return lambda tensor, *given, **named: (
                later if tensor.numel() >= _LARGE and tensor.dim() > 1 else now)(tensor, *given, **named)

        of_tensor = {name: getattr(torch.Tensor, name) for name in (*_METHODS, *_CONSTANT_METHODS)}
        constant = {name: self._now(of_tensor[name]) for name in _CONSTANT_METHODS}
        return {**constant, **{name: drawing(self._later(_RANDOM[name]), of_tensor[name]) for name in _METHODS}}

    def settle(self, model: torch.nn.Module) -> None:
        """Makes the deferred draws of the tensors that are still part of the model."""
        with torch.no_grad():
            for salt, (name, parameter) in enumerate(model.named_parameters()):
                key = _key(parameter)
                if key in self._owed:
                    fill(parameter, *self._owed[key], salt)
                elif key in self._empty and key not in self._touched:
                    _fill_by_name(name, parameter, salt)
            for salt, buffer in enumerate(model.buffers()):
                if _key(buffer) in self._owed:
                    fill(buffer, *self._owed[_key(buffer)], salt)

    def _later(self, spread):
        def draw(tensor, *arguments, **options):
            self._owed[_key(tensor)] = spread(tensor, *arguments, **options)
            return tensor

        return draw

    def _now(self, function):
        def set_constant(tensor, *arguments, **options):
            if tensor.is_meta:
                return tensor
            self._owed.pop(_key(tensor), None)
            self._touched.add(_key(tensor))
            with torch.no_grad():
                return function(tensor, *arguments, **options)

        return set_constant

    def _remembering(self, function):
        def empty(*arguments, **options):
            tensor = function(*arguments, **options)
            if not tensor.is_meta:
                self._empty.add(_key(tensor))
            return tensor

        return empty


def _key(tensor) -> tuple:
    return tensor.data_ptr(), tensor.numel()


def _fill_by_name(name: str, parameter: torch.Tensor, salt: int) -> None:
    """Fills a parameter that its author left as torch.empty: ones for scales, zeros for shifts, else small numbers."""
    last = name.rsplit(".", 1)[-1]
    if parameter.dim() <= 1 and ("weight" in last or "scale" in last or "gamma" in last):
        parameter.fill_(1.0)
    elif "bias" in last or "beta" in last:
        parameter.zero_()
    else:
        fill(parameter, 0.0, _DEFAULT_STD, salt)


def _calls_methods() -> bool:
    return importlib.util.find_spec("transformers.initialization") is None


def _library_table() -> dict:
    """The table of torch's functions that transformers calls; since 5.0 it is in a module of its own."""
    try:
        from transformers import initialization as home
    except ImportError:
        from transformers import modeling_utils as home
    return getattr(home, "TORCH_INIT_FUNCTIONS", {})
