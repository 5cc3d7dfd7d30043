"""Breaks in what is called: callees, wrappers around them, recursion, layers in layers."""

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
    """Three callees deep: met by the four frames that contain it, for each is compiled in its turn. Each leaves the one
    operation it has behind its break as a graph."""

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
    """A function made on the spot is a callee like another, and calls one: forward, the lambda and `loud` meet the
    break; only `loud` has operations, one on each side."""

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
    """A decorator between caller and callee is one more frame that meets the break. forward's addition and the callee's
    product are the graphs; the wrapper has no operation."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    @wrapped
    def inner(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x + 1)


class DecoratedTwice(torch.nn.Module):
    """A wrapper around a wrapper: forward, the outer, the inner wrapper and the function meet the break. Both wrappers
    are one code, compiled for the one function and then for the other: a recompilation. Graphs as with one wrapper."""

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
    """A class method is met by forward, and again as a frame."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    @classmethod
    def inner(cls, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.inner(x)


class Property(torch.nn.Module):
    """A property is a call that does not look like one: reading an attribute is no place to go on from, so the frame is
    skipped (not counted); the property's own code meets it again (counted)."""

    expected = counts(events=2, sites=1, graphs=0, ops=0, counter=1, explain=-1, ids="GB0025", fallback=1)

    @property
    def scale(self):
        torch._dynamo.graph_break()
        return 2

    def forward(self, x):
        return (x + 1) * self.scale


class CallableObject(torch.nn.Module):
    """An object that is called: its __call__ is a callee like another, met by forward and by itself."""

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
    """An index that is a call of the user's own: reading an item, unlike reading an attribute, is a place to go on
    from, so both frames count. forward's two operations are a graph, and the callee's two pieces one each."""

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
    """A callee called by map: met by forward, where list() runs the map, and by the callee. forward has no
    operation."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0025")

    def forward(self, x):
        return list(map(loud, [x]))[0]


class Recursion(torch.nn.Module):
    """Three calls of one function in each other, the innermost breaks: met by forward, which inlines all three, and by
    each of the three compiled as a frame, four in all and all counted. The three are one code for another depth each:
    two recompilations. At the second, depth has changed once and has become a symbol, so that `depth - 1` is an
    operation and a graph; the innermost's product is the next. The addition, which hangs on no depth, is compiled once
    for both that go on there: the third."""

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


class WrappedTwice(torch.nn.Module):
    """A break under a context manager, in a callee that is called in a loop: the first hides the cause, the second
    hides the first, and both hide it from the counter. forward is skipped for the loop, the callee as a frame
    for the context manager, each with one event; nothing is captured."""

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
    """An object made on the way whose constructor breaks: met by forward and by the constructor."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=2, explain=0, ids="GB0059")

    class Box:
        def __init__(self, x):
            print("seen")
            self.x = x

    def forward(self, x):
        return self.Box(x + 1).x * 2


class SecondBreakInCallee(torch.nn.Module):
    """A callee with two breaks: forward meets the first and hands over; the callee meets both. forward has no
    operation, the callee one before, one between and one behind."""

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
    """A callee that ends in its break: forward keeps nothing in front of the call, the callee's one operation is a
    graph and nothing is left behind the break; forward goes on with the other."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=2, explain=1, ids="GB0036")

    def inner(self, x):
        return torch.nonzero(x + 1)

    def forward(self, x):
        return self.inner(x) * 2


ALL = kinds_of(globals())
