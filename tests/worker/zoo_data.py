"""Breaks that depend on the data of tensors: numbers taken from tensors, and branches on values."""

import torch
from zoo_counts import counts, kinds_of


class Tolist(torch.nn.Module):
    """A list of the three numbers of a tensor: one rejected call."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0109")

    def forward(self, x):
        n = (x + 1).tolist()
        return x * n[0]


class TolistOfWhole(torch.nn.Module):
    """A list of integers: Dynamo reads each from a fake tensor. This is rejected as an operator that depends on data,
    not as .item()."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0033")

    def forward(self, x):
        n = x.long().tolist()
        return x * n[0]


class IntOf(torch.nn.Module):
    """int() of a tensor is the same as .item()."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        return x + int(x.sum())


class FloatOf(torch.nn.Module):
    """float() of a tensor, used in the same line."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        return x * float(x.mean())


class BoolOf(torch.nn.Module):
    """bool() of a tensor outside of an if: a call, so the counter increases, unlike for a branch."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        flag = bool((x > 0).any())
        return x * 2, flag


class IfOnItem(torch.nn.Module):
    """The number is read from the tensor (one break). The branch on the resulting number is not a break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        if x.sum().item() > 0:
            return x * 2
        return x - 1


class IfNot(torch.nn.Module):
    """`not` needs the value of a tensor, like a branch."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        if not (x > 5).any():
            return x * 2
        return x - 1


class IfAnd(torch.nn.Module):
    """Two tensors with `and` between them are two branches, one after the other."""

    expected = counts(events=2, sites=1, graphs=3, ops=5, counter=0, explain=2, ids="GB0170")

    def forward(self, x):
        if x.sum() > 0 and x.max() > 0:
            return x * 2
        return x - 1


class NeverReached(torch.nn.Module):
    """A branch on a value after a constant false condition is never reached."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if self.training and x.sum() > 0:
            print("seen")
        return x * 2


class WhileOnTensor(torch.nn.Module):
    """Python tests the condition twice, before the loop and at its end. Each test is a branch that resumes in a new
    function, so the frame is not skipped because of the loop: two events at one line, not counted. One graph has the
    sum and the comparison. Another has the product, the sum and the comparison of one iteration, and the second
    iteration uses it again. No operation follows the loop."""

    expected = counts(events=2, sites=1, graphs=2, ops=5, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        while x.sum() < 10:
            x = x * 2
        return x


class IfInCallee(torch.nn.Module):
    """A branch on a value in a callee: the caller logs it while inlining (a rejected call, counted), the callee logs it
    again as its own frame (a branch, not counted). Four graphs: forward's addition, the callee's test, the branch that
    is taken, forward's product."""

    expected = counts(events=2, sites=1, graphs=4, ops=5, counter=1, explain=3, ids="GB0170")

    def inner(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    def forward(self, x):
        return self.inner(x + 1) * 3


class ListByTensor(torch.nn.Module):
    """A Python list indexed by a tensor: Dynamo can resume after reading an item. Two operations compute the index."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        factor = [1, 2, 3][x.long().max()]
        return x * factor


class SliceByTensor(torch.nn.Module):
    """A slice whose end is a tensor: Dynamo cannot resume after the instruction that makes it. It compiles up to the
    line before and runs the rest uncompiled."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0124", wrapped="cannot resume")

    def forward(self, x):
        end = x.long().max()
        return x[:end] + 1


class ModuleByTensor(torch.nn.Module):
    """A tensor selects the layer to call. The site is in torch's code that simulates indexing. Three operations compute
    the index, one belongs to the layer, in the resumed function."""

    expected = counts(events=1, sites=1, graphs=2, ops=4, counter=1, explain=1, ids="GB0124")

    class Layer(torch.nn.Module):
        def forward(self, x):
            return x * 2

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([self.Layer(), self.Layer()])

    def forward(self, x):
        which = x.long().max() - 1
        return self.layers[which](x)


class NameOfTensor(torch.nn.Module):
    """An attribute whose name is made from a tensor: getattr is rejected."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0190")

    def forward(self, x):
        name = f"scale{x.sum()}"
        return x * getattr(self, name, 2)


class RangeOfTensor(torch.nn.Module):
    """The call of range is rejected before the loop begins: two operations, then one iteration of the loop as a graph.
    """

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0124",
                      until={"2.13": (
                          "range of a tensor was rejected as a builtin",
                          {"ids": ["GB0059"]})})

    def forward(self, x):
        n = x.long().max()
        for _ in range(n):
            x = x + 1
        return x


class InTensor(torch.nn.Module):
    """`in` needs a value, and Dynamo cannot resume after its instruction: it goes back to the line before (not
    counted), whose two operations are the only graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0124", wrapped="cannot resume")

    def forward(self, x):
        x = torch.relu(x + 1)
        if 3 in x:
            x = x * 2
        return x


class TwoOnALine(torch.nn.Module):
    """Two numbers read from tensors in one line: two events, one site."""

    expected = counts(events=2, sites=1, graphs=3, ops=5, counter=2, explain=2, ids="GB0124")

    def forward(self, x):
        return x + x.sum().item() + x.max().item()


class TensorText(torch.nn.Module):
    """The text of a tensor."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0569",
                      until={"2.13": (
                          "the text of a tensor had no break type of its own",
                          {"ids": ["GB0059"]})})

    def forward(self, x):
        y = x + 1
        text = str(y)
        return y * 2, text


class TextOfTensor(torch.nn.Module):
    """An f-string of a tensor is made after the graph: no break, unlike str()."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        y = x + 1
        text = f"{y}"
        return y * 2, text


class Allclose(torch.nn.Module):
    """allclose returns a Python bool that depends on the data."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0033")

    def forward(self, x):
        same = torch.allclose(x, x + 1)
        return x * 2, same


class Equal(torch.nn.Module):
    """equal returns a Python bool like allclose. The addition is its argument and a graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0033")

    def forward(self, x):
        same = torch.equal(x, x + 1)
        return x * 2, same


class SortTensors(torch.nn.Module):
    """sorted() compares tensors, and the result depends on the data."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0207")

    def forward(self, x):
        parts = sorted([x.sum(), x.max()])
        return parts[0] + 1


class LargestByKey(torch.nn.Module):
    """max() by a key compares tensors, as sorted() does."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB5687",
                      until={"2.13": (
                          "the builtin was rejected because of its arguments",
                          {"ids": ["GB0193"]})})

    def forward(self, x):
        best = max([x.sum(), x.mean()], key=lambda value: value)
        return best + 1


ALL = kinds_of(globals())
