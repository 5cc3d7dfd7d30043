"""Small modules to measure, and backends that misbehave. Test data."""

import dataclasses
import os
import signal

import torch
import transformers
from breakwatch_worker.profile.backends import Backend


class Whole(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x).relu()


class BreaksBetween(torch.nn.Module):
    """Two graphs with one break between them."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return self.second(x).relu()


class Layer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class BreaksInLoop(torch.nn.Module):
    """Dynamo skips `forward`. The three layers share one graph, which gets the parameters of each."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer() for _ in range(3))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            torch._dynamo.graph_break()
        return x


class ReadsAValue(torch.nn.Module):
    """One graph with capture_scalar_outputs, else two."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.first(x)
        return self.second(x) * x.sum().item()


@dataclasses.dataclass
class Cached:
    value: torch.Tensor
    cache: transformers.DynamicCache


class ReturnsACache(torch.nn.Module):
    """Its output is no tuple of tensors, as that of language models."""

    def forward(self, x):
        cache = transformers.DynamicCache()
        cache.update(x[None, None], x[None, None], 0)
        return Cached(x + 1, cache)


class NotInOnnx(torch.nn.Module):
    """ONNX has no operator for the second graph."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.first(x)
        torch._dynamo.graph_break()
        return torch.linalg.eigvals(x[:, :4]).real


class CompilesAgain(torch.nn.Module):
    """Other graphs in the first calls, by a number that is part of the graph, until Dynamo makes it a variable."""

    def __init__(self):
        super().__init__()
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        torch._dynamo.graph_break()
        return x + len("x" * self.calls)


class Draws(torch.nn.Module):
    def forward(self, x):
        return x + torch.rand_like(x)


class _Strange(Backend):
    with_dynamo = True

    def compile_graph(self, piece):
        return self.run

    def compile_model(self, model, positional, named, dynamic):
        return self.run


class Wrong(_Strange):
    def run(self, *given, **named):
        return (torch.zeros(4, 4),)


class Crashes(_Strange):
    def run(self, *given, **named):
        os.kill(os.getpid(), signal.SIGSYS)


class Greedy(_Strange):
    def run(self, *given, **named):
        return (torch.zeros(1 << 40),)
