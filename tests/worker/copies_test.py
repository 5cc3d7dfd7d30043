"""Copies of arguments match their originals."""

import collections
import threading

import pytest
import torch
import transformers
from breakwatch_worker.inputs.copies import CannotCopy, fresh, tensors_in, with_rows


def test_a_copy_keeps_types_and_shared_objects():
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
    "expanded within its rows": lambda: torch.randn(2, 1, 8).expand(2, 4, 8),
    "columns of a wider one": lambda: torch.arange(10.0).reshape(2, 5)[:, :3],
    "a view of a leaf": lambda: torch.ones(4, 3, requires_grad=True)[:2],
    "a view of what was computed": lambda: (torch.ones(4, 3, requires_grad=True) * 2)[:2],
    "a view that became a leaf": lambda: torch.ones(4, 3)[:2].requires_grad_(),
    "detached": lambda: torch.ones(2, 3, requires_grad=True).detach(),
    "conjugated": lambda: torch.ones(2, 3, dtype=torch.complex64).conj(),
    "sparse": lambda: torch.eye(3).to_sparse(),
    "sparse and a leaf": lambda: torch.eye(3).to_sparse().requires_grad_(),
    "a sparse parameter": lambda: torch.nn.Parameter(torch.eye(3).to_sparse()),
    "computed": lambda: torch.ones(2, 3, requires_grad=True) * 2,
    "complex": lambda: torch.ones(2, 3, dtype=torch.complex64),
    "a number": lambda: torch.tensor(7),
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_copied_tensor_equals_the_original_in_its_own_memory(name):
    tensor = TENSORS[name]()
    copied = fresh(tensor)
    assert copied is not tensor and torch.equal(copied.to_dense(), tensor.to_dense())
    for what in ("shape", "dtype", "layout", "requires_grad", "is_leaf"):
        assert getattr(copied, what) == getattr(tensor, what), what
    assert (type(copied), copied._is_view(), copied.is_conj()) == (type(tensor), tensor._is_view(), tensor.is_conj())
    if tensor.layout is torch.strided:
        assert copied.stride() == tensor.stride() and copied.storage_offset() == tensor.storage_offset()
        assert copied.untyped_storage().data_ptr() != tensor.untyped_storage().data_ptr()


@pytest.mark.parametrize("name", ["plain", "computed", "a view of what was computed"])
def test_writing_into_a_copy_works_like_writing_into_the_original(name):
    tensor = TENSORS[name]()
    copied = fresh(tensor)
    copied.mul_(2)
    assert torch.equal(copied, tensor * 2)


def test_writing_into_the_copy_of_a_view_made_without_gradients_is_rejected_too():
    base = torch.ones(4, 3, requires_grad=True) * 2
    with torch.no_grad():
        view = base[:2]
    for tensor in (view, fresh(view)):
        with pytest.raises(RuntimeError, match="created in no_grad mode"):
            tensor.mul_(torch.ones(3, requires_grad=True))


def test_copies_share_memory_like_the_originals():
    x = torch.ones(2, 3)
    copied, turned, bare = fresh([x, x.t(), x.detach()])
    copied.zero_()
    assert turned.sum() == bare.sum() == 0 and x.sum() > 0
    assert turned._base is copied and not bare._is_view()


def test_tensors_of_the_model_are_not_copied():
    model = torch.nn.Linear(3, 3)
    weight, row, child, x = fresh([model.weight, model.weight.detach()[0], model, torch.ones(3)], model)
    assert weight is model.weight and child is model
    assert row.data_ptr() == model.weight.data_ptr()
    method = fresh([model.bias], model.forward)
    assert method[0] is model.bias


def test_gradients_and_attributes_of_a_tensor_are_copied():
    leaf = torch.ones(2, requires_grad=True)
    leaf.grad, leaf.note = torch.full((2,), 3.0), ["seen"]
    copied = fresh(leaf)
    assert torch.equal(copied.grad, leaf.grad) and copied.grad is not leaf.grad
    assert copied.note == ["seen"] and copied.note is not leaf.note


@pytest.mark.parametrize("value", [
    threading.Lock(), (number for number in [1]), torch.eye(3).to_sparse().requires_grad_() * 2],
    ids=["lock", "generator", "computed and sparse"])
def test_an_argument_that_cannot_be_copied_raises_an_error_of_breakwatch(value):
    with pytest.raises(CannotCopy, match="^breakwatch cannot copy"):
        fresh([value])


def test_tensors_are_found_in_containers_of_any_class():
    class Holder:
        def __init__(self):
            self.inner, self.itself = {"x": [torch.ones(1)]}, self

    assert [path for path, _ in tensors_in((Holder(), torch.ones(2)))] == ["0.inner.x.0", "1"]


def test_a_copy_of_a_computed_tensor_depends_on_no_other_graph():
    computed = torch.ones(3, requires_grad=True).exp()
    for _ in range(2):
        fresh(computed).sum().backward()
    computed.sum().backward()


@pytest.mark.parametrize("name", ["plain", "transposed", "expanded", "expanded within its rows"])
def test_other_rows_have_the_same_memory_layout(name):
    tensor = TENSORS[name]()
    copied = with_rows(tensor, torch.tensor([0, 1, 0]))
    assert torch.equal(copied, tensor[torch.tensor([0, 1, 0])])
    assert copied.is_contiguous() == tensor.is_contiguous()
    assert [step == 0 for step in copied.stride()] == [step == 0 for step in tensor.stride()]
    assert copied._is_view() == tensor._is_view()
