"""Breaks that hang on the data of tensors: numbers taken out, shapes and branches that values decide."""

import numpy as np
import torch
from zoo_counts import counts


class Tolist(torch.nn.Module):
    """A list of a tensor's three numbers: one call refused."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0109")

    def forward(self, x):
        n = (x + 1).tolist()
        return x * n[0]


class IntOf(torch.nn.Module):
    """int() of a tensor is .item() in other words."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        return x + int(x.sum())


class FloatOf(torch.nn.Module):
    """float() of a tensor, used in the same line."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        return x * float(x.mean())


class BoolOf(torch.nn.Module):
    """bool() of a tensor outside an if: a call, so the counter moves, unlike at a branch."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        flag = bool((x > 0).any())
        return x * 2, flag


class IfOnItem(torch.nn.Module):
    """The number is taken out (one break); the branch on the number that is left is no break."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        if x.sum().item() > 0:
            return x * 2
        return x - 1


class IfNot(torch.nn.Module):
    """`not` before a tensor needs its value as a branch does."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        if not (x > 5).any():
            return x * 2
        return x - 1


class IfAnd(torch.nn.Module):
    """Two tensors joined by `and` are two branches, one after the other."""

    expected = counts(events=2, sites=1, graphs=3, ops=5, counter=0, explain=2, ids="GB0170")

    def forward(self, x):
        if x.sum() > 0 and x.max() > 0:
            return x * 2
        return x - 1


class NeverReached(torch.nn.Module):
    """A branch on a value behind a constant that is false is never met."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if self.training and x.sum() > 0:
            print("seen")
        return x * 2


class WhileOnTensor(torch.nn.Module):
    """Python tests twice, before the loop and at its end: each test is a branch that goes on in a function of its
    own, so the frame is not lost to the loop, and one line has two events."""

    expected = counts(events=2, sites=1, graphs=2, ops=5, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        while x.sum() < 10:
            x = x * 2
        return x


class IfInCallee(torch.nn.Module):
    """A branch on a value in a callee: the caller meets it as it inlines (a call refused, counted); the callee meets it
    again as a frame of its own (a branch, not counted)."""

    expected = counts(events=2, sites=1, graphs=4, ops=5, counter=1, explain=3, ids="GB0170")

    def inner(self, x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    def forward(self, x):
        return self.inner(x + 1) * 3


class AssertOnTensor(torch.nn.Module):
    """assert on a value becomes an operation of the graph."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        assert x.sum() > 0, "positive"
        return x * 2


class AssertWithMessage(torch.nn.Module):
    """An assertion whose message is made of the tensor cannot become an operation: it stays a branch."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=0, explain=1, ids="GB0170")

    def forward(self, x):
        assert (x > 0).all(), (x, "positive")
        return x * 2


class Mask(torch.nn.Module):
    """Indexing by a mask: as many rows as are true."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return x[x > 0] * 2


class Unique(torch.nn.Module):
    """unique has a size only the data knows; the second result is made by the same call."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return torch.unique(x + 1) * 2


class WhereAlone(torch.nn.Module):
    """where of one argument is nonzero."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        (places,) = torch.where(x > 0)
        return places + 1


class RepeatByTensor(torch.nn.Module):
    """How often each is repeated stands in a tensor."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return x.repeat_interleave(x.long()) + 1


class ListByTensor(torch.nn.Module):
    """A Python list indexed by a tensor."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        factor = [1, 2, 3][x.long().max()]
        return x * factor


class SliceByTensor(torch.nn.Module):
    """A slice that ends where a tensor says is made by an instruction after which Dynamo cannot go on: it compiles up
    to the line before and leaves the rest."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0124", wrapped="cannot resume")

    def forward(self, x):
        end = x.long().max()
        return x[:end] + 1


class TwoOnALine(torch.nn.Module):
    """Two numbers taken out in one line: two events, one site."""

    expected = counts(events=2, sites=1, graphs=3, ops=5, counter=2, explain=2, ids="GB0124")

    def forward(self, x):
        return x + x.sum().item() + x.max().item()


class Allclose(torch.nn.Module):
    """allclose gives a Python bool that only the data knows."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0033")

    def forward(self, x):
        same = torch.allclose(x, x + 1)
        return x * 2, same


class Numpy(torch.nn.Module):
    """numpy on tensors is traced as torch."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        return torch.from_numpy(np.tanh(x.numpy())) + 1


class NumpyRandom(torch.nn.Module):
    """numpy's random numbers become torch's."""

    expected = counts(events=0, sites=0, graphs=1, ops=3, counter=0, explain=0)

    def forward(self, x):
        noise = np.random.uniform(0, 1, 3)
        return x + torch.from_numpy(noise)


class DataPointer(torch.nn.Module):
    """Where a tensor lies in memory can be asked: Dynamo answers without a break."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        where = (x + 1).data_ptr()
        return x * 2, where


class TensorText(torch.nn.Module):
    """The text of a tensor."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0569",
                      until={"2.13": (
                          "the text of a tensor had no kind of its own",
                          {"ids": ["GB0059"]})})

    def forward(self, x):
        y = x + 1
        text = str(y)
        return y * 2, text


class RequireGrad(torch.nn.Module):
    """Asking for gradients of an intermediate is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=5, counter=0, explain=0)

    def forward(self, x):
        y = (x + 1).requires_grad_()
        return y * 2


class SetRequiresGrad(torch.nn.Module):
    """The same by assignment."""

    expected = counts(events=0, sites=0, graphs=1, ops=5, counter=0, explain=0,
                      until={"2.13": (
                          "an assignment to requires_grad was refused",
                          {"events": 1, "sites": 1, "graphs": 2, "ops": 2, "counter": 1, "explain": 1,
                           "ids": ["GB0206"], "wrapped": []})})

    def forward(self, x):
        y = x + 1
        y.requires_grad = True
        return y * 2


class Resize(torch.nn.Module):
    """A tensor resized in place."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0126")

    def forward(self, x):
        y = x + 1
        y.resize_(2)
        return y * 2


class Sparse(torch.nn.Module):
    """A sparse result is refused, and the function that goes on with it, which takes it as an argument, is left
    alone: two events of two kinds, no graph."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0015,GB0277",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        return x.to_sparse().to_dense() * 2


class Random(torch.nn.Module):
    """random_ draws whole numbers in place."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0107")

    def forward(self, x):
        y = (x + 1).random_(0, 2)
        return y + 1


class ItemInLoop(torch.nn.Module):
    """A number taken out in a loop: the frame is left alone, and with it the operations around."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB0124",
                      wrapped="graph break in loop / frame skipped", fallback=1)

    def forward(self, x):
        total = 0
        for row in x:
            total = total + row.item()
        return x * total


class ItemInComprehension(torch.nn.Module):
    """The same in a comprehension: forward meets it as it inlines, goes on behind it, and the comprehension itself is
    never a frame of the compiler's."""

    expected = counts(events=1, sites=1, graphs=2, ops=4, counter=1, explain=1, ids="GB0124")

    def forward(self, x):
        values = [row.item() for row in x]
        return x * len(values)


class InferenceAsked(torch.nn.Module):
    """Whether a tensor was made in inference mode; nothing is captured before it is asked."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0045")

    def forward(self, x):
        flag = x.is_inference()
        return x * 2, flag


ALL = [value for value in list(globals().values())
       if isinstance(value, type) and issubclass(value, torch.nn.Module) and hasattr(value, "expected")]
