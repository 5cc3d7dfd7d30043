"""Parameters and buffers that are lazy, sparse, nested, tied, updated or parametrised."""

import torch
from torch import nn


class SparseBuffer(nn.Module):
    def __init__(self, layout):
        super().__init__()
        dense = torch.eye(4)
        self.register_buffer("links", dense.to_sparse() if layout == "coo" else dense.to_sparse_csr())

    def forward(self, x):
        return torch.sparse.mm(self.links, x) + 1


class TakesNestedTensor(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x).relu()


class NestedInside(nn.Module):
    def forward(self, x):
        parts = torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged)
        return (parts * 2).to_padded_tensor(0.0)


class Lazy(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.LazyLinear(5)
        self.second = nn.Linear(5, 2)

    def forward(self, x):
        return self.second(self.first(x).relu())


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.zeros((), dtype=torch.long))
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        self.steps += 1
        if self.steps == 1:
            x = x * 2
        return self.norm(x)


class MakesBuffer(nn.Module):
    def forward(self, x):
        if "cache" not in self._buffers:
            self.register_buffer("cache", torch.zeros_like(x), persistent=False)
        self.cache = self.cache * 0.9 + x * 0.1
        return self.cache * 2


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(11, 4)
        self.head = nn.Linear(4, 11, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        if self.head.weight is self.embed.weight:
            torch._dynamo.graph_break()
        return self.head(self.embed(ids))


class Parametrised(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.utils.parametrizations.weight_norm(nn.Linear(3, 3))
        self.spectral = nn.utils.parametrizations.spectral_norm(nn.Linear(3, 3))

    def forward(self, x):
        return self.spectral(self.linear(x))


class ListsOfWeights(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList(torch.full((3,), float(i + 1)) for i in range(3))
        self.named = nn.ParameterDict({"a": torch.ones(3), "b": torch.zeros(3)})
        self.frozen = nn.Parameter(torch.ones(3), requires_grad=False)

    def forward(self, x):
        for scale in self.scales:
            x = x * scale
        for name, weight in self.named.items():
            x = x + weight * len(name)
        return x * self.frozen


class WritesWeight(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x):
        with torch.no_grad():
            self.weight.clamp_(-0.5, 0.5)
        return x * self.weight


class WeightsData(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        self.linear.weight.data = self.linear.weight.data * 0.5
        return self.linear(x)


def sparse_coo():
    return SparseBuffer("coo"), {"x": torch.ones(4, 2)}


def sparse_csr():
    return SparseBuffer("csr"), {"x": torch.ones(4, 2)}


def jagged():
    parts = [torch.ones(2, 4), torch.ones(3, 4)]
    return TakesNestedTensor(), {"x": torch.nested.nested_tensor(parts, layout=torch.jagged)}


def nested_inside():
    return NestedInside(), {"x": torch.ones(2, 3, 4)}


def lazy(batch=2):
    return Lazy(), {"x": torch.ones(batch, 7)}


def counts(batch=2):
    return Counts(), {"x": torch.arange(batch * 3.0).view(batch, 3)}


def makes_buffer():
    return MakesBuffer(), {"x": torch.ones(2, 3)}


def tied(batch=2):
    return Tied(), {"ids": torch.ones(batch, 5, dtype=torch.long)}


def parametrised(batch=2):
    return Parametrised(), {"x": torch.ones(batch, 3)}


def lists_of_weights(batch=2):
    return ListsOfWeights(), {"x": torch.ones(batch, 3)}


def writes_weight(batch=2):
    return WritesWeight(), {"x": torch.ones(batch, 3)}


def weights_data(batch=2):
    return WeightsData(), {"x": torch.ones(batch, 3)}
