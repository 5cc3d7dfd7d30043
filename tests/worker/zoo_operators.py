"""Custom operators, disabled functions, copies and random numbers."""

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
    """An operator without a fake kernel: Dynamo does not know the shape of its result, so the call is rejected
    (counted). Its Python kernel is a frame that is compiled when it runs: a third graph, between forward's two."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0090")

    def forward(self, x):
        return torch.ops.breakwatch_zoo.opaque(x + 1) * 2


class CustomOpWithFake(torch.nn.Module):
    """The same with a fake kernel is an operation like any other."""

    expected = counts(events=0, sites=0, graphs=1, ops=3, counter=0, explain=0)

    def forward(self, x):
        return torch.ops.breakwatch_zoo.known(x + 1) * 2


class FakeUnfinished(torch.nn.Module):
    """A fake kernel that raises NotImplementedError. As for CustomOp, the real kernel is the third graph."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0087")

    def forward(self, x):
        return torch.ops.breakwatch_zoo.unfinished(x + 1) * 2


class FakeWrong(torch.nn.Module):
    """A fake kernel that fails because of its arguments."""

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
    """A dictionary of constants copied by the copy module is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.settings = {"scale": [2]}

    def forward(self, x):
        settings = copy.deepcopy(self.settings)
        return x * settings["scale"][0]


class DeepcopyModule(torch.nn.Module):
    """A layer copied in forward: forward logs the break in what the copy module does with the layer's state, before any
    operation. The copy module's own frames are skipped because of their file. Everything else is one graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=1, explain=0, ids="GB0116",
                      until={"2.13": (
                          "the break came later, when the copy's state was set",
                          {"ids": ["GB0008"]})})

    def __init__(self):
        super().__init__()
        self.layer = Loud()

    def forward(self, x):
        layer = copy.deepcopy(self.layer)
        return layer(x + 1)


class DisabledModule(torch.nn.Module):
    """A disabled layer: one event, because it is not compiled as a frame, and its operations are in no graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0098")

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Tanh()
        self.layer.forward = torch.compiler.disable(self.layer.forward)

    def forward(self, x):
        return self.layer(x + 1) * 2


class DisabledTwice(torch.nn.Module):
    """A disabled function called at two places; its operations are in no graph."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0099")

    @torch.compiler.disable
    def inner(self, x):
        return x * 3

    def forward(self, x):
        x = self.inner(x + 1)
        return self.inner(x) + 2


class DisabledForItself(torch.nn.Module):
    """The function itself is not traced, but its callees are: its addition is in no graph, the two operations of the
    callee are."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def inner(self, x):
        return torch.relu(x * 3)

    @torch.compiler.disable(recursive=False)
    def forward(self, x):
        return self.inner(x + 1)


class DisabledInside(torch.nn.Module):
    """disable() called in forward is rejected before there is an operation. The call of its result is also rejected,
    between the two graphs. One line, two reasons: two sites."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0098,GB0377",
                      until={"2.13": (
                          "the call of disable had no break type of its own",
                          {"ids": ["GB0007", "GB0098"]})})

    def inner(self, x):
        return x * 3

    def forward(self, x):
        return torch.compiler.disable(self.inner)(x + 1) * 2


class WhetherCompiling(torch.nn.Module):
    """Code behind is_compiling is never reached."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            print("seen")
        return x * 2


class Comptime(torch.nn.Module):
    """comptime's break: forward logs it at the line in torch that makes it, which is not compiled as a frame."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0030")

    def forward(self, x):
        x = x + 1
        comptime.graph_break()
        return x * 2


class Jit(torch.nn.Module):
    """Dynamo cannot trace a scripted layer, and skips the frame that calls it."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB4695",
                      wrapped="frame skipped", fallback=1)

    def __init__(self):
        super().__init__()
        self.scripted = torch.jit.script(torch.nn.Tanh())

    def forward(self, x):
        return self.scripted(x + 1) * 2


class RandomGenerator(torch.nn.Module):
    """A random generator created in forward: creating it (an object of torch without a source), seeding it, and drawing
    with it (it cannot be an argument of a graph) are three rejected calls, all counted, with no operation between them:
    three sites, three reasons. The addition at the end is the only graph."""

    expected = counts(events=3, sites=3, graphs=1, ops=1, counter=3, explain=0, ids="GB0055,GB0363,GB7650")

    def forward(self, x):
        generator = torch.Generator().manual_seed(0)
        return x + torch.rand(3, generator=generator)


class Seeded(torch.nn.Module):
    """Dynamo does not trace torch's own functions for random numbers."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        torch.manual_seed(3)
        return x * 2


class RandomState(torch.nn.Module):
    """The random state is read and set: two rejected calls with nothing between them."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        state = torch.get_rng_state()
        torch.set_rng_state(state)
        return x * 2


class RandomForked(torch.nn.Module):
    """The same with a context manager: the rejected call is inside its __enter__, where Dynamo cannot resume, so
    forward is skipped (not counted)."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0007", wrapped="frame skipped",
                      fallback=1,
                      until={"2.13": (
                          "creating it was rejected (counted), and it could not be entered",
                          {"events": 2, "sites": 2, "graphs": 1, "ops": 1, "counter": 1, "explain": 0,
                           "ids": ["GB0142", "GB0208"]})})

    def forward(self, x):
        x = x + 1
        with torch.random.fork_rng(devices=[]):
            x = x * 2
        return x + 3


ALL = kinds_of(globals())
