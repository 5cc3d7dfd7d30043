"""Breaks by their place in a frame: one after another, in loops, context managers and try."""

import contextlib
import io
import threading
import warnings

import torch
from zoo_counts import counts, kinds_of


class ReturnOfBreak(torch.nn.Module):
    """A break in the last line: no code follows it, so there is no second graph."""

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
    """A branch on a value, and a break in the branch that is taken: two events, the second in the resumed function."""

    expected = counts(events=2, sites=2, graphs=3, ops=4, counter=1, explain=2, ids="GB0025,GB0170")

    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
            torch._dynamo.graph_break()
            return x + 1
        return x - 1


class Skipped(torch.nn.Module):
    """A callee that requests to be skipped as a frame: forward logs this as a break at its call (counted). The callee
    requests it again as a frame, which is skipped (not counted) with its product. forward's two operations are the
    graphs."""

    expected = counts(events=2, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4297", fallback=1)

    def inner(self, x):
        torch._dynamo.skip_frame("not this one")
        return x * 2

    def forward(self, x):
        return self.inner(x + 1) + 3


class Stepped(torch.nn.Module):
    """A step_unsupported break: Dynamo compiles up to the last checkpoint and runs the rest of the function uncompiled.
    """

    expected = counts(events=1, sites=1, graphs=1, ops=3, counter=0, explain=0, ids="GB4636", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        x = torch.sin(x)
        torch._dynamo.step_unsupported()
        return x * 2


class AfterLoop(torch.nn.Module):
    """A loop without a break, then a break: every operation is captured."""

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


class UnderNoGrad(torch.nn.Module):
    """no_grad can be left and entered again around a break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.no_grad():
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderAutocast(torch.nn.Module):
    """autocast is entered and left within each graph: each has two more operations."""

    expected = counts(events=1, sites=1, graphs=2, ops=6, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderRecord(torch.nn.Module):
    """record_function is not part of the graph, so a break inside it is like one outside of it."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.profiler.record_function("step"):
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderContextManager(torch.nn.Module):
    """A custom context manager cannot be left and entered again. Dynamo replaces the break with another one, which
    hides the cause, and skips forward (not counted) with its addition. The uncompiled forward calls the generator of
    the context manager, a frame that Dynamo rejects without a log. So two frames fall back for one event."""

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
    """The same with a class."""

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


class Suppress(torch.nn.Module):
    """suppress is a class with __enter__ and __exit__, as in UnderContextClass: the cause is hidden. Dynamo goes back
    to the line before, which has two operations, and runs the rest uncompiled."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0025",
                      wrapped="Graph break under GenericContextWrappingVariable / cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        with contextlib.suppress(ValueError):
            torch._dynamo.graph_break()
            x = x * 2
        return x + 3


class UnderExitStack(torch.nn.Module):
    """The same in an empty ExitStack."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0025",
                      wrapped="Graph break under GenericContextWrappingVariable / cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        with contextlib.ExitStack():
            torch._dynamo.graph_break()
            x = x * 2
        return x + 3


class UnderLock(torch.nn.Module):
    """Dynamo does not support a lock as a context manager."""

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


class RedirectOutput(torch.nn.Module):
    """Creating the context manager is rejected once. The resulting object is like any other, and its methods are
    traced."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0262",
                      until={"2.13": (
                          "entering the context manager was also rejected, and the rest was skipped",
                          {"events": 2, "sites": 2, "graphs": 1, "ops": 1, "explain": 0, "ids": ["GB0142", "GB0262"],
                           "fallback": 1, "wrapped": ["frame skipped"]})})

    def __init__(self):
        super().__init__()
        self.sink = io.StringIO()

    def forward(self, x):
        x = x + 1
        with contextlib.redirect_stdout(self.sink):
            x = x * 2
        return x + 3


class CatchWarnings(torch.nn.Module):
    """Setting a filter calls C and is rejected (counted). The exit function of the block must then be passed to the
    resumed function and cannot be reconstructed: a second break, for which the frame is skipped with its one operation.
    """

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0007,GB0092",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        x = x + 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = x * 2
        return x + 3


class InFinally(torch.nn.Module):
    """A break in finally comes after the protected block."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        try:
            x = torch.relu(x + 1)
        finally:
            torch._dynamo.graph_break()
        return x * 2


class InHandler(torch.nn.Module):
    """A break in an except clause: Dynamo cannot resume inside a handler, only before it."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0025", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        try:
            raise ValueError
        except ValueError:
            torch._dynamo.graph_break()
        return x * 2


ALL = kinds_of(globals())
