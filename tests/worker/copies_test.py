"""Copies that are what they copy, and modules that are as they were before a call."""

import collections

import pytest
import torch
import transformers
from breakwatch_worker.copies import as_before, copy_of, fresh


def test_a_fresh_copy_keeps_types_and_what_is_one_object():
    Pair = collections.namedtuple("Pair", "left right")
    x = torch.ones(2)
    output = transformers.modeling_outputs.BaseModelOutput(last_hidden_state=x)
    made = fresh({"q": x, "k": x, "pair": Pair(x, 1), "output": output, "rows": [x, (x,)]})
    assert made["q"] is made["k"] is made["pair"].left is made["rows"][1][0] and made["q"] is not x
    assert type(made["pair"]) is Pair and type(made["output"]) is type(output)
    assert made["output"][0] is made["output"].last_hidden_state is made["q"]


TENSORS = {
    "plain": lambda: torch.ones(2, 3),
    "leaf": lambda: torch.ones(2, 3, requires_grad=True),
    "parameter": lambda: torch.nn.Parameter(torch.ones(2, 3)),
    "transposed": lambda: torch.arange(6.0).reshape(3, 2).t(),
    "expanded": lambda: torch.arange(3.0).expand(2, 3),
    "columns of a wider one": lambda: torch.arange(10.0).reshape(2, 5)[:, :3],
    "computed": lambda: torch.ones(2, 3, requires_grad=True) * 2,
    "complex": lambda: torch.ones(2, 3, dtype=torch.complex64),
    "a number": lambda: torch.tensor(7),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_copied_tensor_is_what_the_first_one_is_in_memory_of_its_own(name):
    tensor = TENSORS[name]()
    copied = copy_of(tensor)
    assert torch.equal(copied, tensor) and copied.data_ptr() != tensor.data_ptr()
    for what in ("shape", "dtype", "requires_grad", "is_leaf"):
        assert getattr(copied, what) == getattr(tensor, what), what
    assert (type(copied), copied.stride()) == (type(tensor), tensor.stride())


def test_a_copy_of_what_was_computed_hangs_on_no_other_calls_graph():
    computed = torch.ones(3, requires_grad=True).exp()
    for _ in range(2):
        copy_of(computed).sum().backward()
    computed.sum().backward()


@pytest.mark.parametrize("name", ["plain", "transposed", "expanded"])
def test_other_rows_lie_in_memory_as_the_first_ones_do(name):
    tensor = TENSORS[name]()
    copied = copy_of(tensor, torch.tensor([0, 1, 0]))
    assert torch.equal(copied, tensor[torch.tensor([0, 1, 0])])
    assert copied.is_contiguous() == tensor.is_contiguous()
    assert [step == 0 for step in copied.stride()] == [step == 0 for step in tensor.stride()]


class Remembers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.calls, self.seen = 0, []
        self.register_buffer("total", torch.zeros(3))
        self.register_buffer("newest", torch.zeros(3))

    def forward(self, x):
        self.calls += 1
        self.seen.append(self.calls)
        self.total += x
        self.newest = x
        self.late = torch.nn.Linear(1, 1)
        return x


def test_a_module_is_as_before_what_is_called():
    outer = torch.nn.Sequential(Remembers())
    with as_before(outer):
        outer(torch.ones(3))
        assert outer[0].calls == 1
    inner = outer[0]
    assert (inner.calls, inner.seen, list(inner.children())) == (0, [], [])
    assert inner.total.sum() == inner.newest.sum() == 0
    outer(torch.ones(3))
    assert (inner.calls, inner.seen, len(list(inner.children()))) == (1, [1], 1)


def test_a_call_that_fails_leaves_the_module_as_before_too():
    module = Remembers()
    with pytest.raises(RuntimeError), as_before(module):
        module(torch.ones(7))
    assert module.calls == 0


def test_a_container_that_refuses_to_be_refilled_is_left_alone():
    class Frozen(dict):
        def clear(self):
            raise TypeError("frozen")

    module = torch.nn.Identity()
    module.settings = Frozen(a=1)
    with as_before(module):
        module.seen = True
    assert module.settings == {"a": 1} and not hasattr(module, "seen")


def test_a_lazy_module_stays_what_it_became():
    module = torch.nn.LazyLinear(2)
    with as_before(module):
        module(torch.ones(1, 3))
    assert type(module) is torch.nn.Linear and module(torch.ones(1, 3)).shape == (1, 2)


def test_what_is_no_module_is_called_as_it_is():
    with as_before(len):
        assert len("ab") == 2
