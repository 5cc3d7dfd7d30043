"""Layers inside a module: one class called often, hooks, those that Dynamo treats by themselves."""

import torch
from zoo_counts import counts, kinds_of


class Loud(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Layers(torch.nn.Module):
    """Two layers of one class, called in line: forward meets each (two events), the class's code is compiled once
    (one). forward's addition is a graph; the layers' product is one graph, used twice."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    class Layer(torch.nn.Module):
        def forward(self, x):
            torch._dynamo.graph_break()
            return x * 2

    def __init__(self):
        super().__init__()
        self.first, self.second = self.Layer(), self.Layer()

    def forward(self, x):
        return self.second(self.first(x + 1))


class LayersInLoop(torch.nn.Module):
    """The same called in a loop: forward's frame is skipped (not counted) with its addition; the layer's code
    counts, and its product is the only graph."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025", fallback=1)

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layers.Layer(), Layers.Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x + 1


class SequentialLayers(torch.nn.Module):
    """torch's Sequential loops over its layers in a frame of torch's, which is skipped by its file: no event there.
    forward meets the break once, since what it calls is not taken up again behind it, and the layers' code once. Graphs
    as in Layers."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(Layers.Layer(), Layers.Layer())

    def forward(self, x):
        return self.layers(x + 1)


class ForwardHook(torch.nn.Module):
    """A hook that prints: met by the caller, who inlines the call of the layer with its hooks, and by the hook; torch's
    own code between them is skipped. The layer is a graph of its own between forward's two."""

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


class BackwardHook(torch.nn.Module):
    """A hook for the layer's backward: forward meets the break in torch's call of the layer, which is no frame of the
    compiler's; the layer is a graph of its own between forward's two."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0083")

    def __init__(self):
        super().__init__()
        self.layer = Loud()
        self.layer.register_full_backward_hook(lambda module, before, after: None)

    def forward(self, x):
        return self.layer(x + 1) - 3


class Recurrent(torch.nn.Module):
    """An LSTM is kept out by a setting: addition and view before it, the product behind it."""

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


ALL = kinds_of(globals())
