"""Breaks at modules and objects: hooks, parameters, recurrent layers, subclasses, and what shows only sometimes."""

import torch
from zoo_counts import counts


class Loud(torch.nn.Module):
    def forward(self, x):
        return x * 2


class ForwardHook(torch.nn.Module):
    """A hook that prints: met by the caller, who inlines the call of the layer with its hooks, and by the hook; torch's
    own code between them is skipped. The layer is a graph of its own."""

    expected = counts(events=2, sites=1, graphs=3, ops=3, counter=2, explain=2, ids="GB0059")

    def __init__(self):
        super().__init__()
        self.layer = Loud()
        self.layer.register_forward_hook(self.hook)

    @staticmethod
    def hook(module, arguments, output):
        print("seen")

    def forward(self, x):
        return self.layer(x + 1) - 3


class PreHook(torch.nn.Module):
    """The same before the layer."""

    expected = counts(events=2, sites=1, graphs=3, ops=3, counter=2, explain=2, ids="GB0059")

    def __init__(self):
        super().__init__()
        self.layer = Loud()
        self.layer.register_forward_pre_hook(self.hook)

    @staticmethod
    def hook(module, arguments):
        print("seen")

    def forward(self, x):
        return self.layer(x + 1) - 3


class QuietHook(torch.nn.Module):
    """A hook without a break is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.layer = Loud()
        self.layer.register_forward_hook(lambda module, arguments, output: output + 1)

    def forward(self, x):
        return self.layer(x + 1) - 3


class NewParameter(torch.nn.Module):
    """A parameter made in forward."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0264")

    def forward(self, x):
        weight = torch.nn.Parameter(x + 1)
        return x * weight


class Counting(torch.nn.Module):
    """A number of the module's own that grows is a side effect, not a break."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


class Remembering(torch.nn.Module):
    """A tensor kept on the module is a side effect too."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.last = None

    def forward(self, x):
        self.last = x + 1
        return self.last * 2


class NewBuffer(torch.nn.Module):
    """A buffer registered in forward."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        self.register_buffer("kept", x + 1)
        return self.kept * 2


class OwnGetattr(torch.nn.Module):
    """A __getattr__ of one's own is inlined."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __getattr__(self, name):
        if name == "scale":
            return 2
        return super().__getattr__(name)

    def forward(self, x):
        return x * self.scale


class Recurrent(torch.nn.Module):
    """An LSTM is kept out by a setting."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0148",
                      until={"2.13": (
                          "the layer itself could not be an argument, so the whole frame was left alone",
                          {"graphs": 0, "ops": 0, "counter": 0, "explain": -1, "ids": ["GB0014"],
                           "wrapped": ["frame skipped"], "fallback": 1})})

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LSTM(3, 3)

    def forward(self, x):
        out, _ = self.layer((x + 1).view(1, 3))
        return out * 2


class Lazy(torch.nn.Module):
    """A lazy layer is given its weights while it is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LazyLinear(2)

    def forward(self, x):
        return self.layer(x + 1)


class TrainingOnly(torch.nn.Module):
    """A layer dropped at random breaks in training, as captured here, and never in eval."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=0, explain=1, ids="GB0170")

    training_mode = True

    def forward(self, x):
        if self.training and torch.rand(()) > 2:
            return x
        return x * 2


class TrainingOnlyInEval(torch.nn.Module):
    """The same in eval."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if self.training and torch.rand(()) > 2:
            return x
        return x * 2


class SecondShape(torch.nn.Module):
    """Only a second shape breaks: one call, as captured here, never meets it."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if x.shape[0] == 5:
            torch._dynamo.graph_break()
        return x * 2


class SecondShapeSeen(SecondShape):
    """The same called with the second shape as well: the break, and one recompilation of forward."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025", recompiles=1,
                      until={"2.13": (
                          "a graph without an operation was made as well",
                          {"graphs": 3, "explain": 2})})

    options = {"call": lambda compiled, arguments: (compiled(**arguments), compiled(torch.ones(5)))}


class TwoShapes(torch.nn.Module):
    """Two shapes and no break: one recompilation, which is no break."""

    expected = counts(events=0, sites=0, graphs=2, ops=2, counter=0, explain=1, recompiles=1)

    options = {"call": lambda compiled, arguments: (compiled(**arguments), compiled(torch.ones(5)))}

    def forward(self, x):
        return x * x.shape[0]


class RecompileLimit(torch.nn.Module):
    """A plain number that changes with every call, read as it is: past eight compilations the frame is run as it is.
    The limit is no break that is logged; what is lost shows as a frame that fell back."""

    expected = counts(events=0, sites=0, graphs=8, ops=8, counter=0, explain=7, fallback=1, recompiles=8)

    options = {"call": lambda compiled, arguments: [compiled(mode=str(n), **arguments) for n in range(12)]}

    def forward(self, x, mode):
        return x * len(mode)


class Subclass(torch.nn.Module):
    """A subclass of Tensor with a __torch_function__ that prints: the operation is refused, and the method meets the
    print again as a frame."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=2, explain=0, ids="GB0059")

    class Loud(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, arguments=(), options=None):
            print("seen")
            return super().__torch_function__(function, types, arguments, options or {})

    def arguments(self):
        return {"x": torch.ones(3).as_subclass(self.Loud)}

    def forward(self, x):
        return torch.sin(x)


class Raising(torch.nn.Module):
    """An exception of a callee that the caller handles is traced through."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def inner(self, x):
        raise KeyError("none")

    def forward(self, x):
        try:
            return self.inner(x)
        except KeyError:
            return x * 2


class HigherOrder(torch.nn.Module):
    """torch.cond with branches that can be traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, (x,))


class HigherOrderBreaks(torch.nn.Module):
    """A branch that prints cannot be part of a graph, and cond cannot run outside one: an error of the user's, no break
    to go on from."""

    expected = counts(events=0, sites=0, graphs=0, ops=0, counter=0, explain=-1, fallback=1,
                      error="UncapturedHigherOrderOpError")

    def forward(self, x):
        def loud(y):
            print("seen")
            return y * 2

        return torch.cond(x.sum() > 0, loud, lambda y: y - 1, (x,))


class Checkpointed(torch.nn.Module):
    """A checkpoint is a region of the graph; a break in it gives up the call of it."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025")

    def inner(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False) - 3


class Vmapped(torch.nn.Module):
    """vmap over a function that takes a number out of its row."""

    expected = counts(events=0, sites=0, graphs=1, ops=6, counter=0, explain=0)

    def forward(self, x):
        return torch.vmap(lambda row: row * 2)(x)


class OwnFunction(torch.nn.Module):
    """A differentiable function of one's own is one operation."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def forward(self, x):
        return self.Double.apply(x + 1)


ALL = [value for value in list(globals().values())
       if isinstance(value, type) and issubclass(value, torch.nn.Module) and hasattr(value, "expected")]
