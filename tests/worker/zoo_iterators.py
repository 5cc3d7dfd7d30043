"""Generators, comprehensions and what is half consumed when a break comes."""

import contextlib

import torch
from zoo_counts import counts, kinds_of


class Generator(torch.nn.Module):
    """A generator that breaks between two values: the frame that consumes it is skipped. Dynamo then bars the
    generator, which is no frame of the compiler's any more and does not fall back as one."""

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


class LiveGenerator(torch.nn.Module):
    """A generator half consumed: what it has left is handed over the break. Nothing else happens."""

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
    """The items of a dictionary half consumed cannot be handed over the break: after the break (counted) a second one
    at the same line (not counted), of another kind, gives the frame up."""

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
    """A zip half consumed is handed over, but next() of one that comes from outside is refused: the break, then that,
    in the part that goes on; between the two is no operation."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0025,GB9493",
                      until={"2.13": (
                          "the refusal had another name",
                          {"ids": ["GB0025", "GB4347"]})})

    def forward(self, x):
        pairs = zip([1, 2], [3, 4])  # noqa: B905
        x = x + next(pairs)[1]
        torch._dynamo.graph_break()
        return x * next(pairs)[1]


class LiveContext(torch.nn.Module):
    """A context manager made of a generator, not entered yet, cannot be handed over the break (counted): a second one
    (not counted) gives the frame up. The generator is then called as it is, a frame Dynamo turns down without a log:
    two frames fell back."""

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
    """A number taken out in a loop: the frame is skipped, and with it the operations around."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0124",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def forward(self, x):
        total = 0
        for row in x:
            total = total + row.item()
        return x * total


class ItemInComprehension(torch.nn.Module):
    """The same in a comprehension, which in Python 3.11 is a function called with an iterator: forward meets the break
    as it inlines that call (counted) and goes on behind it. As a frame the comprehension holds an iterator and no
    tensor, and is passed over. The three rows that the iterator is made of are three operations and a graph, the
    product is another."""

    expected = counts(events=1, sites=1, graphs=2, ops=4, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        values = [row.item() for row in x]
        return x * len(values)


class ItemInDictComprehension(torch.nn.Module):
    """The same for enumerate, which Dynamo plays by a generator of its own, around which the comprehension is called.
    Its line is in torch's code."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0124,GB8335",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        values = {n: row.item() for n, row in enumerate(x)}
        return x * len(values)


class ItemInGenerator(torch.nn.Module):
    """sum() over a generator that takes numbers out: sum is refused (counted), and the generator, which has begun,
    cannot be handed over: a second break (not counted) leaves the frame alone."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0124,GB8335",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        total = sum(row.item() for row in x)
        return x * total


ALL = kinds_of(globals())
