"""Code outside of forward: hooks, attribute lookups, containers of modules, modules with states."""

import copy

import torch
from torch import nn


class Part(nn.Module):
    def __init__(self, talks=False):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.talks = talks

    def forward(self, x):
        y = self.linear(x)
        if self.talks:
            print("part")
        return y.relu()


class TensorHook(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        y = self.linear(x)
        if y.requires_grad:
            y.register_hook(lambda grad: grad * 2)
        return y * 3


class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(Part(talks=i == 1) for i in range(4))
        self.named = nn.ModuleDict({"last": Part(), "first": Part(talks=True)})

    def forward(self, x):
        for part in self.parts:
            x = part(x) + x
        for name in ("first", "last"):
            x = self.named[name](x)
        return x


class Machine(nn.Module):
    """Passes through its states within a call, and ends each call in another one."""

    def __init__(self):
        super().__init__()
        self.state = "start"
        self.moves = {"start": "middle", "middle": "end", "end": "start"}
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        x = self.step(x)
        return self.step(x)

    def step(self, x):
        if self.state == "start":
            x = self.linear(x)
        elif self.state == "middle":
            print("middle")
            x = x.sin()
        else:
            x = x.cos()
        self.state = self.moves[self.state]
        return x


class Numbered(nn.Module):
    """The same code with another number at each call: compiled again and again, up to the limit."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleList(Scaled(i) for i in range(11))

    def forward(self, x):
        for part in self.parts:
            torch._dynamo.graph_break()
            x = part(x)
        return x


class Scaled(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = str(number)

    def forward(self, x):
        return x + float(self.number)


class OwnLookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Part()

    def __getattr__(self, name):
        if name == "short":
            return super().__getattr__("inner")
        return super().__getattr__(name)

    def forward(self, x):
        return self.short(x)


class OwnCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Part(talks=True)

    def __call__(self, x):
        return super().__call__(x * 2) + 1

    def forward(self, x):
        return self.inner(x)


class CopiesItself(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        twin = copy.deepcopy(self.part)
        return twin(x) + self.part(x)


class Recursive(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.child = Recursive(depth - 1) if depth else None

    def forward(self, x):
        x = self.linear(x)
        if self.child is None:
            torch._dynamo.graph_break()
            return x
        return self.child(x) + x


class ChangesMode(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        if self.training:
            torch._dynamo.graph_break()
        self.drop.eval()
        return self.drop(self.linear(x))


def forward_hook(batch=2):
    module = nn.Sequential(nn.Linear(3, 3), nn.ReLU())
    module[0].register_forward_hook(lambda mod, args, out: print("hook") or out * 2)
    return module, [torch.ones(batch, 3)]


def hook_with_list(batch=2):
    module, kept = Part(), []
    module.linear.register_forward_hook(lambda mod, args, out: kept.append(out))
    module.register_forward_pre_hook(lambda mod, args, kwargs: (args, {"x": kwargs["x"] * 2}), with_kwargs=True)
    return module, {"x": torch.ones(batch, 3)}


def backward_hook(batch=2):
    module = Part()
    module.linear.register_full_backward_hook(lambda mod, grad_in, grad_out: None)
    return module, {"x": torch.ones(batch, 3)}


def tensor_hook(batch=2):
    return TensorHook(), {"x": torch.ones(batch, 3)}


def loop(batch=2):
    return Loop(), {"x": torch.ones(batch, 3)}


def machine(batch=2):
    return Machine(), {"x": torch.ones(batch, 3)}


def numbered(batch=2):
    return Numbered(), {"x": torch.ones(batch, 3)}


def own_lookup(batch=2):
    return OwnLookup(), {"x": torch.ones(batch, 3)}


def own_call(batch=2):
    return OwnCall(), {"x": torch.ones(batch, 3)}


def copies_itself(batch=2):
    return CopiesItself(), {"x": torch.ones(batch, 3)}


def recursive(batch=2):
    return Recursive(3), {"x": torch.ones(batch, 3)}


def changes_mode(batch=2):
    return ChangesMode(), {"x": torch.ones(batch, 3)}
