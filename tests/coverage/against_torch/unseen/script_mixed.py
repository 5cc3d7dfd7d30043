"""A script that calls its module with every kind of argument at once."""

import torch
from torch import nn


class Mixed(nn.Module):
    def forward(self, x, *rest, flag, **named):
        y = x * len(rest)
        torch._dynamo.graph_break()
        for name in named:
            y = y + named[name]
        return y if flag else -y


def make():
    return Mixed(), (torch.ones(2, 3), torch.ones(2), 4), {"flag": True, "shift": torch.ones(3)}


if __name__ == "__main__":
    module, args, kwargs = make()
    for _ in range(3):
        module(*args, **kwargs)
