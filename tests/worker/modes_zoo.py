"""Modules whose outcome in one mode or another can be read off. Each says in words what is to be seen of it."""

import dataclasses
import math

import torch


class Linear(torch.nn.Module):
    """Nothing breaks; it has something to train."""

    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.inner(x).relu()


class PrintsInTraining(Linear):
    """One print between two layers, in training alone: two graphs forward, two backward."""

    def forward(self, x):
        x = self.inner(x)
        if self.training:
            print("seen")
        return self.inner(x)


class NormsAcross(torch.nn.Module):
    """Nothing breaks. A norm over what is not the last axis gives, for real, other strides than a fake tensor of it."""

    def __init__(self):
        super().__init__()
        self.norm, self.inner = torch.nn.BatchNorm1d(4), torch.nn.Linear(4, 5)

    def forward(self, x):
        return self.inner(self.norm(x.transpose(1, 2)).transpose(1, 2))


class NoGradient(Linear):
    """What it returns is cut off from its parameters."""

    def forward(self, x):
        return self.inner(x).detach()


class InDataclass(Linear):
    """Returns a dataclass, as many research models do."""

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
    """A training step: returns a loss whose backward it ran."""

    def forward(self, x):
        loss = self.inner(x).exp().sum()
        loss.backward()
        return loss


class OwnLoss(Linear):
    """Returns a loss of its own beside an output."""

    class Output(dict):
        __getattr__ = dict.get

    def forward(self, x):
        y = self.inner(x)
        return self.Output(loss=y.square().mean(), logits=y)


class Drops(Linear):
    """Each of four layers is left out by chance: how much is captured depends on the draws."""

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
    """A function of the standard library on a size: a number where sizes are constants, a break where symbols."""

    def forward(self, x):
        return x + math.gcd(x.shape[0], 4)


class PrintInCallee(torch.nn.Module):
    """Met by the caller and again by the callee; once where nested breaks are allowed."""

    def inner(self, x):
        x = x + 1
        print("seen")
        return x - 1

    def forward(self, x):
        return self.inner(x) * 2


class Branch(torch.nn.Module):
    """A branch on a tensor's value: no graph of all, no export."""

    def forward(self, x):
        x = x + 1
        if x.sum() > 0:
            return x * 2
        return x - 1


class TwoBranches(torch.nn.Module):
    """Two branches on numbers out of tensors."""

    def forward(self, x):
        if x.sum().item() > 0:
            x = x * 2
        if x.max().item() > 1:
            x = x + 1
        return x


class Item(torch.nn.Module):
    """A number out of a tensor: a break, except where one graph is demanded, which takes it in as a symbol."""

    def forward(self, x):
        return x + (x * 2).sum().item()


class ReturnsAnObject(torch.nn.Module):
    """What it returns is of a class that nobody can take apart."""

    class Holder:
        def __init__(self, x):
            self.x = x

    def forward(self, x):
        return self.Holder(x + 1)


class NeverExported(torch.nn.Module):
    """Turns round for ever while it is exported."""

    def forward(self, x):
        while torch.compiler.is_exporting():
            pass
        return x + 1


class BreaksOnThree(torch.nn.Module):
    """A print for a batch of three alone: the second shape's."""

    def forward(self, x):
        x = x + 1
        if x.shape[0] == 3:
            print("seen")
        return x * 2


class NoTensor(torch.nn.Module):
    """Takes nothing that has a size."""

    def forward(self, x):
        return torch.ones(2) * x
