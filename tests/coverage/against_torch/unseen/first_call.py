"""Code that only the very first call runs: a capture after any other call finds less."""

import functools
import os
import random

import torch
from torch import nn

TABLES = {}
_lazy = None


class SetsClassAttribute(nn.Module):
    ready = False

    def forward(self, x):
        if not type(self).ready:
            type(self).ready = True
            print("ready")
        return x + 1


def lazy_table(device):
    global _lazy
    if _lazy is None:
        print("making the table")
        _lazy = torch.arange(3.0, device=device)
    return _lazy


class LazyGlobal(nn.Module):
    def forward(self, x):
        return x * lazy_table(x.device)


@functools.cache
def cached_scale(size):
    torch._dynamo.graph_break()
    return size**-0.5


class CachedFunction(nn.Module):
    def forward(self, x):
        return x.relu() * cached_scale(x.shape[-1])


class SwitchesEnvironment(nn.Module):
    def forward(self, x):
        if os.environ.get("UNSEEN_FIRST_CALL") is None:
            os.environ["UNSEEN_FIRST_CALL"] = "done"
            torch._dynamo.graph_break()
        return x.tanh()


class Memo(nn.Module):
    def forward(self, x):
        size = x.shape[-1]
        if size not in TABLES:
            TABLES[size] = torch.linspace(0, 1, size)
            print("table of", size)
        return x + TABLES[size]


class MakesItsPart(nn.Module):
    def forward(self, x):
        if not hasattr(self, "part"):
            self.part = nn.Linear(x.shape[-1], 2)
        return self.part(x)


class ImportsLate(nn.Module):
    def forward(self, x):
        import colorsys

        return x * colorsys.rgb_to_hsv(0.2, 0.4, 0.4)[2]


class CountsCalls(nn.Module):
    calls = []

    def forward(self, x):
        self.calls.append(1)
        if len(self.calls) == 1:
            torch._dynamo.graph_break()
        return x * len(self.calls)


class CallsHelper(nn.Module):
    """The helper stores its state on itself, and its first call replaces it."""

    def forward(self, x):
        return helper(x) + 1


def helper(x):  # noqa: F811
    global helper
    print("slow")

    def helper(x):
        return x * 2

    return x * 2


class DrawsOnce(nn.Module):
    drawn = None

    def forward(self, x):
        if DrawsOnce.drawn is None:
            DrawsOnce.drawn = random.Random(3).choice(["a", "b"])
        return x * 2 if DrawsOnce.drawn == "a" else x * 3


class Singleton:
    instance = None

    @classmethod
    def get(cls):
        if cls.instance is None:
            cls.instance = cls()
            torch._dynamo.graph_break()
        return cls.instance

    def __init__(self):
        self.scale = 4


class UsesSingleton(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(3, 3) for _ in range(3))

    def forward(self, x):
        for part in self.parts:
            x = part(x) * Singleton.get().scale
        return x


class CachedProperty(nn.Module):
    @functools.cached_property
    def table(self):
        print("table")
        return torch.ones(3)

    def forward(self, x):
        return x + self.table


def class_attribute(batch=2):
    return SetsClassAttribute(), {"x": torch.ones(batch, 3)}


def lazy_global(batch=2):
    return LazyGlobal(), {"x": torch.ones(batch, 3)}


def cached_function(batch=2):
    return CachedFunction(), {"x": torch.ones(batch, 3)}


def environment(batch=2):
    return SwitchesEnvironment(), {"x": torch.ones(batch, 3)}


def memo(batch=2):
    return Memo(), [torch.ones(batch, 7)]


def makes_its_part(batch=2):
    return MakesItsPart(), {"x": torch.ones(batch, 3)}


def imports_late(batch=2):
    return ImportsLate(), {"x": torch.ones(batch, 3)}


def counts_calls(batch=2):
    return CountsCalls(), {"x": torch.ones(batch, 3)}


def patched_helper(batch=2):
    return CallsHelper(), {"x": torch.ones(batch, 3)}


def draws_once(batch=2):
    return DrawsOnce(), {"x": torch.ones(batch, 3)}


def singleton(batch=2):
    return UsesSingleton(), {"x": torch.ones(batch, 3)}


def cached_property(batch=2):
    return CachedProperty(), {"x": torch.ones(batch, 3)}
