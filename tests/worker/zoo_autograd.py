"""Gradients that are requested in forward, custom autograd functions, and regions of the graph."""

import torch
from zoo_counts import counts, kinds_of


class BackwardInside(torch.nn.Module):
    """backward() in forward: rejected after the product and the sum."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0123")

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        (x * 2).sum().backward()
        return x + 1


class GradAsked(torch.nn.Module):
    """torch.autograd.grad of a sum that is not used afterwards: rejected once."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB9186")

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        total = (x * 2).sum()
        (slope,) = torch.autograd.grad(total, x)
        return slope + 1


class GradAskedOfLive(torch.nn.Module):
    """The same with a sum that is used afterwards: the result of a graph cannot be traced back to its argument, so
    Dynamo skips the frame. Not counted."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB9186", wrapped="frame skipped",
                      fallback=1,
                      until={"2.13": (
                          "the break was handled as if the sum were not used afterwards",
                          {"graphs": 2, "ops": 3, "counter": 1, "explain": 1, "wrapped": [], "fallback": 0})})

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        total = (x * 2).sum()
        (slope,) = torch.autograd.grad(total, x, retain_graph=True)
        return slope + total


class OwnFunction(torch.nn.Module):
    """A custom differentiable function is one operation."""

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


class OwnFunctionBreaks(torch.nn.Module):
    """A custom differentiable function whose forward breaks: apply() is rejected. The function's forward is a frame and
    logs the break again, before its own operation. Each of the two operations is a graph."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            torch._dynamo.graph_break()
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    def forward(self, x):
        return self.Double.apply(x + 1)


class HigherOrder(torch.nn.Module):
    """torch.cond with traceable branches is one operation; the others are the sum, the comparison and the access to its
    result."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, (x,))


class HigherOrderBreaks(torch.nn.Module):
    """A branch that prints cannot be part of a graph, and cond cannot run outside of one: a user error. Dynamo cannot
    resume after it, so nothing is captured."""

    expected = counts(events=0, sites=0, graphs=0, ops=0, counter=0, explain=-1, fallback=1,
                      error="UncapturedHigherOrderOpError")

    def forward(self, x):
        def loud(y):
            print("seen")
            return y * 2

        return torch.cond(x.sum() > 0, loud, lambda y: y - 1, (x,))


class Checkpointed(torch.nn.Module):
    """A checkpoint is a region of the graph. A break in it rejects the call of the region (counted). torch disables the
    compiler for its checkpoint and everything that it calls, so there is no second event. forward's subtraction is the
    graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025")

    def inner(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False) - 3


class Vmapped(torch.nn.Module):
    """vmap is traced: besides the product, there are operations for entering it, leaving it, and for its argument and
    its result."""

    expected = counts(events=0, sites=0, graphs=1, ops=6, counter=0, explain=0)

    def forward(self, x):
        return torch.vmap(lambda row: row * 2)(x)


class VmapBreaks(torch.nn.Module):
    """vmap of a function that breaks: forward and torch's wrapper around vmap log the break. Both are counted and have
    no operation. The function itself is called while vmap is active, where Dynamo rejects frames without a log."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=2, explain=-1, ids="GB0025", fallback=1)

    def inner(self, row):
        torch._dynamo.graph_break()
        return row * 2

    def forward(self, x):
        return torch.vmap(self.inner)(x)


ALL = kinds_of(globals())
