"""What shows only sometimes: in training, at the second shape, past the limit of recompilations."""

import torch
from zoo_counts import counts, kinds_of


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
    """The same called with the second shape as well. The first call is one graph. The second compiles forward anew, a
    recompilation, with the size as a symbol; the break stands before any operation (counted, no graph), and the product
    behind it is the second graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025", recompiles=1,
                      until={"2.13": (
                          "a graph without an operation was made as well",
                          {"graphs": 3, "explain": 2})})

    options = {"call": lambda compiled: (compiled(torch.ones(3)), compiled(torch.ones(5)))}


class TwoShapes(torch.nn.Module):
    """Two shapes and no break: one recompilation, which is no break."""

    expected = counts(events=0, sites=0, graphs=2, ops=2, counter=0, explain=1, recompiles=1)

    options = {"call": lambda compiled: (compiled(torch.ones(3)), compiled(torch.ones(5)))}

    def forward(self, x):
        return x * x.shape[0]


class RecompileLimit(torch.nn.Module):
    """A text that changes with every call, read as it is: past eight compilations the frame is run as it is. The limit
    is no break that is logged; what is lost shows as a frame that fell back. The eight graphs are one operation
    each."""

    expected = counts(events=0, sites=0, graphs=8, ops=8, counter=0, explain=7, fallback=1, recompiles=8)

    options = {"call": lambda compiled: [compiled(torch.ones(3), mode=str(n)) for n in range(12)]}

    def forward(self, x, mode):
        return x * len(mode)


ALL = kinds_of(globals())
