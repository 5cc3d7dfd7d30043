"""Calls outside of torch: logging, numpy, the clock, files, code that is excluded from compilation."""

import json
import logging
import random
import time
import warnings
from pathlib import Path

import numpy as np
import torch
from torch import nn

log = logging.getLogger(__name__)


class Logs(nn.Module):
    def forward(self, x):
        log.info("given %s", tuple(x.shape))
        y = x * 2
        log.warning("twice")
        return y + 1


class Warns(nn.Module):
    def forward(self, x):
        y = x + 1
        warnings.warn("odd", stacklevel=2)
        return y * 2


class Numpy(nn.Module):
    def forward(self, x):
        angles = np.linspace(0, 1, 3, dtype=np.float32)
        y = torch.from_numpy(np.cos(angles)) * x
        return y + float(np.random.RandomState(0).rand())


class NumpyOfTensor(nn.Module):
    def forward(self, x):
        a = x.detach().numpy()
        return torch.as_tensor(np.percentile(a, 50)) + x


class Clock(nn.Module):
    def forward(self, x):
        begun = time.perf_counter()
        y = x.exp()
        self.took = time.perf_counter() - begun
        return y


class Draws(nn.Module):
    def forward(self, x):
        y = x + torch.rand_like(x)
        if random.random() > 2:
            y = y * 2
        generator = torch.Generator().manual_seed(1)
        return y + torch.randn(3, generator=generator)


class Serialises(nn.Module):
    def forward(self, x):
        sizes = json.loads(json.dumps({"rows": x.shape[0]}))
        return x * sizes["rows"]


class ReadsFile(nn.Module):
    def forward(self, x):
        lines = Path(__file__).with_name("words.txt").read_text().split()
        return x * len(lines)


class NotCompiled(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 3)

    @torch.compiler.disable
    def outside(self, x):
        return self.inner(x) * 2

    def forward(self, x):
        return self.outside(x.sin()) + self.outside(x.cos())


class AsksWhetherCompiling(nn.Module):
    def forward(self, x):
        if torch.compiler.is_compiling():
            torch._dynamo.graph_break()
        return x * 2


class SavesTensor(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words = words
        self.embed = nn.Embedding(len(words), 4)

    def forward(self, ids):
        return self.embed(ids), self.words[:2]


class ReadsDevice(nn.Module):
    def forward(self, x):
        if torch.get_default_dtype() is torch.float32 and x.device.type == "cpu" and torch.get_num_threads() > 0:
            return x.to(torch.float64).sum(dtype=torch.float32) + id(self) * 0
        return x


def logs(batch=2):
    return Logs(), {"x": torch.ones(batch, 3)}


def warns(batch=2):
    return Warns(), {"x": torch.ones(batch, 3)}


def numpy(batch=2):
    return Numpy(), {"x": torch.ones(batch, 3)}


def numpy_of_tensor(batch=2):
    return NumpyOfTensor(), {"x": torch.ones(batch, 3)}


def clock(batch=2):
    return Clock(), {"x": torch.ones(batch, 3)}


def draws(batch=2):
    return Draws(), {"x": torch.ones(batch, 3)}


def serialises(batch=2):
    return Serialises(), {"x": torch.ones(batch, 3)}


def reads_file(batch=2):
    return ReadsFile(), {"x": torch.ones(batch, 3)}


def not_compiled(batch=2):
    return NotCompiled(), {"x": torch.ones(batch, 3)}


def asks_whether_compiling(batch=2):
    return AsksWhetherCompiling(), {"x": torch.ones(batch, 3)}


def relative_file(batch=2):
    return SavesTensor(Path("unseen/words.txt").read_text().split()), {"ids": torch.ones(batch, 3, dtype=torch.long)}


def reads_device(batch=2):
    return ReadsDevice(), {"x": torch.ones(batch, 3)}
