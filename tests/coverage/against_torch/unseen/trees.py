"""Inputs and outputs that are not tensors: dataclasses, named tuples, registered classes, None."""

import collections
import dataclasses

import torch
from torch import nn
from torch.utils import _pytree


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor | None = None
    name: str = "batch"


@dataclasses.dataclass
class Registered:
    x: torch.Tensor
    scale: float = 2.0


class Pair:
    def __init__(self, left, right):
        self.left, self.right = left, right


Point = collections.namedtuple("Point", "x y")
torch.export.register_dataclass(Registered)
_pytree.register_pytree_node(
    Pair, lambda p: ([p.left, p.right], None), lambda leaves, _: Pair(*leaves),
    serialized_type_name="unseen.Pair")  # fmt: skip


class TakesDataclass(nn.Module):
    def forward(self, batch):
        y = batch.tokens * 2
        torch._dynamo.graph_break()
        return y if batch.mask is None else y.masked_fill(batch.mask, 0.0)


class TakesRegistered(nn.Module):
    def forward(self, given):
        y = given.x * given.scale
        if y.sum() > 0:
            y = y + 1
        return Registered(y, given.scale)


class TakesPair(nn.Module):
    def forward(self, pair):
        print("pair")
        return pair.left @ pair.right


class TakesPoint(nn.Module):
    def forward(self, point):
        return Point(point.x + point.y, point._replace(x=point.y).x)


class TakesNested(nn.Module):
    def forward(self, nested):
        nested["seen"].append(nested["x"].sum())
        first, (second, *_) = nested["pairs"]
        torch._dynamo.graph_break()
        nested["out"] = first + second
        return nested


class Ordered(nn.Module):
    def forward(self, named):
        named.move_to_end("a")
        return torch.cat([named[key] for key in named])


class GivesNothing(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        self.total.add_(x.sum(0))


class GivesSomeNothing(nn.Module):
    def forward(self, x):
        torch._dynamo.graph_break()
        return {"logits": x * 2, "loss_weight": None, "names": ["a", "b"], "steps": 3}


def dataclass(batch=2):
    mask = torch.zeros(batch, 3, dtype=torch.bool)
    return TakesDataclass(), {"batch": Batch(torch.ones(batch, 3), mask)}


def registered(batch=2):
    return TakesRegistered(), {"given": Registered(torch.ones(batch, 3))}


def pair(batch=2):
    return TakesPair(), [Pair(torch.ones(batch, 3), torch.ones(3, 4))]


def point(batch=2):
    return TakesPoint(), {"point": Point(torch.ones(batch), torch.ones(batch))}


def nested(batch=2):
    x = torch.ones(batch, 3)
    return TakesNested(), [{"x": x, "pairs": (x, [x + 1, x + 2]), "seen": []}]


def ordered(batch=2):
    return Ordered(), [collections.OrderedDict(a=torch.ones(batch), b=torch.zeros(batch))]


def gives_nothing(batch=2):
    return GivesNothing(), {"x": torch.ones(batch, 3)}


def gives_some_nothing(batch=2):
    return GivesSomeNothing(), {"x": torch.ones(batch, 3)}
