"""Arguments that are views, share memory, are leaves or have a gradient: an inexact copy changes the path."""

import torch
from torch import nn


class InPlace(nn.Module):
    def forward(self, x):
        x.add_(1)
        return x * 2


class AsksWhetherView(nn.Module):
    def forward(self, x):
        if x._is_view():
            torch._dynamo.graph_break()
        return x.relu() + 1


class AsksForStrides(nn.Module):
    def forward(self, x):
        if not x.is_contiguous() and x.stride(0) == 1:
            print("transposed")
        return x @ x.transpose(0, 1)


class AsksForZeroStride(nn.Module):
    def forward(self, x):
        if 0 in x.stride():
            torch._dynamo.graph_break()
        return x.sum(0)


class TwoArguments(nn.Module):
    def forward(self, first, second):
        first.mul_(3)
        if first is second:
            torch._dynamo.graph_break()
        return first - second


class SharedStorage(nn.Module):
    def forward(self, first, second):
        first.add_(1)
        same = first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()
        return second * 2 if same else second * 3


class AsksForGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        if x.requires_grad and x.is_leaf:
            torch._dynamo.graph_break()
        y = self.linear(x)
        if x.grad is not None:
            y = y + x.grad
        return y


class TakesWeight(nn.Module):
    def forward(self, x, weight):
        if isinstance(weight, nn.Parameter):
            torch._dynamo.graph_break()
        return x @ weight


class AsksForBase(nn.Module):
    def forward(self, x):
        if x._base is not None:
            print("a view of", tuple(x._base.shape))
        return x.exp()


class WritesThroughView(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        row = x[0]
        row.zero_()
        y = self.linear(x)
        y[:, 0].add_(1)
        return y


class Resizes(nn.Module):
    def forward(self, x):
        out = torch.empty(0)
        torch.add(x, 1, out=out)
        x.t_()
        return out.sum() + x


class TakesRow(nn.Module):
    """A view of another module's weight: not a leaf, and with a gradient's history."""

    def forward(self, row):
        if row.grad_fn is not None:
            torch._dynamo.graph_break()
        return row * 2


def in_place(batch=2):
    return InPlace(), {"x": torch.ones(batch, 4)}


def in_place_on_view(batch=2):
    return InPlace(), {"x": torch.zeros(batch + 1, 6)[1:, ::2]}


def in_place_on_leaf_view(batch=2):
    return InPlace(), [torch.ones(batch, 3, requires_grad=True).view(batch, 3)]


def view_or_not(batch=2):
    return AsksWhetherView(), {"x": torch.ones(batch, 4)}


def view_indeed(batch=2):
    return AsksWhetherView(), {"x": torch.ones(batch, 4)[:, 1:]}


def transposed(batch=2):
    return AsksForStrides(), {"x": torch.ones(5, batch).t()}


def expanded(batch=2):
    return AsksForZeroStride(), {"x": torch.ones(1, 3).expand(batch, 3)}


def overlapping_rows(batch=2):
    return AsksForZeroStride(), {"x": torch.ones(batch + 2).as_strided((batch, 3), (1, 1))}


def same_twice(batch=2):
    x = torch.ones(batch, 3)
    return TwoArguments(), {"first": x, "second": x}


def equal_not_same(batch=2):
    return TwoArguments(), {"first": torch.ones(batch, 3), "second": torch.ones(batch, 3)}


def overlapping(batch=2):
    base = torch.arange(12.0)
    return SharedStorage(), {"first": base[:8].view(batch, -1), "second": base[4:].view(batch, -1)}


def leaf_with_gradient(batch=2):
    x = torch.ones(batch, 3, requires_grad=True)
    x.grad = torch.full((batch, 3), 0.5)
    return AsksForGradient(), {"x": x}


def needs_gradient_no_leaf(batch=2):
    return AsksForGradient(), {"x": torch.ones(batch, 3, requires_grad=True) * 2}


def parameter_argument(batch=2):
    return TakesWeight(), {"x": torch.ones(batch, 3), "weight": nn.Parameter(torch.eye(3))}


def base_of_view(batch=2):
    return AsksForBase(), [torch.zeros(4, batch, 3)[1]]


def base_of_none(batch=2):
    return AsksForBase(), [torch.zeros(batch, 3)]


def writes_through_view(batch=2):
    return WritesThroughView(), {"x": torch.ones(batch, 4)}


def resizes(batch=2):
    return Resizes(), {"x": torch.ones(batch, batch)}


def row_of_weight():
    return TakesRow(), [nn.Linear(4, 4).weight[1]]
