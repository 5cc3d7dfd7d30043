"""Methods and attributes of tensors that Dynamo rejects: memory, in-place changes, gradients."""

import torch
from zoo_counts import counts, kinds_of


class DataPointer(torch.nn.Module):
    """The address of a tensor: Dynamo traces it without a break."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        where = (x + 1).data_ptr()
        return x * 2, where


class PointersCompared(torch.nn.Module):
    """Whether two tensors have one address: Dynamo supports only the case that they do. It can resume after a
    comparison."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB5976")

    def forward(self, x):
        y = x + 1
        same = y.data_ptr() == x.data_ptr()
        return y * 2, same


class StorageSize(torch.nn.Module):
    """The storage is available while tracing, its size is not."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0156")

    def forward(self, x):
        y = x + 1
        n = y.untyped_storage().nbytes()
        return y * n


class ShareMemory(torch.nn.Module):
    """Shared memory."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4197",
                      until={"2.13": (
                          "it had no break type of its own",
                          {"ids": ["GB0117"]})})

    def forward(self, x):
        y = x + 1
        y.share_memory_()
        return y * 2


class Resize(torch.nn.Module):
    """A tensor resized in place."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0126")

    def forward(self, x):
        y = x + 1
        y.resize_(2)
        return y * 2


class ResizeAs(torch.nn.Module):
    """Resized like another tensor, whose slice is an operation before the break."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0127")

    def forward(self, x):
        y = x + 1
        y.resize_as_(x[:2])
        return y * 2


class SetTensor(torch.nn.Module):
    """Changed to use a part of another tensor's memory."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0128")

    def forward(self, x):
        y = x + 1
        y.set_(x, 0, (2,), (1,))
        return y * 2


class SetData(torch.nn.Module):
    """An assignment to .data of an intermediate: refused, after the addition and the product that is assigned."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0056")

    def forward(self, x):
        y = x + 1
        y.data = x * 3
        return y * 2


class Random(torch.nn.Module):
    """random_ draws integers in place."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0107")

    def forward(self, x):
        y = (x + 1).random_(0, 2)
        return y + 1


class UniformFrom(torch.nn.Module):
    """uniform_ with an argument whose name is a Python keyword."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0110")

    def forward(self, x):
        y = (x + 1).uniform_(**{"from": 0.0, "to": 1.0})
        return y * 2


class InferenceAsked(torch.nn.Module):
    """Whether a tensor was made in inference mode; nothing is captured before this call."""

    expected = counts(events=1, sites=1, graphs=1, ops=1, counter=1, explain=0, ids="GB0045")

    def forward(self, x):
        flag = x.is_inference()
        return x * 2, flag


class RequireGrad(torch.nn.Module):
    """Requesting gradients of an intermediate tensor is traced. The permission for this is switched on and off around
    it, which adds two operations."""

    expected = counts(events=0, sites=0, graphs=1, ops=5, counter=0, explain=0)

    def forward(self, x):
        y = (x + 1).requires_grad_()
        return y * 2


class SetRequiresGrad(torch.nn.Module):
    """The same by assignment."""

    expected = counts(events=0, sites=0, graphs=1, ops=5, counter=0, explain=0,
                      until={"2.13": (
                          "an assignment to requires_grad was rejected",
                          {"events": 1, "sites": 1, "graphs": 2, "ops": 2, "counter": 1, "explain": 1,
                           "ids": ["GB0206"], "wrapped": []})})

    def forward(self, x):
        y = x + 1
        y.requires_grad = True
        return y * 2


class RetainGrad(torch.nn.Module):
    """Reading a method is not a call, and Dynamo cannot resume after it: it goes back to the line before (not counted),
    whose two operations are the only graph."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0108", wrapped="cannot resume")

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        y = torch.sin(x + 1)
        y.retain_grad()
        return y * 2


class GradFunction(torch.nn.Module):
    """Reading grad_fn: the same; the product in its line is not captured either."""

    expected = counts(events=1, sites=1, graphs=1, ops=2, counter=0, explain=0, ids="GB0104", wrapped="cannot resume")

    options = {"grad": True}

    def arguments(self):
        return {"x": torch.ones(3, requires_grad=True)}

    def forward(self, x):
        y = torch.sin(x + 1)
        return y * 2, y.grad_fn


class GradFromBirth(torch.nn.Module):
    """Creating a tensor that requires gradients is rejected; it is then an argument of the resumed function."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0225")

    def forward(self, x):
        y = x + 1
        weight = torch.ones(3, requires_grad=True)
        return y * weight


ALL = kinds_of(globals())
