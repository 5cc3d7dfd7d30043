"""A factory for tests of `profile`: a module and its inputs."""

import torch


class Breaks(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.linear(x)
        torch._dynamo.graph_break()
        return x.relu()


def module():
    return Breaks(), {"x": torch.ones(3, 4)}
