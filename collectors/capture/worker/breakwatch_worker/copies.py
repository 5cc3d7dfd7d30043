"""Copies of arguments that a call may write into, and the state of a module that a call may use up."""

import collections
import contextlib
import copy

import torch


def copy_of(tensor: torch.Tensor, rows=None) -> torch.Tensor:
    """The same tensor in memory of its own, with its strides. A leaf stays one and a parameter one; what was computed
    stays computed, but hangs on nothing that another call's backward uses up. `rows`: other indices of its first
    dimension."""
    if type(tensor) not in (torch.Tensor, torch.nn.Parameter) or tensor.layout is not torch.strided:
        return tensor.clone() if rows is None else tensor[rows].clone()
    with torch.no_grad():
        made = _laid_out(tensor.detach(), rows)
    if type(tensor) is torch.nn.Parameter:
        return torch.nn.Parameter(made, tensor.requires_grad)
    if tensor.requires_grad and tensor.is_leaf:
        return made.requires_grad_()
    if tensor.requires_grad:
        with torch.enable_grad():
            return _Computed.apply(made.requires_grad_())
    return made


class _Computed(torch.autograd.Function):
    """What has a gradient's function and is itself."""

    @staticmethod
    def forward(ctx, tensor):
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, gradient):
        return gradient


def _laid_out(tensor: torch.Tensor, rows) -> torch.Tensor:
    size = list(tensor.shape)
    repeated = [dim for dim in range(tensor.dim()) if tensor.stride(dim) == 0 and size[dim] > 1]
    strides = tensor.stride()
    for dim in repeated:  # one element seen often stays one
        tensor = tensor.narrow(dim, 0, 1)
    if rows is not None:
        size[0] = len(rows)
        if 0 not in repeated:
            tensor = tensor[rows]
        order = sorted(range(tensor.dim()), key=lambda dim: -strides[dim])
        dense = tensor.permute(order).contiguous()
        return dense.permute([order.index(dim) for dim in range(len(order))]).expand(size)
    return torch.empty_strided(tensor.shape, strides, dtype=tensor.dtype, device=tensor.device).copy_(tensor).expand(
        size)


def fresh(value, change=copy_of, made: dict = None):
    """A copy that the call may write into, of the same types; what is one object in it stays one. `change` makes the
    copy of a tensor."""
    made = {} if made is None else made  # by id, as copy.deepcopy keeps it
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, torch.Tensor):
        copied = change(value)
    elif isinstance(value, dict):
        copied = {} if type(value) is dict else copy.copy(value)  # a subclass keeps what else it knows
        for key, item in value.items():
            copied[key] = fresh(item, change, made)
    elif type(value) in (list, tuple, torch.Size):
        copied = type(value)(fresh(item, change, made) for item in value)
    elif isinstance(value, tuple) and hasattr(value, "_make"):
        copied = value._make(fresh(item, change, made) for item in value)
    else:
        return copy.deepcopy(value, made)
    made[id(value)] = copied
    return copied


_CONTAINERS = (dict, list, set, collections.OrderedDict, collections.defaultdict)  # others may refuse to be refilled
_BUFFER_BYTES = 16 << 20  # a larger one that a call writes into stays written


@contextlib.contextmanager
def as_before(target):
    """What is called within leaves the modules' attributes, hooks and buffers as they were."""
    saved = [_Saved(owner) for owner in _owners(target)]
    try:
        yield
    finally:
        for state in saved:
            state.restore()


def _owners(target) -> list:
    bound = getattr(target, "__self__", None)
    owner = bound if isinstance(bound, torch.nn.Module) else target
    return list(owner.modules()) if isinstance(owner, torch.nn.Module) else []


def _may_change(buffer) -> bool:
    return type(buffer) is torch.Tensor and not buffer.is_inference() and buffer.nbytes <= _BUFFER_BYTES


class _Saved:
    """One module's attributes, the containers among them one level deep, its hooks too, and its buffers' numbers."""

    def __init__(self, module):
        self._module, self._class, self._attributes = module, type(module), dict(vars(module))
        self._contents = [(held, held.copy()) for held in self._attributes.values()
                          if type(held) in _CONTAINERS]
        self._buffers = [(buffer, buffer._version, buffer.detach().clone())
                         for buffer in module._buffers.values() if _may_change(buffer)]

    def restore(self) -> None:
        if type(self._module) is not self._class:
            return  # a lazy module that became what it is
        attributes = vars(self._module)
        if attributes.keys() != self._attributes.keys() or any(
                attributes[name] is not value for name, value in self._attributes.items()):
            attributes.clear()
            attributes.update(self._attributes)
        for held, before in self._contents:
            held.clear()
            held.extend(before) if type(held) is list else held.update(before)
        for buffer, version, before in self._buffers:
            if buffer._version != version:
                with torch.no_grad():
                    buffer.copy_(before)
