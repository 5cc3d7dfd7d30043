"""Control flow: branches on values, loops, generators, exceptions and context managers."""

import contextlib
import sys

import torch
from torch import nn


class Branches(nn.Module):
    def forward(self, x):
        y = x.sum()
        if y > 0 and x.min() > -5:
            return x * 2
        return x * 3


class Items(nn.Module):
    def forward(self, x, ids):
        last = ids.max().item()
        return x[:last] * 2


class WhileLoop(nn.Module):
    def forward(self, x):
        while x.norm() > 1:
            x = x / 2
        return x + 1


class Generates(nn.Module):
    def pieces(self, x):
        for row in x.unbind(0):
            yield row * 2
            torch._dynamo.graph_break()

    def forward(self, x):
        return torch.stack(list(self.pieces(x)))


class Comprehends(nn.Module):
    def forward(self, x):
        rows = [self.one(row, i) for i, row in enumerate(x.unbind(0))]
        return {i + 1: row for i, row in enumerate(rows)}[1]

    def one(self, row, i):
        if i == 1:
            print("one")
        return row + i


class Catches(nn.Module):
    def forward(self, x):
        try:
            if x.shape[0] > 1:
                raise ValueError("several")
            return x
        except ValueError as error:
            return x * len(str(error))
        finally:
            x.add_(1)


class Exits(nn.Module):
    def forward(self, x):
        try:
            sys.exit(3)
        except SystemExit as error:
            return x * error.code


@contextlib.contextmanager
def announced(name):
    print("enter", name)
    yield name
    print("leave")


class Manages(nn.Module):
    def forward(self, x):
        with announced("block") as name:
            y = x * len(name)
            torch._dynamo.graph_break()
            y = y + 1
        return y.sin()


class OwnManager:
    def __enter__(self):
        return 2

    def __exit__(self, *exc):
        return False


class ManagesQuietly(nn.Module):
    def forward(self, x):
        with OwnManager() as factor, torch.autocast("cpu", dtype=torch.bfloat16):
            y = x @ x.t() * factor
        with torch.no_grad():
            torch._dynamo.graph_break()
            z = y * 2
        return z + y


class Asserts(nn.Module):
    def forward(self, x):
        assert x.sum() > 0, "positive only"
        assert x.shape[-1] == 3
        return x.log()


class Masks(nn.Module):
    def forward(self, x):
        kept = x[x > 0]
        if kept.numel() == 0:
            return x
        return torch.nonzero(kept).sum() + kept.sum()


class Recurs(nn.Module):
    def forward(self, x):
        return self.down(x, 3)

    def down(self, x, depth):
        if depth == 0:
            return x
        y = self.down(x * 2, depth - 1)
        return y + 1 if y.sum() > 0 else y


class GeneratorFunction(nn.Module):
    """Returns a generator that has not started."""

    def forward(self, x):
        y = x * 2
        return (row + 1 for row in y.unbind(0))


def branches(batch=2):
    return Branches(), {"x": torch.ones(batch, 3)}


def items(batch=2):
    return Items(), {"x": torch.ones(batch + 3, 3), "ids": torch.tensor([1, 2])}


def while_loop(batch=2):
    return WhileLoop(), {"x": torch.ones(batch, 3) * 4}


def generates(batch=2):
    return Generates(), {"x": torch.ones(batch, 3)}


def comprehends(batch=2):
    return Comprehends(), {"x": torch.ones(batch, 3)}


def catches(batch=2):
    return Catches(), {"x": torch.ones(batch, 3)}


def exits(batch=2):
    return Exits(), {"x": torch.ones(batch, 3)}


def manages(batch=2):
    return Manages(), {"x": torch.ones(batch, 3)}


def manages_quietly(batch=2):
    return ManagesQuietly(), {"x": torch.ones(batch, 3)}


def asserts(batch=2):
    return Asserts(), {"x": torch.ones(batch, 3)}


def masks(batch=2):
    return Masks(), {"x": torch.ones(batch, 3)}


def recurs(batch=2):
    return Recurs(), {"x": torch.ones(batch, 3)}


def generator_function(batch=2):
    return GeneratorFunction(), {"x": torch.ones(batch, 3)}
