"""Gradients asked for in forward, functions with their own, and regions of the graph."""

import torch
from zoo_counts import counts, kinds_of


class BackwardInside(torch.nn.Module):
    """backward() in forward: refused after the product and the sum."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0123")

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        (x * 2).sum().backward()
        return x + 1


class GradAsked(torch.nn.Module):
    """torch.autograd.grad of a sum that nobody needs afterwards: refused, once."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB9186")

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        total = (x * 2).sum()
        (slope,) = torch.autograd.grad(total, x)
        return slope + 1


class GradAskedOfLive(torch.nn.Module):
    """The same where the sum is needed afterwards: a graph's result cannot be traced back to its argument, so Dynamo
    asks for the frame to be skipped. Not counted."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB9186", wrapped="frame skipped",
                      fallback=1,
                      until={"2.13": (
                          "the frame was broken as if the sum were not needed",
                          {"graphs": 2, "ops": 3, "counter": 1, "explain": 1, "wrapped": [], "fallback": 0})})

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        total = (x * 2).sum()
        (slope,) = torch.autograd.grad(total, x, retain_graph=True)
        return slope + total


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


class OwnFunctionBreaks(torch.nn.Module):
    """A differentiable function whose forward breaks: apply() is refused, and the function's forward is a frame that
    meets the break again, before its own operation. Each of the two operations is a graph."""

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
    """torch.cond with branches that can be traced is one operation, besides sum, comparison and taking its result
    out."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: y * 2, lambda y: y - 1, (x,))


class HigherOrderBreaks(torch.nn.Module):
    """A branch that prints cannot be part of a graph, and cond cannot run outside one: an error of the user's, no break
    to go on from, and nothing is captured."""

    expected = counts(events=0, sites=0, graphs=0, ops=0, counter=0, explain=-1, fallback=1,
                      error="UncapturedHigherOrderOpError")

    def forward(self, x):
        def loud(y):
            print("seen")
            return y * 2

        return torch.cond(x.sum() > 0, loud, lambda y: y - 1, (x,))


class Checkpointed(torch.nn.Module):
    """A checkpoint is a region of the graph; a break in it gives up the call of it (counted). torch keeps its
    checkpoint out of the compiler with all that it calls: no second event. forward's subtraction is the graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025")

    def inner(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return torch.utils.checkpoint.checkpoint(self.inner, x, use_reentrant=False) - 3


class Vmapped(torch.nn.Module):
    """vmap is traced: entering, leaving and what it does to the argument and the result are operations besides the
    product."""

    expected = counts(events=0, sites=0, graphs=1, ops=6, counter=0, explain=0)

    def forward(self, x):
        return torch.vmap(lambda row: row * 2)(x)


class VmapBreaks(torch.nn.Module):
    """vmap over a function that breaks: met by forward and by torch's own wrapper around vmap, both counted, no
    operation in either. The function itself is called with vmap under way, where Dynamo turns frames down without a
    log."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=2, explain=-1, ids="GB0025", fallback=1)

    def inner(self, row):
        torch._dynamo.graph_break()
        return row * 2

    def forward(self, x):
        return torch.vmap(self.inner)(x)


ALL = kinds_of(globals())
