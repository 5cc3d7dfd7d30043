"""Breaks at objects and classes: parameters made on the way, state, subclasses, identity."""

import collections

import torch
from zoo_counts import counts, kinds_of


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


class Subclass(torch.nn.Module):
    """A subclass of Tensor with a __torch_function__ that prints: forward meets that in its only operation, which is
    refused; the method meets the print again as a frame, and the operation it then passes on is the graph."""

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


class SetOfTensors(torch.nn.Module):
    """A set that holds a tensor: len() is refused (counted), and handing the set to len() refuses it again (not
    counted), which leaves the frame alone. One kind, one line."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=1, explain=-1, ids="GB0222", fallback=1)

    def __init__(self):
        super().__init__()
        self.seen = {torch.ones(1)}

    def forward(self, x):
        x = x + 1
        n = len(self.seen)
        return x * n


class HasAttribute(torch.nn.Module):
    """hasattr of an ordered dictionary, for what it lacks."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0217",
                      until={"2.13": (
                          "it was answered while tracing",
                          {"events": 0, "sites": 0, "graphs": 1, "counter": 0, "explain": 0, "ids": []})})

    def __init__(self):
        super().__init__()
        self.settings = collections.OrderedDict()

    def forward(self, x):
        x = x + 1
        if hasattr(self.settings, "scale"):
            x = x * 3
        return x * 2


class ChangesClass(torch.nn.Module):
    """An object given another class: an assignment to an attribute is a place to go on from."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4271")

    class Box:
        pass

    class Crate:
        pass

    def __init__(self):
        super().__init__()
        self.box = self.Box()

    def forward(self, x):
        x = x + 1
        self.box.__class__ = self.Crate
        return x * 2


class InstanceOf(torch.nn.Module):
    """isinstance with a class that has its own idea of it: refused for a tensor. The class's method is a frame without
    an operation."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB2736",
                      until={"2.13": (
                          "the class was not asked, and what stands behind it was left out",
                          {"events": 0, "sites": 0, "graphs": 1, "ops": 1, "counter": 0, "explain": 0, "ids": []})})

    class Meta(type):
        def __instancecheck__(cls, value):
            return value.dim() == 1

    class Row(metaclass=Meta):
        pass

    def forward(self, x):
        x = x + 1
        if isinstance(x, self.Row):
            x = x * 2
        return x


class ClassInForward(torch.nn.Module):
    """A class defined on the way."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB8977")

    def forward(self, x):
        x = x + 1

        class Box:
            scale = 2

        return x * Box.scale


class OwnHash(torch.nn.Module):
    """A key with a hash and an equality of the user's own is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    class Key:
        def __hash__(self):
            return 3

        def __eq__(self, other):
            return True

    def __init__(self):
        super().__init__()
        self.key = self.Key()
        self.table = {self.key: 2}

    def forward(self, x):
        return (x + 1) * self.table[self.key]


ALL = kinds_of(globals())
