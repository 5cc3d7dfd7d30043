"""Modules whose breaks can be counted by reading their code. Each docstring explains the module's numbers.

The rules by which Dynamo counts. If a docstring has no explanation, these rules alone lead to the numbers:

1. A break in the compiled frame is one event at one place, and the counter increases. The operations before it are one
   graph. The operations after it, in the resumed function, are another graph. A part without operations is not a graph.
   explain is graphs - 1.
2. A branch on a value is an event for which the counter does not increase. Only the branch that is taken is traced.
3. A break in a callee is logged twice at one place: when the caller's frame inlines the callee, and when the callee is
   compiled as its own frame. The counter increases for both. The caller's graphs contain nothing of the callee.
4. After a break in a loop or in a try block, or at an instruction after which Dynamo cannot resume, Dynamo skips the
   frame: one event, the counter does not increase, there is no graph, and one frame falls back. But if a line outside
   of any block has two operations before the break, Dynamo goes back to that line: these operations are a graph, and
   the rest of the frame runs uncompiled.
5. Dynamo does not compile torch's own files, frames without a tensor, generators and comprehensions as frames. Only the
   caller logs a break in them.
"""

import logging

import torch
from zoo_counts import counts, kinds_of


class Clean(torch.nn.Module):
    """Nothing breaks."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        return (x + 1).relu()


class Print(torch.nn.Module):
    """One print in the compiled frame itself: one event, with one graph before it and one after it."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0059")

    def forward(self, x):
        x = x + 1
        print("seen")
        return x * 2


class PrintInCallee(torch.nn.Module):
    """One print in a callee: both the caller and the callee log it, at one place. The callee has one operation before
    it and one after it, the caller one after the call: three graphs."""

    expected = counts(events=2, sites=1, graphs=3, ops=3, counter=2, explain=2, ids="GB0059")

    def inner(self, x):
        x = x + 1
        print("seen")
        return x - 1

    def forward(self, x):
        return self.inner(x) * 2


class DataDependentIf(torch.nn.Module):
    """A branch on a value: Dynamo logs it, and the counter does not increase."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1


class TwoIfs(torch.nn.Module):
    """Two branches on values, one after the other."""

    expected = counts(events=2, sites=2, graphs=3, ops=6, counter=0, explain=2, ids="GB0170")

    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
        if x.max() > 1:
            x = x + 1
        return x


class Item(torch.nn.Module):
    """.item() takes a number out of a tensor."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        n = (x * 2).sum().item()
        return x + n


class Nonzero(torch.nn.Module):
    """The shape of the result of nonzero depends on the data."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        x = x + 1
        places = torch.nonzero(x)
        return places * 2


class BreakInLoop(torch.nn.Module):
    """A break in a loop: Dynamo skips the frame. One event, wrapped and not counted; nothing is captured, so explain is
    -1."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def forward(self, x):
        for _ in range(3):
            x = x + 1
            torch._dynamo.graph_break()
        return x


class CalleeTwice(torch.nn.Module):
    """A callee that breaks is called twice: the caller logs the break at each call. The callee logs it once, because it
    is compiled once, with one graph on each side of its break. The caller has no operation."""

    expected = counts(events=3, sites=1, graphs=2, ops=2, counter=3, explain=1, ids="GB0025")

    def inner(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        x = self.inner(x)
        return self.inner(x)


class Logger(torch.nn.Module):
    """A call of a logger's method."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0291")

    log = logging.getLogger("zoo")

    def forward(self, x):
        x = x + 1
        self.log.warning("seen")
        return x * 2


class Disabled(torch.nn.Module):
    """A disabled callee: Dynamo rejects the call. The callee is not compiled, so it does not log the break again."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0099")

    @torch._dynamo.disable
    def inner(self, x):
        return x * 3

    def forward(self, x):
        return self.inner(x + 1) - 1


class ExceptionAfterBreak(torch.nn.Module):
    """A break, then an exception that the module itself handles: the handled exception is not a break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        try:
            raise ValueError("handled")
        except ValueError:
            return x * 2


class BreakInTry(torch.nn.Module):
    """Dynamo cannot resume inside try, and no line before it has enough operations to resume after: the frame is
    skipped."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        x = x + 1
        try:
            torch._dynamo.graph_break()
            return x * 2
        except ValueError:
            return x


class BreakInTryAfterCall(torch.nn.Module):
    """The same after two lines with three operations: Dynamo compiles up to the line before try, and the rest runs
    uncompiled. One event, not counted, and one graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=3, counter=0, explain=0, ids="GB0025", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        x = torch.sin(x)
        try:
            torch._dynamo.graph_break()
            return x * 2
        except ValueError:
            return x


class NoOperations(torch.nn.Module):
    """No operation to capture."""

    expected = counts(events=0, sites=0, graphs=0, ops=0, counter=0, explain=-1)

    def forward(self, x):
        return x


class BreakWithoutOperations(torch.nn.Module):
    """A break before any tensor operation: there is no graph before it, so graphs - 1 does not include the event."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025")

    def forward(self, x):
        torch._dynamo.graph_break()
        return x + 1


class TwiceAlike(torch.nn.Module):
    """The same line twice in one function: two events and one site, because a site contains the text of its line, not
    its number."""

    expected = counts(events=2, sites=1, graphs=3, ops=3, counter=2, explain=2, ids="GB0025")

    def forward(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        torch._dynamo.graph_break()
        return x - 1


class TwoPlaces(torch.nn.Module):
    """One kind of break at two places: two sites with one reason."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0059")

    def forward(self, x):
        x = x + 1
        print("first")
        print("second")
        return x - 1


class ThreeKinds(torch.nn.Module):
    """A print in a callee, a branch on a value and a break in a loop: two events for the print (both counted), one for
    the branch and one for the loop (not counted). The callee's addition is one graph, the test another. The operations
    in the function with the loop are not captured."""

    expected = counts(events=4, sites=3, graphs=2, ops=3, counter=2, explain=1, ids="GB0025,GB0059,GB0170",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def inner(self, x):
        print("seen")
        return x + 1

    def forward(self, x):
        x = self.inner(x)
        if x.sum() > 0:
            x = x * 2
        for _ in range(2):
            x = x + 1
            torch._dynamo.graph_break()
        return x


class ZeroOpCallee(torch.nn.Module):
    """A break in a callee without operations: its two events leave one graph, because all operations are after the
    break."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=2, explain=0, ids="GB0059")

    def inner(self):
        print("seen")

    def forward(self, x):
        self.inner()
        return x + 1


ALL = kinds_of(globals())
