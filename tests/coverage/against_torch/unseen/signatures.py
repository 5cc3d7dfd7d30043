"""Kinds of calls: a wrapper around the callable must not add a frame that logs its breaks."""

import functools

import torch
from torch import nn


class AnyNumber(nn.Module):
    def forward(self, *xs):
        total = sum(x.sum() for x in xs)
        print("several")
        return total * len(xs)


class AnyNames(nn.Module):
    def forward(self, **named):
        out = torch.zeros(())
        for name in sorted(named):
            out = out + named[name].sum()
        torch._dynamo.graph_break()
        return out + 1


class PositionsOnly(nn.Module):
    def forward(self, x, y, /, scale=2.0, *, shift=None):
        z = x * scale + y
        torch._dynamo.graph_break()
        return z if shift is None else z + shift


class ManyDefaults(nn.Module):
    def forward(self, x, weight=None, bias=None, *, mode="sum", keep=True, factor=1.5):
        y = x * factor
        if weight is not None:
            y = y * weight
        if mode == "mean":
            print("mean")
            return y.mean(-1, keepdim=keep)
        return y.sum(-1, keepdim=keep)


class Calls:
    """A callable that is not a module."""

    def __init__(self):
        self.linear = nn.Linear(3, 3)
        self.seen = 0

    def __call__(self, x):
        self.seen += 1
        y = self.linear(x)
        if y.sum() > 1e6:
            return y
        return y + self.seen

    def method(self, x, *, twice=False):
        torch._dynamo.graph_break()
        return x * (2 if twice else 1)


def add_and_print(x, y, scale):
    z = x + y
    print("added")
    return z * scale


def any_number(batch=2):
    return AnyNumber(), [torch.ones(batch, 2), torch.ones(batch, 3), torch.ones(batch)]


def any_names(batch=2):
    return AnyNames(), {"beta": torch.ones(batch, 2), "alpha": torch.ones(batch)}


def positions_only(batch=2):
    return PositionsOnly(), [torch.ones(batch, 2), torch.ones(batch, 2), 3.0]


def many_defaults(batch=2):
    return ManyDefaults(), {"x": torch.ones(batch, 4), "mode": "mean", "keep": False}


def few_defaults(batch=2):
    return ManyDefaults(), {"x": torch.ones(batch, 4), "weight": torch.ones(4)}


def callable_object(batch=2):
    return Calls(), {"x": torch.ones(batch, 3)}


def bound_method(batch=2):
    return Calls().method, {"x": torch.ones(batch, 3), "twice": True}


def partial(batch=2):
    return functools.partial(add_and_print, scale=2.0), [torch.ones(batch, 3), torch.ones(batch, 3)]


def plain_function(batch=2):
    return add_and_print, {"x": torch.ones(batch), "y": torch.ones(batch), "scale": 3}


def a_lambda(batch=2):
    return (lambda x, *more: x.sin() + len(more)), [torch.ones(batch, 2), 1, "two"]


def closure(batch=2):
    history, total = [], torch.zeros(3)

    def forward(x):
        nonlocal total
        total = total + x.sum(0)
        history.append(len(history))
        if len(history) == 1:
            print("first of", history)
        return total * 2

    return forward, [torch.ones(batch, 3)]


def wrapped_function(batch=2):
    def decorate(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs) + 1

        return inner

    @decorate
    def forward(x):
        y = x.cos()
        torch._dynamo.graph_break()
        return y.sin()

    return forward, {"x": torch.ones(batch, 2)}
