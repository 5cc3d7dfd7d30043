"""Factories like those of own_zoo.py, for modules that differ in how they are called and in their arguments."""

import collections
import dataclasses
import functools

import torch


class Scales:
    """Not a module, but callable."""

    def __init__(self):
        self.by = torch.full((3,), 2.0)

    def __call__(self, x):
        return (x * self.by).relu()


def an_object_that_is_called():
    return Scales(), (torch.ones(2, 3),)


# How it is called.
class TakesMany(torch.nn.Module):
    def forward(self, *parts):
        x = parts[0] + parts[1]
        torch._dynamo.graph_break()
        return x * 2


def takes_many():
    return TakesMany(), (torch.ones(2, 3), torch.ones(2, 3))


class TakesByPositionOnly(torch.nn.Module):
    def forward(self, x, /, scale=2.0):
        torch._dynamo.graph_break()
        return x * scale


def takes_by_position_only():
    return TakesByPositionOnly(), (torch.ones(2, 3),)


class TakesAnything(torch.nn.Module):
    def forward(self, x, **others):
        torch._dynamo.graph_break()
        return x + sum(others.values())


def takes_anything_by_name():
    return TakesAnything(), {"x": torch.ones(2, 3), "y": torch.ones(2, 3), "z": 1.0}


class TakesByNameOnly(torch.nn.Module):
    def forward(self, x, *, scale, shift=1.0):
        torch._dynamo.graph_break()
        return x * scale + shift


def takes_by_name_only():
    return TakesByNameOnly(), {"x": torch.ones(2, 3), "scale": 3.0}


class MixesAll(torch.nn.Module):
    def forward(self, x, /, y=None, *rest, scale=1.0, **others):
        torch._dynamo.graph_break()
        return (x if y is None else x + y) * scale


def mixes_all():
    return MixesAll(), (torch.ones(2, 3), torch.ones(2, 3), 1, 2)


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor = None


class TakesADataclass(torch.nn.Module):
    def forward(self, batch, pair):
        torch._dynamo.graph_break()
        return batch.tokens * batch.mask + pair.left


def takes_a_dataclass():
    tokens = torch.ones(2, 3)
    return TakesADataclass(), {"batch": Batch(tokens, torch.ones(2, 3)), "pair": Pair(tokens, 1)}


def takes_many_as_a_function():
    def add(*parts):
        torch._dynamo.graph_break()
        return sum(parts)

    return add, (torch.ones(2, 3), torch.ones(2, 3))


def is_a_method():
    return TakesMany().forward, (torch.ones(2, 3), torch.ones(2, 3))


def is_a_partial():
    def scaled(x, by):
        torch._dynamo.graph_break()
        return x * by

    return functools.partial(scaled, by=2.0), (torch.ones(2, 3),)


# Batches in custom containers.
class Registered:
    def __init__(self, tokens):
        self.tokens = tokens


torch.utils._pytree.register_pytree_node(
    Registered, lambda held: ([held.tokens], None), lambda items, _: Registered(*items))


class OfRegistered(torch.nn.Module):
    def forward(self, held):
        return held.tokens * 2 + held.tokens.shape[0]


def registered():
    return OfRegistered(), (Registered(torch.ones(2, 3)),)


def of_a_dataclass():
    return OfRegistered(), (Batch(torch.ones(2, 3)),)


def takes_many_as_a_function_without_breaks():
    def add(*parts):
        return parts[0] + parts[1]

    return add, (torch.ones(2, 3), torch.ones(2, 3))
