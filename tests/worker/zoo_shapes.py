"""Shapes that depend on the data, sparse tensors, and numpy."""

import numpy as np
import torch
from zoo_counts import counts, kinds_of


class Mask(torch.nn.Module):
    """Indexing by a mask: the number of rows depends on the mask."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return x[x > 0] * 2


class MaskedSelect(torch.nn.Module):
    """masked_select: the comparison is a graph, the addition another."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return torch.masked_select(x, x > 0) + 1


class Unique(torch.nn.Module):
    """The size of the result of unique depends on the data; the same call makes the second result."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return torch.unique(x + 1) * 2


class WhereAlone(torch.nn.Module):
    """where with one argument is nonzero."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        (places,) = torch.where(x > 0)
        return places + 1


class RepeatByTensor(torch.nn.Module):
    """A tensor made by one operation contains the number of repeats."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return x.repeat_interleave(x.long()) + 1


class OneHot(torch.nn.Module):
    """Without an argument, the number of classes depends on the data."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0246")

    def forward(self, x):
        return torch.nn.functional.one_hot(x.long()) + 1


class Sparse(torch.nn.Module):
    """A sparse result is rejected (counted). The resumed function, which takes it as an argument, is skipped (not
    counted): two events with two reasons, no graph."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0015,GB0277",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        return x.to_sparse().to_dense() * 2


class SparseMade(torch.nn.Module):
    """Creating a sparse tensor is rejected (counted). Returning it requires it as an argument, which is also rejected
    and skips the resumed function: two places, and one graph before them."""

    expected = counts(events=2, sites=2, graphs=1, ops=1, counter=1, explain=0, ids="GB0007,GB0015",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        y = x + 1
        parts = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,))
        return y * 2, parts


class Numpy(torch.nn.Module):
    """numpy on tensors is traced as torch; the conversions to arrays and back are also operations."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        return torch.from_numpy(np.tanh(x.numpy())) + 1


class NumpyRandom(torch.nn.Module):
    """numpy's random numbers become torch's: drawn, converted to a tensor, added."""

    expected = counts(events=0, sites=0, graphs=1, ops=3, counter=0, explain=0)

    def forward(self, x):
        noise = np.random.uniform(0, 1, 3)
        return x + torch.from_numpy(noise)


class NumpyText(torch.nn.Module):
    """A numpy function without an equivalent in torch: rejected. The addition and its conversion to an array are a
    graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0294")

    def forward(self, x):
        text = np.array2string((x + 1).numpy())
        return x * 2, text


class NumpyBytes(torch.nn.Module):
    """An array method without an equivalent in torch."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0158")

    def forward(self, x):
        data = (x + 1).numpy().tobytes()
        return x * 2, data


class NumpyObjects(torch.nn.Module):
    """An array of objects: rejected, and not used again."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0250")

    def forward(self, x):
        (x + 1).numpy().astype(object)
        return x * 2


class NumpyObjectsKept(torch.nn.Module):
    """The object array is also returned. The resumed function needs it as a tensor, so it is skipped."""

    expected = counts(events=2, sites=2, graphs=1, ops=2, counter=1, explain=0, ids="GB0185,GB0250",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        items = (x + 1).numpy().astype(object)
        return x * 2, items


ALL = kinds_of(globals())
