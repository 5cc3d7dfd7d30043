"""Exceptions that leave the frame, and exceptions that a handler expects and Dynamo does not raise."""

import torch
from zoo_counts import counts, kinds_of


class Raising(torch.nn.Module):
    """An exception of a callee that the caller handles is traced through."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def inner(self, x):
        raise KeyError("none")

    def forward(self, x):
        try:
            return self.inner(x)
        except KeyError:
            return x * 2


class RaisesOut(torch.nn.Module):
    """An exception that leaves the compiled frame is a break (not counted): the frame is skipped and raises
    again."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0088", wrapped="frame skipped",
                      fallback=1, error="ValueError")

    def forward(self, x):
        x = x + 1
        raise ValueError(x.shape)


class RaisesThroughCallee(torch.nn.Module):
    """A callee in a try block prints, then raises. forward cannot resume inside try, so it is skipped at the print (not
    counted). The callee logs the print again as a frame (counted, with the addition as its graph). Its resumed function
    raises and is also skipped (not counted). Three events at two places."""

    expected = counts(events=3, sites=2, graphs=1, ops=1, counter=1, explain=0, ids="GB0059,GB0088",
                      wrapped="frame skipped", fallback=2)

    def inner(self, x):
        x = x + 1
        print("seen")
        if x.shape[0] == 3:
            raise ValueError("three")
        return x

    def forward(self, x):
        try:
            return self.inner(x)
        except ValueError:
            return x * 2


class SuperMissing(torch.nn.Module):
    """A missing attribute of super() is a break, not the AttributeError that it means, and Dynamo cannot resume inside
    try: it goes back to the line before (not counted), whose two operations are the only graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0113", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        try:
            scale = super().scale
        except AttributeError:
            scale = 2
        return x * scale


class UnboundName(torch.nn.Module):
    """A name without a value: the same, for the same reason."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0011", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        if x.shape[0] > 5:
            scale = 3
        try:
            return x * scale
        except UnboundLocalError:
            return x * 2


class ImportMissing(torch.nn.Module):
    """A missing package that is imported in try: the same again."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0069", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        try:
            import breakwatch_zoo_absent  # noqa: F401
        except ImportError:
            x = x * 2
        return x


class CheckMessage(torch.nn.Module):
    """torch._check with a message made from a tensor: the call is rejected once."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB9158")

    def forward(self, x):
        y = x + 1
        torch._check(x.shape[0] > 1, lambda: f"{x}")
        return y * 2


class AssertOnTensor(torch.nn.Module):
    """assert on a value becomes an operation of the graph: sum, comparison, assertion, product."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        assert x.sum() > 0, "positive"
        return x * 2


class AssertWithMessage(torch.nn.Module):
    """An assertion whose message is made from the tensor cannot become an operation: it remains a branch."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        assert (x > 0).all(), (x, "positive")
        return x * 2


ALL = kinds_of(globals())
