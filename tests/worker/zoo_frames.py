"""Breaks by where they stand: callees, loops, generators, context managers, handlers, wrappers, recursion."""

import contextlib
import functools
import threading

import torch
from zoo_counts import counts


def loud(x):
    x = x + 1
    torch._dynamo.graph_break()
    return x * 2


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*arguments, **options):
        return function(*arguments, **options)

    return wrapper


class Deep(torch.nn.Module):
    """Three callees deep: met by the four frames that contain it, for each is compiled in its turn."""

    expected = counts(events=4, sites=1, graphs=4, ops=4, counter=4, explain=3, ids="GB0025")

    def first(self, x):
        return self.second(x) + 1

    def second(self, x):
        return self.third(x) + 2

    def third(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.first(x) + 3


class Lambda(torch.nn.Module):
    """A function made on the spot is a callee like another."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    def forward(self, x):
        return (lambda y: loud(y))(x)


class Closure(torch.nn.Module):
    """An inner function that shares a variable."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def forward(self, x):
        scale = x + 1

        def inner(y):
            torch._dynamo.graph_break()
            return y * scale

        return inner(x)


class Partial(torch.nn.Module):
    """functools.partial is seen through."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def forward(self, x):
        return functools.partial(loud, x=x)()


class Decorated(torch.nn.Module):
    """A decorator between caller and callee is one more frame that meets the break."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    @wrapped
    def inner(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x + 1)


class DecoratedTwice(torch.nn.Module):
    """A wrapper around a wrapper: two more frames, of one code: the second is compiled for the other function."""

    expected = counts(events=4, sites=1, graphs=2, ops=2, counter=4, explain=1, ids="GB0025", recompiles=1)

    @wrapped
    @wrapped
    def inner(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x + 1)


class Static(torch.nn.Module):
    """A static method."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    @staticmethod
    def inner(x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x + 1)


class Property(torch.nn.Module):
    """A property is a call that does not look like one: reading an attribute is no place to go on from, so the frame is
    left alone (not counted); the property's own code meets it again (counted)."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=1, explain=-1, ids="GB0025", fallback=1)

    @property
    def scale(self):
        torch._dynamo.graph_break()
        return 2

    def forward(self, x):
        return (x + 1) * self.scale


class Recursion(torch.nn.Module):
    """Three calls of one function in each other, the innermost breaks."""

    expected = counts(events=4, sites=1, graphs=3, ops=3, counter=4, explain=2, ids="GB0025", recompiles=2,
                      until={"2.13": (
                          "a graph without an operation was made as well",
                          {"graphs": 4, "explain": 3})})

    def inner(self, x, depth):
        if depth == 0:
            torch._dynamo.graph_break()
            return x * 2
        return self.inner(x, depth - 1) + 1

    def forward(self, x):
        return self.inner(x, 2)


class Layers(torch.nn.Module):
    """Two layers of one class, called in line: the caller meets each, the class's code is compiled once."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    class Layer(torch.nn.Module):
        def forward(self, x):
            torch._dynamo.graph_break()
            return x * 2

    def __init__(self):
        super().__init__()
        self.first, self.second = self.Layer(), self.Layer()

    def forward(self, x):
        return self.second(self.first(x + 1))


class LayersInLoop(torch.nn.Module):
    """The same called in a loop: the caller's frame is left alone, the layer's code still counts."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025", fallback=1)

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layers.Layer(), Layers.Layer()])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x + 1


class SequentialLayers(torch.nn.Module):
    """torch's Sequential loops over its layers in a frame of torch's, which is skipped by its file: no event there."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(Layers.Layer(), Layers.Layer())

    def forward(self, x):
        return self.layers(x + 1)


class AfterLoop(torch.nn.Module):
    """A loop without a break, then a break: nothing is lost."""

    expected = counts(events=1, sites=1, graphs=2, ops=4, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        for _ in range(3):
            x = x + 1
        torch._dynamo.graph_break()
        return x * 2


class BreakInWhile(torch.nn.Module):
    """A while loop over plain numbers."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def forward(self, x):
        n = 0
        while n < 2:
            x = x + 1
            torch._dynamo.graph_break()
            n += 1
        return x


class Generator(torch.nn.Module):
    """A generator that breaks between two values: the frame that consumes it is left alone; a generator is no frame
    of the compiler's."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="frame skipped", fallback=1)

    def values(self, x):
        yield x + 1
        torch._dynamo.graph_break()
        yield x + 2

    def forward(self, x):
        total = x
        for value in self.values(x):
            total = total + value
        return total


class GeneratorOfList(torch.nn.Module):
    """The same consumed by list()."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0059",
                      wrapped="frame skipped", fallback=1)

    def values(self, x):
        yield x + 1
        print("seen")
        yield x + 2

    def forward(self, x):
        return sum(list(self.values(x)))


class UnderNoGrad(torch.nn.Module):
    """no_grad can be left and entered again around a break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.no_grad():
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderContextManager(torch.nn.Module):
    """A context manager of the user's own cannot be left and entered: the break is replaced by another, which hides the
    cause, and the frame is given up."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="Graph break under GenericContextWrappingVariable / frame skipped", fallback=2)

    @contextlib.contextmanager
    def scope(self):
        yield

    def forward(self, x):
        x = x + 1
        with self.scope():
            torch._dynamo.graph_break()
            return x * 2


class UnderContextClass(torch.nn.Module):
    """The same as a class."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0025",
                      wrapped="Graph break under GenericContextWrappingVariable / cannot resume")

    class Scope:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    def forward(self, x):
        x = torch.relu(x + 1)
        with self.Scope():
            torch._dynamo.graph_break()
            x = x * 2
        return x + 3


class UnderLock(torch.nn.Module):
    """A lock is no context manager that Dynamo knows."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0142",
                      wrapped="frame skipped", fallback=1)

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def forward(self, x):
        x = x + 1
        with self.lock:
            x = x * 2
        return x + 3


class InFinally(torch.nn.Module):
    """A break in finally stands after the block it guards."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        try:
            x = torch.relu(x + 1)
        finally:
            torch._dynamo.graph_break()
        return x * 2


class InHandler(torch.nn.Module):
    """A break in an except clause: Dynamo cannot go on inside a handler, only before it."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0025", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        try:
            raise ValueError
        except ValueError:
            torch._dynamo.graph_break()
        return x * 2


class InConstructor(torch.nn.Module):
    """An object made on the way whose constructor breaks: met by forward and by the constructor."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=2, explain=0, ids="GB0059")

    class Box:
        def __init__(self, x):
            print("seen")
            self.x = x

    def forward(self, x):
        return self.Box(x + 1).x * 2


class Skipped(torch.nn.Module):
    """A callee that asks to be skipped as a frame."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4297", fallback=1)

    def inner(self, x):
        torch._dynamo.skip_frame("not this one")
        return x * 2

    def forward(self, x):
        return self.inner(x + 1) + 3


class Stepped(torch.nn.Module):
    """What steps back to the last checkpoint: Dynamo compiles up to it and leaves the rest of the function."""

    expected = counts(events=1, sites=1, graphs=1, ops=3, counter=0, explain=0, ids="GB4636", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        x = torch.sin(x)
        torch._dynamo.step_unsupported()
        return x * 2


class SecondBreakInCallee(torch.nn.Module):
    """A callee with two breaks: the caller meets the first and hands over; the callee meets both."""

    expected = counts(events=3, sites=2, graphs=3, ops=3, counter=3, explain=2, ids="GB0025,GB0059")

    def inner(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        print("seen")
        return x - 3

    def forward(self, x):
        return self.inner(x)


class ReturnOfBreak(torch.nn.Module):
    """A break in the last line: nothing after it, so no second graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0059")

    def forward(self, x):
        x = x + 1
        print("seen")
        return x


class TwoInOneLine(torch.nn.Module):
    """Two prints in one line: two events, one site."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0059")

    def forward(self, x):
        x = x + 1
        print("a"), print("b")
        return x * 2


class BranchThenBreak(torch.nn.Module):
    """A branch on a value whose taken side breaks: the branch, then the break in the part that goes on."""

    expected = counts(events=2, sites=2, graphs=3, ops=4, counter=1, explain=2, ids="GB0025,GB0170")

    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
            torch._dynamo.graph_break()
            return x + 1
        return x - 1


ALL = [value for value in list(globals().values())
       if isinstance(value, type) and issubclass(value, torch.nn.Module) and hasattr(value, "expected")]
