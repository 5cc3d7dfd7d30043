"""Generators, comprehensions and partly consumed iterators at a break."""

import contextlib

import torch
from zoo_counts import counts, kinds_of


class Generator(torch.nn.Module):
    """A generator that breaks between two values: the frame that consumes it is skipped. Dynamo then rejects the
    generator. It is not compiled as a frame and is not counted as a fallback."""

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
    """The same with a generator that list() consumes."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0059",
                      wrapped="frame skipped", fallback=1)

    def values(self, x):
        yield x + 1
        print("seen")
        yield x + 2

    def forward(self, x):
        return sum(list(self.values(x)))


class LiveGenerator(torch.nn.Module):
    """A partly consumed generator: its remaining values are passed across the break. This causes nothing else."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def values(self):
        yield 1
        yield 2

    def forward(self, x):
        values = self.values()
        x = x + next(values)
        torch._dynamo.graph_break()
        return x * next(values)


class LiveItems(torch.nn.Module):
    """The partly consumed items of a dictionary cannot be passed across the break. After the break (counted), a second
    break of another kind at the same line (not counted) skips the frame."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0025,GB0092",
                      wrapped="frame skipped", fallback=1)

    def __init__(self):
        super().__init__()
        self.table = {"a": 2, "b": 3}

    def forward(self, x):
        items = iter(self.table.items())
        x = x + next(items)[1]
        torch._dynamo.graph_break()
        return x * next(items)[1]


class LiveZip(torch.nn.Module):
    """A partly consumed zip is passed across the break, but next() of an iterator from outside is rejected: the first
    break, then this one in the resumed function. There is no operation between the two."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0025,GB9493",
                      until={"2.13": (
                          "the break had another type",
                          {"ids": ["GB0025", "GB4347"]})})

    def forward(self, x):
        pairs = zip([1, 2], [3, 4])  # noqa: B905
        x = x + next(pairs)[1]
        torch._dynamo.graph_break()
        return x * next(pairs)[1]


class LiveContext(torch.nn.Module):
    """A context manager made from a generator and not entered yet cannot be passed across the break (counted): a second
    break (not counted) skips the frame. The generator is then called uncompiled, a frame that Dynamo rejects without a
    log: two frames fall back."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0025,GB2533",
                      wrapped="frame skipped", fallback=2)

    @contextlib.contextmanager
    def scope(self):
        yield

    def forward(self, x):
        scope = self.scope()
        x = x + 1
        torch._dynamo.graph_break()
        with scope:
            return x * 2


class ItemInLoop(torch.nn.Module):
    """A number read from a tensor in a loop: the frame is skipped with its operations."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0124",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def forward(self, x):
        total = 0
        for row in x:
            total = total + row.item()
        return x * total


class ItemInComprehension(torch.nn.Module):
    """The same in a comprehension. In Python 3.11 this is a function that is called with an iterator. forward logs the
    break while inlining the call (counted) and resumes after it. The comprehension's own frame has an iterator and no
    tensor, so it is skipped. The three rows of the iterator are three operations and one graph; the product is another.
    """

    expected = counts(events=1, sites=1, graphs=2, ops=4, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        values = [row.item() for row in x]
        return x * len(values)


class ItemInDictComprehension(torch.nn.Module):
    """The same with enumerate, which Dynamo simulates with its own generator. The comprehension is called inside it, so
    the line is in torch's code."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0124,GB8335",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        values = {n: row.item() for n, row in enumerate(x)}
        return x * len(values)


class ItemInGenerator(torch.nn.Module):
    """sum() over a generator that reads numbers from tensors: sum is rejected (counted). The generator has started and
    cannot be passed across the break: a second break (not counted) skips the frame."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0124,GB8335",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        total = sum(row.item() for row in x)
        return x * total


ALL = kinds_of(globals())
