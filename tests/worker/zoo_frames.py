"""Breaks in callees, wrappers around them, recursion, and nested layers."""

import functools

import torch
from zoo_counts import counts, kinds_of


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
    """A break in the third nested callee: the four frames that contain it log it, because each is compiled in turn.
    Each has one operation after its break, which is a graph."""

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
    """A lambda is a callee like any other, and calls one: forward, the lambda and `loud` log the break. Only `loud` has
    operations, one on each side."""

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
    """Dynamo traces through functools.partial."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def forward(self, x):
        return functools.partial(loud, x=x)()


class Decorated(torch.nn.Module):
    """A decorator between caller and callee adds one frame that logs the break. forward's addition and the callee's
    product are the graphs; the wrapper has no operation."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    @wrapped
    def inner(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x + 1)


class DecoratedTwice(torch.nn.Module):
    """A wrapper around a wrapper: forward, the outer wrapper, the inner wrapper and the function log the break. Both
    wrappers have the same code, which is compiled for each of the two wrapped functions: one recompilation. The graphs
    are those with one wrapper."""

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


class ClassMethod(torch.nn.Module):
    """forward logs the break in a class method, and the class method logs it again as a frame."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    @classmethod
    def inner(cls, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x)


class Property(torch.nn.Module):
    """A property is called by reading an attribute, and Dynamo cannot resume after that: the frame is skipped (not
    counted). The property's own code logs the break again (counted)."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=1, explain=-1, ids="GB0025", fallback=1)

    @property
    def scale(self):
        torch._dynamo.graph_break()
        return 2

    def forward(self, x):
        return (x + 1) * self.scale


class CallableObject(torch.nn.Module):
    """A callable object: its __call__ is a callee like any other. forward and __call__ log the break."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    class Step:
        def __call__(self, x):
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2

    def __init__(self):
        super().__init__()
        self.step = self.Step()

    def forward(self, x):
        return self.step(x)


class OwnItem(torch.nn.Module):
    """A custom __getitem__: Dynamo can resume after reading an item, unlike after reading an attribute, so both frames
    count. forward's two operations are one graph, and the callee has one graph on each side."""

    expected = counts(events=2, sites=1, graphs=3, ops=4, counter=2, explain=2, ids="GB0025")

    class Table:
        def __getitem__(self, x):
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2

    def __init__(self):
        super().__init__()
        self.table = self.Table()

    def forward(self, x):
        x = torch.relu(x + 1)
        return self.table[x]


class Mapped(torch.nn.Module):
    """A callee called by map: forward logs the break where list() runs the map, and the callee logs it. forward has no
    operation."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def forward(self, x):
        return list(map(loud, [x]))[0]


class Recursion(torch.nn.Module):
    """Three nested calls of one function, of which the innermost breaks. forward, which inlines all three, and each of
    the three compiled frames log the break: four events, all counted. The three frames have the same code with another
    depth each: two recompilations. At the second, depth has changed once and is a symbol, so `depth - 1` is an
    operation and a graph. The product of the innermost call is the next graph. The addition does not depend on depth,
    so both resumed functions share its compiled code: the third graph."""

    expected = counts(events=4, sites=1, graphs=3, ops=3, counter=4, explain=2, ids="GB0025", recompiles=2,
                      until={"2.13": (
                          "there was also a graph without an operation",
                          {"graphs": 4, "explain": 3})})

    def inner(self, x, depth):
        if depth == 0:
            torch._dynamo.graph_break()
            return x * 2
        return self.inner(x, depth - 1) + 1

    def forward(self, x):
        return self.inner(x, 2)


class WrappedTwice(torch.nn.Module):
    """A break inside a context manager, in a callee that is called in a loop. The context manager's break hides the
    first cause, the loop's break hides the second, and neither is counted. forward is skipped because of the loop, the
    callee because of the context manager, each with one event. Nothing is captured."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="graph break in loop / frame skipped", fallback=2)

    class Scope:
        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    def inner(self, x):
        x = x + 1
        with self.Scope():
            torch._dynamo.graph_break()
            return x * 2

    def forward(self, x):
        for _ in range(2):
            x = self.inner(x)
        return x


class InConstructor(torch.nn.Module):
    """An object created in forward whose constructor breaks: forward and the constructor log the break."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=2, explain=0, ids="GB0059")

    class Box:
        def __init__(self, x):
            print("seen")
            self.x = x

    def forward(self, x):
        return self.Box(x + 1).x * 2


class SecondBreakInCallee(torch.nn.Module):
    """A callee with two breaks: forward logs the first one and calls the callee uncompiled; the callee logs both.
    forward has no operation; the callee has one before, one between and one after them."""

    expected = counts(events=3, sites=2, graphs=3, ops=3, counter=3, explain=2, ids="GB0025,GB0059")

    def inner(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        print("seen")
        return x - 3

    def forward(self, x):
        return self.inner(x)


class NonzeroInCallee(torch.nn.Module):
    """A callee whose last statement breaks: forward has no operation before the call. The callee's one operation is a
    graph, and nothing follows the break. The resumed forward has the other graph."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0036")

    def inner(self, x):
        return torch.nonzero(x + 1)

    def forward(self, x):
        return self.inner(x) * 2


ALL = kinds_of(globals())
