"""Modules whose breaks can be counted by reading them. Each says in words why its numbers are what they are.

How Dynamo counts, which all the numbers apply. Where a module's words say no more, these rules alone give them:

1. A break in the compiled frame is one event at one place and moves the counter. The operations in front of it are one
   graph, those behind it, where the frame goes on as a function of its own, another. A piece without operations is no
   graph. explain is graphs - 1.
2. A branch on a value is an event that moves no counter. Only the side that is taken goes on.
3. A break in a callee is met twice, at one place: where the caller's frame inlines it, and where the callee is
   compiled as a frame of its own. Both move the counter. Nothing of the callee is in the caller's graphs.
4. A break in a loop or in a try, and one at an instruction that is no place to go on from, leaves the frame alone: one
   event that moves no counter, no graph, one frame fallen back. Where a line outside of any block has two operations in
   front of it, Dynamo goes back to that line instead: those operations are a graph, and the rest runs as it is.
5. torch's own files, frames without a tensor, generators and comprehensions are no frames of the compiler's: a break in
   them is met by their caller alone.
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
    """One print in the compiled frame itself: once, with a graph before and one after it."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0059")

    def forward(self, x):
        x = x + 1
        print("seen")
        return x * 2


class PrintInCallee(torch.nn.Module):
    """One print in a callee: logged by the caller and by the callee, at one place. The callee has an operation before
    it and one after it, the caller one after the call: three graphs."""

    expected = counts(events=2, sites=1, graphs=3, ops=3, counter=2, explain=2, ids="GB0059")

    def inner(self, x):
        x = x + 1
        print("seen")
        return x - 1

    def forward(self, x):
        return self.inner(x) * 2


class DataDependentIf(torch.nn.Module):
    """A branch on a value: Dynamo logs it and counts nothing."""

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
    """The shape of nonzero depends on the data."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        x = x + 1
        places = torch.nonzero(x)
        return places * 2


class BreakInLoop(torch.nn.Module):
    """A break in a loop ends the frame: one event, wrapped, not counted; nothing is captured, which explain calls
    -1."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0025",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def forward(self, x):
        for _ in range(3):
            x = x + 1
            torch._dynamo.graph_break()
        return x


class CalleeTwice(torch.nn.Module):
    """A breaking callee called twice: the caller meets it at each call, the callee once, for it is compiled once, with
    a graph on either side of its break. The caller has no operation."""

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
    """A callee that is kept out of the compiler: the call is refused, and the callee is no frame that could meet it
    again."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0099")

    @torch._dynamo.disable
    def inner(self, x):
        return x * 3

    def forward(self, x):
        return self.inner(x + 1) - 1


class ExceptionAfterBreak(torch.nn.Module):
    """A break, then an exception that the module itself handles: the handled exception is no break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        try:
            raise ValueError("handled")
        except ValueError:
            return x * 2


class BreakInTry(torch.nn.Module):
    """Dynamo cannot resume inside try, and nothing before it is a place to resume from: the frame is skipped."""

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
    """The same behind two lines with three operations: Dynamo compiles up to the line before try and leaves the rest.
    One event, not counted, and one graph."""

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
    """Nothing to capture at all."""

    expected = counts(events=0, sites=0, graphs=0, ops=0, counter=0, explain=-1)

    def forward(self, x):
        return x


class BreakWithoutOperations(torch.nn.Module):
    """A break before any tensor operation: no graph in front of it, yet an event that graphs - 1 never sees."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0025")

    def forward(self, x):
        torch._dynamo.graph_break()
        return x + 1


class TwiceAlike(torch.nn.Module):
    """The same line twice in one function: two events, and one site, for a site knows its line's text and not its
    number."""

    expected = counts(events=2, sites=1, graphs=3, ops=3, counter=2, explain=2, ids="GB0025")

    def forward(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        x = x * 2
        torch._dynamo.graph_break()
        return x - 1


class TwoPlaces(torch.nn.Module):
    """One kind of break at two places: two sites of one reason."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0059")

    def forward(self, x):
        x = x + 1
        print("first")
        print("second")
        return x - 1


class ThreeKinds(torch.nn.Module):
    """A print in a callee, a branch on a value, a break in a loop: print twice (both counted), the branch once and the
    loop once (neither is). The callee's addition is a graph and so is the test; what stands with the loop is lost with
    it."""

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
    """A callee with no operation that breaks: its two events leave one graph, for everything else is one piece."""

    expected = counts(events=2, sites=1, graphs=1, ops=1, counter=2, explain=0, ids="GB0059")

    def inner(self):
        print("seen")

    def forward(self, x):
        self.inner()
        return x + 1


ALL = kinds_of(globals())
