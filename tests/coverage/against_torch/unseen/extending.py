"""Extensions of torch: autograd functions, operators, subclasses, functional transforms, checkpoints."""

import torch
from torch import nn
from torch.utils import checkpoint


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 2 + x * 0


class TalkingGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print("forward")
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class AutogradFunction(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.function = function

    def forward(self, x):
        return self.function.apply(self.linear(x)) + 1


@torch.library.custom_op("unseen::with_fake", mutates_args=())
def with_fake(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@with_fake.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("unseen::without_fake", mutates_args=())
def without_fake(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.library.custom_op("unseen::writes", mutates_args={"x"})
def writes(x: torch.Tensor) -> None:
    x.add_(1)


class CustomOperator(nn.Module):
    def __init__(self, operator):
        super().__init__()
        self.operator = operator

    def forward(self, x):
        y = x + 1
        z = self.operator(y)
        return y if z is None else y + z


class Tagged(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        if function is torch.Tensor.relu:
            print("relu")
        return super().__torch_function__(function, types, args, kwargs or {})


class UsesSubclass(nn.Module):
    def forward(self, x):
        y = x.relu()
        if isinstance(y, Tagged):
            y = y * 2
        return y + 1


class TwoTensors(torch.Tensor):
    """A wrapper subclass whose operations use its parts."""

    @staticmethod
    def __new__(cls, a, b):
        return torch.Tensor._make_wrapper_subclass(cls, a.shape, dtype=a.dtype, device=a.device)

    def __init__(self, a, b):
        self.a, self.b = a, b

    def __tensor_flatten__(self):
        return ["a", "b"], None

    @staticmethod
    def __tensor_unflatten__(inner, meta, outer_size, outer_stride):
        return TwoTensors(inner["a"], inner["b"])

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        tree = torch.utils._pytree
        first = tree.tree_map_only(TwoTensors, lambda t: t.a, (args, kwargs or {}))
        second = tree.tree_map_only(TwoTensors, lambda t: t.b, (args, kwargs or {}))
        one, two = function(*first[0], **first[1]), function(*second[0], **second[1])
        return TwoTensors(one, two) if isinstance(one, torch.Tensor) else one


class Functional(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        def energy(row):
            return (row * row).sum()

        slopes = torch.func.vmap(torch.func.grad(energy))(x)
        return self.linear(slopes)


class FunctionalBreaks(nn.Module):
    def forward(self, x):
        def one(row):
            torch._dynamo.graph_break()
            return row.sin()

        return torch.func.vmap(one)(x)


class CallsFunctionally(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    def forward(self, x):
        weights = {name: weight * 2 for name, weight in self.inner.named_parameters()}
        return torch.func.functional_call(self.inner, weights, (x,))


class Checkpoints(nn.Module):
    def __init__(self, talks):
        super().__init__()
        self.first, self.second, self.talks = nn.Linear(3, 3), nn.Linear(3, 3), talks

    def block(self, x):
        y = self.first(x).relu()
        if self.talks:
            print("block")
        return self.second(y)

    def forward(self, x):
        return checkpoint.checkpoint(self.block, x, use_reentrant=False) + x


class Conditional(nn.Module):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y.sin(), lambda y: y.cos(), (x,))


@torch.compiler.allow_in_graph
def opaque(x):
    return x * 2 + 1


class AllowedInGraph(nn.Module):
    def forward(self, x):
        return opaque(x).relu()


class LogsFunctions(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **(kwargs or {}))


class UnderMode(nn.Module):
    def forward(self, x):
        with LogsFunctions():
            y = x.sin()
        return y + x


class TakesGradient(nn.Module):
    """Its own gradient, within forward."""

    def forward(self, x):
        with torch.enable_grad():
            y = x.detach().requires_grad_()
            (slope,) = torch.autograd.grad((y * y).sum(), y)
        return slope + x


def autograd_function(batch=2):
    return AutogradFunction(Doubled), {"x": torch.ones(batch, 3)}


def talking_gradient(batch=2):
    return AutogradFunction(TalkingGradient), {"x": torch.ones(batch, 3)}


def operator_with_fake(batch=2):
    return CustomOperator(with_fake), {"x": torch.ones(batch, 3)}


def operator_without_fake(batch=2):
    return CustomOperator(without_fake), {"x": torch.ones(batch, 3)}


def operator_that_writes(batch=2):
    return CustomOperator(writes), {"x": torch.ones(batch, 3)}


def tagged(batch=2):
    return UsesSubclass(), {"x": torch.ones(batch, 3).as_subclass(Tagged)}


def two_tensors(batch=2):
    return UsesSubclass(), {"x": TwoTensors(torch.ones(batch, 3), torch.zeros(batch, 3))}


def functional(batch=2):
    return Functional(), {"x": torch.ones(batch, 3)}


def functional_breaks(batch=2):
    return FunctionalBreaks(), {"x": torch.ones(batch, 3)}


def calls_functionally(batch=2):
    return CallsFunctionally(), {"x": torch.ones(batch, 3)}


def checkpoints(batch=2):
    return Checkpoints(talks=False), {"x": torch.ones(batch, 3)}


def checkpoint_breaks(batch=2):
    return Checkpoints(talks=True), {"x": torch.ones(batch, 3)}


def conditional(batch=2):
    return Conditional(), {"x": torch.ones(batch, 3)}


def allowed_in_graph(batch=2):
    return AllowedInGraph(), {"x": torch.ones(batch, 3)}


def under_mode(batch=2):
    return UnderMode(), {"x": torch.ones(batch, 3)}


def takes_gradient(batch=2):
    return TakesGradient(), {"x": torch.ones(batch, 3)}
