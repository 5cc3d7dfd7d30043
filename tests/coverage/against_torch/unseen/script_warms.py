"""A script that calls its module several times: the first call counts, before any other."""

import torch
from torch import nn

SEEN = {}


class Warms(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x, scale=1.0):
        if x.shape not in SEEN:
            SEEN[x.shape] = len(SEEN)
            print("new shape")
        return x * self.weight * scale


def make():
    return Warms(), (torch.ones(2, 3),), {"scale": 2.0}


if __name__ == "__main__":
    module, args, kwargs = make()
    with torch.no_grad():
        for _ in range(4):
            module(*args, **kwargs)
