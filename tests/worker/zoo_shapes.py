"""Shapes that the data decides, sparse tensors, and numpy."""

import numpy as np
import torch
from zoo_counts import counts, kinds_of


class Mask(torch.nn.Module):
    """Indexing by a mask: as many rows as are true."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return x[x > 0] * 2


class MaskedSelect(torch.nn.Module):
    """As many as are true, by its own name: the comparison is a graph, the addition another."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return torch.masked_select(x, x > 0) + 1


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
    """How often each is repeated stands in a tensor, made by one operation."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0036")

    def forward(self, x):
        return x.repeat_interleave(x.long()) + 1


class OneHot(torch.nn.Module):
    """Without a number of classes the data has it."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0246")

    def forward(self, x):
        return torch.nn.functional.one_hot(x.long()) + 1


class Sparse(torch.nn.Module):
    """A sparse result is refused (counted), and the function that goes on with it, which takes it as an argument, is
    skipped (not counted): two events of two kinds, no graph."""

    expected = counts(events=2, sites=2, graphs=0, ops=0, counter=1, explain=-1, ids="GB0015,GB0277",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        return x.to_sparse().to_dense() * 2


class SparseMade(torch.nn.Module):
    """Making a sparse tensor is refused (counted), and giving it back wants it as an argument, which is refused in turn
    and leaves that part alone: two places, and the one graph in front of them."""

    expected = counts(events=2, sites=2, graphs=1, ops=1, counter=1, explain=0, ids="GB0007,GB0015",
                      wrapped="frame skipped", fallback=1)

    def forward(self, x):
        y = x + 1
        parts = torch.sparse_coo_tensor([[0, 2]], [1.0, 2.0], (3,))
        return y * 2, parts


class Numpy(torch.nn.Module):
    """numpy on tensors is traced as torch; the views there and back are operations too."""

    expected = counts(events=0, sites=0, graphs=1, ops=4, counter=0, explain=0)

    def forward(self, x):
        return torch.from_numpy(np.tanh(x.numpy())) + 1


class NumpyRandom(torch.nn.Module):
    """numpy's random numbers become torch's: drawn, made a tensor, added."""

    expected = counts(events=0, sites=0, graphs=1, ops=3, counter=0, explain=0)

    def forward(self, x):
        noise = np.random.uniform(0, 1, 3)
        return x + torch.from_numpy(noise)


class NumpyText(torch.nn.Module):
    """A function of numpy's that torch does not have: refused. The addition and its view as an array are a graph."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0294")

    def forward(self, x):
        text = np.array2string((x + 1).numpy())
        return x * 2, text


class NumpyBytes(torch.nn.Module):
    """A method of an array that torch does not have."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0158")

    def forward(self, x):
        data = (x + 1).numpy().tobytes()
        return x * 2, data


class NumpyObjects(torch.nn.Module):
    """An array of objects: refused, and never looked at again."""

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
