"""Layers inside a module: one class called several times, hooks, and layers that Dynamo handles specially."""

import torch
from zoo_counts import counts, kinds_of


class Loud(torch.nn.Module):
    def forward(self, x):
        return x * 2


class Layers(torch.nn.Module):
    """Two layers of one class, inlined: forward logs a break for each (two events), and the class's code is compiled
    once (one event). forward's addition is a graph; the layers' product is one graph, used twice."""

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
    """The same in a loop: forward's frame is skipped (not counted) with its addition. The break in the layer's code is
    counted, and its product is the only graph."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025", fallback=1)

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layers.Layer(), Layers.Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x + 1


class SequentialLayers(torch.nn.Module):
    """torch's Sequential loops over its layers in a frame of torch, which is skipped because of its file: no event
    there. forward logs the break once, because it does not resume inside Sequential, and the layers' code logs it once.
    The graphs are those of Layers."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(Layers.Layer(), Layers.Layer())

    def forward(self, x):
        return self.layers(x + 1)


class ForwardHook(torch.nn.Module):
    """A hook that prints: the caller logs the break, because it inlines the call of the layer with its hooks, and the
    hook logs it. torch's own code between them is skipped. The layer is a graph of its own between forward's two."""

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
    """The same with a hook before the layer."""

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
    """A hook for the layer's backward: forward logs the break in torch's call of the layer, which is not compiled as a
    frame. The layer is a graph of its own between forward's two."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0083")

    def __init__(self):
        super().__init__()
        self.layer = Loud()
        self.layer.register_full_backward_hook(lambda module, before, after: None)

    def forward(self, x):
        return self.layer(x + 1) - 3


class Recurrent(torch.nn.Module):
    """A setting of Dynamo excludes an LSTM: addition and view before it, the product after it."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0148",
                      until={"2.13": (
                          "the layer itself could not be an argument, so the frame was skipped",
                          {"graphs": 0, "ops": 0, "counter": 0, "explain": -1, "ids": ["GB0014"],
                           "wrapped": ["frame skipped"], "fallback": 1})})

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LSTM(3, 3)

    def forward(self, x):
        out, _ = self.layer((x + 1).view(1, 3))
        return out * 2


class Lazy(torch.nn.Module):
    """A lazy layer gets its weights while it is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.LazyLinear(2)

    def forward(self, x):
        return self.layer(x + 1)


ALL = kinds_of(globals())
