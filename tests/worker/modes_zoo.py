"""Modules whose result in a mode is known from their code. Each docstring describes it."""

import dataclasses
import math

import torch


class Linear(torch.nn.Module):
    """No breaks; it has a parameter to train."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.inner(x).relu()


class PrintsInTraining(Linear):
    """One print between two layers, in training only: two graphs forward, two backward."""

    def forward(self, x):
        x = self.inner(x)
        if self.training:
            print("seen")
        return self.inner(x)


class NormsAcross(torch.nn.Module):
    """No breaks. For a norm over an axis that is not the last one, a real tensor has other strides than a fake one."""

    def __init__(self):
        super().__init__()
        self.norm, self.inner = torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 5)

    def forward(self, x):
        return self.inner(self.norm(x.transpose(1, 2)).transpose(1, 2))


class NoGradient(Linear):
    """The returned tensor is detached from the parameters."""

    def forward(self, x):
        return self.inner(x).detach()


class InDataclass(Linear):
    """Returns a dataclass, like many research models."""

    @dataclasses.dataclass
    class Output:
        logits: torch.Tensor

    def forward(self, x):
        return self.Output(self.inner(x))


class Complex(Linear):
    """Its output has an imaginary part."""

    def forward(self, x):
        return torch.view_as_complex(torch.stack([self.inner(x), self.inner(x)], dim=-1))


class OwnBackward(Linear):
    """A training step: returns a loss after its backward."""

    def forward(self, x):
        loss = self.inner(x).exp().sum()
        loss.backward()
        return loss


class OwnLoss(Linear):
    """Returns its own loss beside an output."""

    class Output(dict):
        __getattr__ = dict.get

    def forward(self, x):
        y = self.inner(x)
        return self.Output(loss=y.square().mean(), logits=y)


class Drops(Linear):
    """Each of four layers is dropped at random: what is captured depends on the random numbers."""

    def forward(self, x):
        if torch.rand(()) < 0.5:
            x = self.inner(x)
        if torch.rand(()) < 0.5:
            x = self.inner(x)
        if torch.rand(()) < 0.5:
            x = self.inner(x)
        if torch.rand(()) < 0.5:
            x = self.inner(x)
        return x + 1


class GreatestDivisor(torch.nn.Module):
    """A function of the standard library with a size as its argument: a number if sizes are constants, a break if they
    are symbols."""

    def forward(self, x):
        return x + math.gcd(x.shape[0], 4)


class PrintInCallee(torch.nn.Module):
    """The caller and the callee log the break; with nested breaks it is logged once."""

    def inner(self, x):
        x = x + 1
        print("seen")
        return x - 1

    def forward(self, x):
        return self.inner(x) * 2


class Branch(torch.nn.Module):
    """A branch on a tensor's value: not one full graph, no export."""

    def forward(self, x):
        x = x + 1
        if x.sum() > 0:
            return x * 2
        return x - 1


class TwoBranches(torch.nn.Module):
    """Two branches on numbers read from tensors."""

    def forward(self, x):
        if x.sum().item() > 0:
            x = x * 2
        if x.max().item() > 1:
            x = x + 1
        return x


class Item(torch.nn.Module):
    """A number read from a tensor: a break, except with fullgraph, where it becomes a symbol."""

    def forward(self, x):
        return x + (x * 2).sum().item()


class ReturnsAnObject(torch.nn.Module):
    """Returns an object of a class that is not a pytree node."""

    class Holder:
        def __init__(self, x):
            self.x = x

    def forward(self, x):
        return self.Holder(x + 1)


class NeverExported(torch.nn.Module):
    """Loops for ever while it is exported."""

    def forward(self, x):
        while torch.compiler.is_exporting():
            pass
        return x + 1


class BreaksOnThree(torch.nn.Module):
    """A print for batch size three only, which is the second shape."""

    def forward(self, x):
        x = x + 1
        if x.shape[0] == 3:
            print("seen")
        return x * 2


class NoTensor(torch.nn.Module):
    """Has no argument with a size."""

    def forward(self, x):
        return torch.ones(2) * x
