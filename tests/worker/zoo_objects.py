"""Breaks at objects and classes: parameters created in forward, state, subclasses, identity."""

import collections

import torch
from zoo_counts import counts, kinds_of


class NewParameter(torch.nn.Module):
    """A parameter created in forward."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0264")

    def forward(self, x):
        weight = torch.nn.Parameter(x + 1)
        return x * weight


class Counting(torch.nn.Module):
    """A number of the module that is incremented is a side effect, not a break."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return x * 2


class Remembering(torch.nn.Module):
    """A tensor stored on the module is also a side effect."""

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
    """A custom __getattr__ is inlined."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __getattr__(self, name):
        if name == "scale":
            return 2
        return super().__getattr__(name)

    def forward(self, x):
        return x * self.scale


class Subclass(torch.nn.Module):
    """A subclass of Tensor with a __torch_function__ that prints: forward logs the break at its only operation, which
    is rejected. The method logs it again as a frame, and the operation that it calls then is the graph."""

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
    """A set that contains a tensor: len() is rejected (counted). Passing the set to the resumed function is rejected
    again (not counted), so the frame is skipped. One reason, one line."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=1, explain=-1, ids="GB0222", fallback=1)

    def __init__(self):
        super().__init__()
        self.seen = {torch.ones(1)}

    def forward(self, x):
        x = x + 1
        n = len(self.seen)
        return x * n


class HasAttribute(torch.nn.Module):
    """hasattr of an ordered dictionary, for a missing attribute."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0217",
                      until={"2.13": (
                          "it was evaluated while tracing",
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
    """An object whose class is changed: Dynamo can resume after an assignment to an attribute."""

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
    """isinstance with a class that defines __instancecheck__: rejected for a tensor. The class's method is a frame
    without an operation."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB2736",
                      until={"2.13": (
                          "the class's method was not called, and the code after it was omitted",
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
    """A class defined in forward."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB8977")

    def forward(self, x):
        x = x + 1

        class Box:
            scale = 2

        return x * Box.scale


class OwnHash(torch.nn.Module):
    """A key with a custom hash and equality is traced."""

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
