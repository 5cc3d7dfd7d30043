"""Copies of a model's arguments, for a process that calls the model more than once. A copy has its own memory and
matches its original in everything that code can observe of a tensor."""

import contextlib
import copy
import inspect

import torch
from torch.nn.parameter import is_lazy
from torch.utils import _pytree

from .. import restore
from ..errors import WorkerError

_MOST_ITEMS = 100_000  # of the arguments are searched for tensors


class CannotCopy(WorkerError):
    """The arguments cannot be copied. This is no fault of the model: only breakwatch needs copies."""

    def __init__(self, why):
        super().__init__(f"breakwatch cannot copy what the model is called with: {why}",
                         "none: this mode must copy the arguments, and they cannot be copied")


def fresh(value, owner=None, change=None):
    """A deep copy that a call may write into. Objects and memory that are shared within it stay shared. Modules and
    tensors of `owner`, and tensors in their memory, are not copied. `change` returns the copy of a tensor, or None to
    copy it as usual. Raises CannotCopy."""
    copier = _Copier(owner, change)
    try:
        with copier.of_tensors():
            return copy.deepcopy(value, copier.memo)
    except CannotCopy:
        raise
    except Exception as error:
        raise CannotCopy(f"{type(error).__name__}: {error}") from error


def with_rows(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """The tensor with other rows (indices of its first dimension), with the same memory layout; a view if it was
    one."""
    if not _is_plain(tensor):
        return tensor.detach()[rows].requires_grad_(tensor.requires_grad)
    size, strides = [len(rows), *tensor.shape[1:]], list(tensor.stride())
    for dim in range(1, tensor.dim()):
        if strides[dim] > strides[0] > 0:  # the rows are inside this dimension
            strides[dim] = strides[dim] // tensor.shape[0] * len(rows)
    places = 1 + sum((length - 1) * stride for length, stride in zip(size, strides, strict=True))
    with torch.no_grad():
        memory = torch.zeros(places if 0 not in size else 0, dtype=tensor.dtype)
        _once(torch.as_strided(memory, size, strides)).copy_(_once(tensor)[rows] if strides[0] else _once(tensor))
    if tensor._is_view():
        with torch.set_grad_enabled(tensor.requires_grad):
            return memory.requires_grad_(tensor.requires_grad).as_strided(size, strides)
    storage = memory.untyped_storage()
    return _in_role_of(tensor, lambda: _over(storage, tensor, size, strides, 0))


def _once(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without the repeated elements of expanded dimensions."""
    for dim, stride in enumerate(tensor.stride()):
        tensor = tensor.narrow(dim, 0, 1) if stride == 0 and tensor.shape[dim] > 1 else tensor
    return tensor


def tensors_of(owner) -> list:
    """The parameters and buffers of a module, or of the module that a method is bound to; otherwise none."""
    module = module_of(owner)
    return [*module.parameters(), *module.buffers()] if module is not None else []


def module_of(target):
    bound = getattr(target, "__self__", None)
    owner = bound if isinstance(bound, torch.nn.Module) else target
    return owner if isinstance(owner, torch.nn.Module) else None


def signature_of(target):
    """The signature of a callable, for a module that of forward. None for a builtin without one."""
    try:
        return inspect.signature(target.forward if isinstance(target, torch.nn.Module) else target)
    except (TypeError, ValueError):
        return None


def tensors_in(value):
    """(path, tensor) of all tensors in containers: Python's, those registered with torch, and objects of any class."""
    stack, seen = [("", value, frozenset())], 0
    while stack and seen < _MOST_ITEMS:
        name, item, within = stack.pop()
        seen += 1
        if isinstance(item, torch.Tensor):
            yield name, item
        elif id(item) not in within:
            inner = [(f"{name}.{key}" if name else str(key), held, within | {id(item)}) for key, held in _held_by(item)]
            stack += reversed(inner)


def _held_by(value):
    if isinstance(value, dict):
        return value.items()
    if isinstance(value, (list, tuple)):
        return enumerate(value)
    if isinstance(value, (torch.nn.Module, type)):
        return ()
    held, _ = _pytree.tree_flatten(value, is_leaf=lambda item: item is not value)
    if not any(item is value for item in held):
        return enumerate(held)
    return getattr(value, "__dict__", {}).items()


class _Copier:
    def __init__(self, owner, change):
        self.memo = {}  # of copy.deepcopy, by id
        self._change = change
        self._storages = {}  # storage -> its copy; None if it belongs to the owner
        module = module_of(owner)
        for kept in module.modules() if module is not None else ():
            self.memo[id(kept)] = kept
        for tensor in tensors_of(owner):
            self.memo[id(tensor)] = tensor
            if _is_plain(tensor):
                self._storages[tensor.untyped_storage()._cdata] = None

    @contextlib.contextmanager
    def of_tensors(self):
        """Inside this context, copy.deepcopy gets the copies of tensors here, at any depth of an object."""
        def copied(tensor, memo):
            return self._of(tensor)

        with restore.replaced(torch.Tensor, __deepcopy__=copied), restore.replaced(
                torch.nn.Parameter, __deepcopy__=copied):
            yield

    def _of(self, tensor: torch.Tensor) -> torch.Tensor:
        if id(tensor) not in self.memo:
            changed = self._change(tensor) if self._change is not None else None
            made = changed if changed is not None else self._same(tensor)
            self.memo[id(tensor)] = made
            if made is not tensor:
                vars(made).update(copy.deepcopy(vars(tensor), self.memo))
        return self.memo[id(tensor)]

    def _same(self, tensor: torch.Tensor) -> torch.Tensor:
        if not _is_plain(tensor):
            return _cloned(tensor)
        storage = self._storage(tensor)
        if storage is None:
            return tensor
        if tensor._is_view():
            return self._view(tensor)
        made = _in_role_of(tensor, lambda: _over(
            storage, tensor, tensor.shape, tensor.stride(), tensor.storage_offset()))
        if tensor.is_leaf and tensor.grad is not None:
            made.grad = self._of(tensor.grad)
        return made

    def _view(self, tensor: torch.Tensor) -> torch.Tensor:
        base = self._of(tensor._base)
        with torch.enable_grad():
            made = tensor._view_func_unsafe(base)
        # Autograd decides by the creation meta of a view whether code may write into it.
        torch._C._autograd._set_creation_meta(made, torch._C._autograd._get_creation_meta(tensor))
        return made.requires_grad_() if tensor.requires_grad and tensor.is_leaf else made

    def _storage(self, tensor: torch.Tensor):
        storage = tensor.untyped_storage()
        if storage._cdata not in self._storages:
            self._storages[storage._cdata] = storage.clone()
        return self._storages[storage._cdata]


def _is_plain(tensor) -> bool:
    """Whether this is a plain strided tensor of torch, with its own storage and without a subclass."""
    return (type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
            and tensor.device.type == "cpu" and not tensor.is_nested and not tensor.is_quantized)


def _over(storage, tensor: torch.Tensor, size, strides, offset: int) -> torch.Tensor:
    """A tensor on this storage, which others may share, that is not a view."""
    with torch.no_grad(), torch.inference_mode(tensor.is_inference()):
        made = torch.empty(0, dtype=tensor.dtype).set_(storage, offset, tuple(size), tuple(strides))
        if tensor.is_conj():
            torch._C._set_conj(made, True)
        if tensor.is_neg():
            torch._C._set_neg(made, True)
        return made


def _in_role_of(tensor: torch.Tensor, make) -> torch.Tensor:
    """The tensor that `make()` returns, as a leaf, a parameter or a computed tensor, like the original."""
    if tensor.requires_grad and not tensor.is_leaf:
        with torch.enable_grad():
            return _Computed.apply(torch.zeros((), requires_grad=True), make)
    made = make()
    if type(tensor) is torch.nn.Parameter:
        return torch.nn.Parameter(made, tensor.requires_grad)
    return made.requires_grad_() if tensor.requires_grad else made


class _Computed(torch.autograd.Function):
    """Makes a tensor with a grad_fn that is not a view and does not depend on the graph of another call."""

    @staticmethod
    def forward(ctx, _, make):
        return make()

    @staticmethod
    def backward(ctx, gradient):
        return None, None


def _cloned(tensor: torch.Tensor) -> torch.Tensor:
    """A clone of another kind of tensor: sparse, jagged, or a subclass."""
    kind = f"a tensor of {type(tensor).__name__}, {tensor.layout}"
    if is_lazy(tensor) or tensor.requires_grad and not tensor.is_leaf:
        raise CannotCopy(kind)
    try:
        made = tensor.detach().clone()
    except Exception as error:
        raise CannotCopy(f"{kind}: {type(error).__name__}: {error}") from error
    if type(tensor) is torch.nn.Parameter:
        return torch.nn.Parameter(made, tensor.requires_grad)
    if type(made) is not type(tensor):
        raise CannotCopy(kind)
    return made.requires_grad_() if tensor.requires_grad else made
