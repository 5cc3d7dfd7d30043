"""Operators of one's own, what is kept out of the compiler, copies and chance."""

import copy

import torch
from torch._dynamo.comptime import comptime
from zoo_counts import counts, kinds_of


def define(name: str, fake) -> None:
    torch.library.define(f"breakwatch_zoo::{name}", "(Tensor x) -> Tensor")
    torch.library.impl(f"breakwatch_zoo::{name}", "cpu")(lambda x: x.clone())
    if fake is not None:
        torch.library.register_fake(f"breakwatch_zoo::{name}")(fake)


def unfinished(x):
    raise NotImplementedError("not yet")


def wrong(x):
    raise TypeError("an argument is missing")


define("opaque", None)
define("known", torch.empty_like)
define("unfinished", unfinished)
define("wrong", wrong)


class Loud(torch.nn.Module):
    def forward(self, x):
        return x * 2


class CustomOp(torch.nn.Module):
    """An operator without a fake kernel: its result has no shape to go on with, so the call is refused (counted). Its
    kernel, in Python, is a frame compiled when it runs: a third graph, between forward's two."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0090")

    def forward(self, x):
        return torch.ops.breakwatch_zoo.opaque(x + 1) * 2


class CustomOpWithFake(torch.nn.Module):
    """The same with a fake kernel is an operation like another."""

    expected = counts(events=0, sites=0, graphs=1, ops=3, counter=0, explain=0)

    def forward(self, x):
        return torch.ops.breakwatch_zoo.known(x + 1) * 2


class FakeUnfinished(torch.nn.Module):
    """A fake kernel that is not written yet says so. As CustomOp: the real kernel is the third graph."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0087")

    def forward(self, x):
        return torch.ops.breakwatch_zoo.unfinished(x + 1) * 2


class FakeWrong(torch.nn.Module):
    """A fake kernel that fails over its arguments."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0112")

    def forward(self, x):
        return torch.ops.breakwatch_zoo.wrong(x + 1) * 2


class DeepcopyTensor(torch.nn.Module):
    """A tensor copied by the copy module."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4198")

    def forward(self, x):
        y = copy.deepcopy(x + 1)
        return y * 2


class DeepcopyObject(torch.nn.Module):
    """A dictionary of plain values copied by the copy module is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.settings = {"scale": [2]}

    def forward(self, x):
        settings = copy.deepcopy(self.settings)
        return x * settings["scale"][0]


class DeepcopyModule(torch.nn.Module):
    """A layer copied on the way: forward meets what the copy module does with its state, before any operation; the copy
    module's own frames are skipped by their file. Everything else is one graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=1, explain=0, ids="GB0116",
                      until={"2.13": (
                          "the copy came as far as setting its state",
                          {"ids": ["GB0008"]})})

    def __init__(self):
        super().__init__()
        self.layer = Loud()

    def forward(self, x):
        layer = copy.deepcopy(self.layer)
        return layer(x + 1)


class DisabledModule(torch.nn.Module):
    """A layer that is kept out of the compiler: once, for it is no frame of the compiler's, and in no graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0098")

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Tanh()
        self.layer.forward = torch.compiler.disable(self.layer.forward)

    def forward(self, x):
        return self.layer(x + 1) * 2


class DisabledTwice(torch.nn.Module):
    """A disabled function called at two places; what it computes is in no graph."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0099")

    @torch.compiler.disable
    def inner(self, x):
        return x * 3

    def forward(self, x):
        x = self.inner(x + 1)
        return self.inner(x) + 2


class DisabledForItself(torch.nn.Module):
    """Not traced itself, and what it calls is: its addition is in no graph, the two operations of the callee are."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def inner(self, x):
        return torch.relu(x * 3)

    @torch.compiler.disable(recursive=False)
    def forward(self, x):
        return self.inner(x + 1)


class DisabledInside(torch.nn.Module):
    """disable() called in forward is refused before there is an operation; calling what it made is refused in turn,
    between the two graphs. One line, two kinds: two sites."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0098,GB0377",
                      until={"2.13": (
                          "the call of disable had no kind of its own",
                          {"ids": ["GB0007", "GB0098"]})})

    def inner(self, x):
        return x * 3

    def forward(self, x):
        return torch.compiler.disable(self.inner)(x + 1) * 2


class WhetherCompiling(torch.nn.Module):
    """What stands behind is_compiling is never met."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            print("seen")
        return x * 2


class Comptime(torch.nn.Module):
    """comptime's break: met by forward, at the line in torch that makes it, which is no frame of the compiler's."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0030")

    def forward(self, x):
        x = x + 1
        comptime.graph_break()
        return x * 2


class Jit(torch.nn.Module):
    """A scripted layer is no module that Dynamo can look into, and the frame that calls it is skipped."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB4695",
                      wrapped="frame skipped", fallback=1)

    def __init__(self):
        super().__init__()
        self.scripted = torch.jit.script(torch.nn.Tanh())

    def forward(self, x):
        return self.scripted(x + 1) * 2


class RandomGenerator(torch.nn.Module):
    """A random generator made on the way: making it (an object of torch's from nowhere), seeding it, and drawing with
    it, since it cannot be an argument in a graph, are three calls refused, all counted, one behind the other with no
    operation between: three sites, three kinds. The addition at the end is the only graph."""

    expected = counts(events=3, sites=3, graphs=1, ops=1, counter=3, explain=0, ids="GB0055,GB0363,GB7650")

    def forward(self, x):
        generator = torch.Generator().manual_seed(0)
        return x + torch.rand(3, generator=generator)


class Seeded(torch.nn.Module):
    """torch's own functions for chance are not looked into."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        torch.manual_seed(3)
        return x * 2


class RandomState(torch.nn.Module):
    """Its state asked and set again: two calls refused, nothing between them."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        state = torch.get_rng_state()
        torch.set_rng_state(state)
        return x * 2


class RandomForked(torch.nn.Module):
    """The same by a context manager: what is refused is inside its entering, where there is no going on, so forward is
    skipped (not counted)."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0007", wrapped="frame skipped",
                      fallback=1,
                      until={"2.13": (
                          "making it was refused (counted), and what was made could not be entered",
                          {"events": 2, "sites": 2, "graphs": 1, "ops": 1, "counter": 1, "explain": 0,
                           "ids": ["GB0142", "GB0208"]})})

    def forward(self, x):
        x = x + 1
        with torch.random.fork_rng(devices=[]):
            x = x * 2
        return x + 3


ALL = kinds_of(globals())
