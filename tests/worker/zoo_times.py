"""Breaks that depend on the call: in training, for the second shape, after the recompilation limit."""

import torch
from zoo_counts import counts, kinds_of


class TrainingOnly(torch.nn.Module):
    """A layer that is dropped at random breaks in training, as captured here, but not in eval."""

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
    """Only a second shape breaks: the one call that is captured here does not reach it."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if x.shape[0] == 5:
            torch._dynamo.graph_break()
        return x * 2


class SecondShapeSeen(SecondShape):
    """The same with a call with the second shape. The first call is one graph. The second recompiles forward with the
    size as a symbol. The break comes before any operation (counted, no graph), and the product after it is the second
    graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025", recompiles=1,
                      until={"2.13": (
                          "there was also a graph without an operation",
                          {"graphs": 3, "explain": 2})})

    options = {"call": lambda compiled: (compiled(torch.ones(3)), compiled(torch.ones(5)))}


class TwoShapes(torch.nn.Module):
    """Two shapes without a break: one recompilation, which is not a break."""

    expected = counts(events=0, sites=0, graphs=2, ops=2, counter=0, explain=1, recompiles=1)

    options = {"call": lambda compiled: (compiled(torch.ones(3)), compiled(torch.ones(5)))}

    def forward(self, x):
        return x * x.shape[0]


class RecompileLimit(torch.nn.Module):
    """A text that changes with every call: after eight compilations the frame runs uncompiled. The limit is not a
    logged break; the frame counts as a fallback. The eight graphs have one operation each."""

    expected = counts(events=0, sites=0, graphs=8, ops=8, counter=0, explain=7, fallback=1, recompiles=8)

    options = {"call": lambda compiled: [compiled(torch.ones(3), mode=str(n)) for n in range(12)]}

    def forward(self, x, mode):
        return x * len(mode)


ALL = kinds_of(globals())
