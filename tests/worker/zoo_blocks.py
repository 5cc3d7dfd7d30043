"""Breaks by where they stand in a frame: one after another, in loops, context managers, try."""

import contextlib
import io
import threading
import warnings

import torch
from zoo_counts import counts, kinds_of


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


class Skipped(torch.nn.Module):
    """A callee that asks to be skipped as a frame: forward meets that as a break at its call (counted), and the callee
    asks again as a frame, which is skipped (not counted) with its product. forward's two operations are the
    graphs."""

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


class UnderNoGrad(torch.nn.Module):
    """no_grad can be left and entered again around a break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.no_grad():
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderAutocast(torch.nn.Module):
    """autocast is entered and left within each graph: two operations more in both."""

    expected = counts(events=1, sites=1, graphs=2, ops=6, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderRecord(torch.nn.Module):
    """record_function is left out of the graph: the break in it is like one outside."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0025")

    def forward(self, x):
        with torch.profiler.record_function("step"):
            x = x + 1
            torch._dynamo.graph_break()
            return x * 2


class UnderContextManager(torch.nn.Module):
    """A context manager of the user's own cannot be left and entered: the break is replaced by another, which hides the
    cause, and forward is given up (not counted) with its addition. Run as it is, it calls the generator behind the
    manager, a frame that Dynamo turns down without a log: two frames fell back, for one event."""

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


class Suppress(torch.nn.Module):
    """suppress is a class with __enter__ and __exit__, as UnderContextClass: the cause is hidden, Dynamo steps back to
    the line before with its two operations and leaves the rest."""

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


class RedirectOutput(torch.nn.Module):
    """Making the context manager is refused, once. What was made is an object like another, whose methods are
    traced."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0262",
                      until={"2.13": (
                          "entering what was made was refused as well, and the rest left alone",
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
    """Setting a filter calls C and is refused (counted). Then the way out of the block has to be handed over and cannot
    be made again: a second break, of the frame, which is skipped with its one operation."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0007,GB0092",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        x = x + 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
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


ALL = kinds_of(globals())
