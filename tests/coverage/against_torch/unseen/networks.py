"""Layers of torch.nn and number types."""

import torch
from torch import nn
from torch.nn import functional


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, mask=None):
        y, weights = self.attention(x, x, x, key_padding_mask=mask)
        return y + x, weights


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, num_layers=2, batch_first=True)
        self.cell = nn.GRUCell(5, 5)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        state = h[-1]
        for step in y.unbind(1):
            state = self.cell(step, state)
        return state


class Packed(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(4, 5, batch_first=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = self.gru(packed)
        return nn.utils.rnn.pad_packed_sequence(y, batch_first=True)[0]


class Complex(nn.Module):
    def __init__(self):
        super().__init__()
        self.phase = nn.Parameter(torch.ones(3))

    def forward(self, x):
        y = torch.polar(torch.ones_like(self.phase), self.phase) * x
        return torch.view_as_real(torch.fft.ifft(y)).sum(-1)


class Routes(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        best = self.gate(x).argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = (best == i).nonzero().flatten()
            if rows.numel():
                out.index_add_(0, rows, expert(x[rows]))
        return out


class Integers(nn.Module):
    def forward(self, ids):
        counts = torch.bincount(ids.flatten(), minlength=5)
        return counts.cumsum(0) // 2, torch.unique(ids)


class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(), nn.AdaptiveAvgPool2d(1))

    def forward(self, x):
        y = functional.interpolate(x, scale_factor=2.0, mode="bilinear")
        return self.body(y).flatten(1)


def attends(batch=2):
    mask = torch.zeros(batch, 5, dtype=torch.bool)
    return Attends(), {"x": torch.ones(batch, 5, 8), "mask": mask}


def encoder(batch=2):
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    return nn.TransformerEncoder(layer, 2), {"src": torch.ones(batch, 5, 8)}


def recurrent(batch=2):
    return Recurrent(), {"x": torch.ones(batch, 3, 4)}


def packed():
    return Packed(), {"x": torch.ones(2, 3, 4), "lengths": torch.tensor([2, 3])}


def complex_numbers(batch=2):
    return Complex(), {"x": torch.ones(batch, 3, dtype=torch.complex64)}


def brain_floats(batch=2):
    module = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.GELU()).to(torch.bfloat16)
    return module, [torch.ones(batch, 4, dtype=torch.bfloat16)]


def routes(batch=2):
    return Routes(), {"x": torch.arange(batch * 4.0).view(batch, 4)}


def integers(batch=2):
    return Integers(), {"ids": torch.arange(4).repeat(batch, 1)}


def pictures(batch=2):
    return Pictures(), {"x": torch.ones(batch, 3, 8, 8)}


def bags(batch=2):
    return nn.EmbeddingBag(7, 3, mode="mean"), [torch.ones(batch, 4, dtype=torch.long)]


def loss(batch=2):
    return nn.CrossEntropyLoss(), [torch.ones(batch, 5), torch.ones(batch, dtype=torch.long)]
