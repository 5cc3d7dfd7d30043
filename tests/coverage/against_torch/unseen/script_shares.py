"""A script whose arguments are views of its own weight and share memory."""

import torch
from torch import nn


class Shares(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(4, 3))

    def forward(self, row, x, /, *, also):
        if also.untyped_storage().data_ptr() == x.untyped_storage().data_ptr():
            x = x + 1
        if row._base is self.weight:
            torch._dynamo.graph_break()
        return (self.weight * row).sum(0) + x - also


def make():
    module, x = Shares(), torch.zeros(6)
    return module, (module.weight[0], x[:3]), {"also": x[3:]}


if __name__ == "__main__":
    module, args, kwargs = make()
    module(*args, **kwargs)
