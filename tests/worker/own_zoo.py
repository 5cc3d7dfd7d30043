"""Factories of modules and other callables, as a user writes them. A capture finds other breaks than torch.compile in a
fresh process if it makes an additional call, copies an argument inexactly, or wraps the callable.

Nothing of breakwatch is imported here, because plain torch also reads this file. The name of each factory describes it.
"""

import dataclasses
import functools
import json
import os
import pathlib
import random
import signal
import threading

import torch


def break_if(condition) -> None:
    if condition:
        torch._dynamo.graph_break()


# What only the first call does.
class FillsItsClass(torch.nn.Module):
    ready = False

    def forward(self, x):
        if not FillsItsClass.ready:
            print("filled")
            FillsItsClass.ready = True
        return x + 1


def fills_its_class():
    return FillsItsClass(), (torch.ones(2, 3),)


_SCALE = None


def _scale():
    global _SCALE
    if _SCALE is None:
        print("made")
        _SCALE = 2.0
    return _SCALE


class AsksALazyGlobal(torch.nn.Module):
    def forward(self, x):
        return x * _scale() + 1


def asks_a_lazy_global():
    return AsksALazyGlobal(), (torch.ones(2, 3),)


@functools.cache
def _cached(width):
    print("computed")
    return float(width)


class AsksACache(torch.nn.Module):
    def forward(self, x):
        return x * _cached(x.shape[-1]) + 1


def asks_a_cache():
    return AsksACache(), (torch.ones(2, 3),)


class CountsItsCache(torch.nn.Module):
    def forward(self, x):
        break_if(_cached.cache_info().currsize == 0)
        return x + 1


def counts_its_cache():
    return CountsItsCache(), (torch.ones(2, 3),)


class SetsTheEnvironment(torch.nn.Module):
    def forward(self, x):
        if "OWN_ZOO_READY" not in os.environ:
            os.environ["OWN_ZOO_READY"] = "1"
            x = x + 1
        return x * 2


def sets_the_environment():
    return SetsTheEnvironment(), (torch.ones(2, 3),)


class KeepsWhatItSaw(torch.nn.Module):
    def forward(self, x):
        break_if(not hasattr(self, "seen"))
        self.seen = x.shape
        return x + 1


def keeps_what_it_saw():
    return KeepsWhatItSaw(), (torch.ones(2, 3),)


def reads_a_generator():
    def add(numbers):
        total = torch.zeros(2)
        for number in numbers:
            total = total + number
        return total

    return add, ((number for number in (1.0, 2.0)),)


_SEED = 3


@torch._dynamo.disable
def _draw():
    return random.random()


class DrawsANumber(torch.nn.Module):
    """Breaks if the random number is not the first one of the factory's seed."""

    def forward(self, x):
        break_if(_draw() != random.Random(_SEED).random())
        return x + 1


def draws_a_number():
    random.seed(_SEED)
    return DrawsANumber(), (torch.ones(2, 3),)


# The mode in which it is called.
class MergesInEval(torch.nn.Module):
    """Like adapters, permanently."""

    merged = False

    def train(self, mode=True):
        self.merged = self.merged or not mode
        return super().train(mode)

    def forward(self, x):
        break_if(self.merged)
        return x + 1


def merges_in_eval():
    return MergesInEval(), (torch.ones(2, 3),)


class Encodes(torch.nn.Module):
    def encode(self, x):
        break_if(self.training)
        return x + 1


def is_a_method_in_training():
    return Encodes().train().encode, (torch.ones(2, 3),)


def is_a_method_in_eval():
    return Encodes().eval().encode, (torch.ones(2, 3),)


# Properties of an argument.
class Asks(torch.nn.Module):
    """Breaks if a tensor has the property `about`."""

    def __init__(self, about):
        super().__init__()
        self.about = about
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x, *others):
        break_if(self.about(self, x, *others))
        return x * self.weight


def is_no_view():
    return Asks(lambda _, x: not x._is_view()), (torch.ones(2, 3),)


def is_a_view():
    return Asks(lambda _, x: x._is_view()), (torch.ones(4, 3)[:2],)


def is_a_leaf_with_a_gradient():
    x = torch.ones(2, 3, requires_grad=True)
    x.grad = torch.ones(2, 3)
    return Asks(lambda _, x: x.is_leaf and x.grad is not None), (x,)


def has_strides_of_its_own():
    return Asks(lambda _, x: x.stride() == (5, 1)), (torch.ones(2, 5)[:, :3],)


def is_expanded():
    return Asks(lambda _, x: x.stride(0) == 0), (torch.ones(3).expand(2, 3),)


def is_expanded_within_its_rows():
    return Asks(lambda *_: False), (torch.randn(2, 1, 3).expand(2, 4, 3),)


def is_the_modules_own():
    made = Asks(lambda module, _, weight: weight is module.weight)
    return made, (torch.ones(2, 3), made.weight)


def is_one_object():
    x = torch.ones(2, 3)
    return Asks(lambda _, x, y: x is y), (x, x)


class WritesThenAsks(torch.nn.Module):
    """Two arguments share memory: a write to one is visible in the other."""

    def forward(self, x, y):
        x.add_(1)
        if y.reshape(-1)[0].item() > 1:
            torch._dynamo.graph_break()
        return y * 2


def shares_its_memory():
    x = torch.ones(2, 3)
    return WritesThenAsks(), (x, x[:1])


class Writes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, x):
        x.mul_(2)
        return self.inner(x)


def is_written_into():
    return Writes(), (torch.ones(2, 3),)


def is_a_computed_view_that_is_written_into():
    return Writes(), ((torch.ones(4, 3, requires_grad=True) * 2)[:2],)


class Reshapes(torch.nn.Module):
    def forward(self, x):
        return x.view(-1).sin().reshape(x.shape) + x.shape[0]


def is_reshaped():
    return Reshapes(), (torch.ones(4, 6),)


# Objects that cannot be copied, or have no size.
class WithASparseBuffer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("links", torch.eye(3).to_sparse())

    def forward(self, x):
        return torch.sparse.mm(self.links, x) + 1


def with_a_sparse_buffer():
    return WithASparseBuffer(), (torch.ones(3, 2),)


def lazy():
    return torch.nn.Sequential(torch.nn.LazyLinear(4), torch.nn.ReLU()), (torch.ones(2, 3),)


class OfRows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)

    def forward(self, rows):
        return self.inner(rows).relu()


def jagged():
    rows = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)], layout=torch.jagged)
    return OfRows(), (rows,)


def jagged_beside_a_thread():
    busy_elsewhere()
    return jagged()


@dataclasses.dataclass
class Locked:
    x: torch.Tensor
    lock: object


class OfLocked(torch.nn.Module):
    def forward(self, held):
        return held.x + 1


def locked():
    return OfLocked(), (Locked(torch.ones(2, 3), threading.Lock()),)


def busy_elsewhere():
    """Another thread runs, as for a progress bar."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    return KeepsWhatItSaw(), (torch.ones(2, 3),)


def ignores_its_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    return KeepsWhatItSaw(), (torch.ones(2, 3),)


def draws_beside_a_thread():
    busy_elsewhere()
    return draws_a_number()


def shared_with_other_processes():
    made = Counts()
    made.share_memory()
    return made, (torch.ones(2, 3),)


class Counts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x):
        self.calls += 1
        if self.calls.item() == 1:
            torch._dynamo.graph_break()
        return x + self.calls


# Where it is made.
def reads_beside():
    with open("width.txt") as file:
        return torch.nn.Linear(int(file.read()), 2), (torch.ones(2, 5),)


def llava():
    """From a config, called with text and the position of an image in it."""
    import transformers

    values = json.loads((pathlib.Path(__file__).parent / "llava.json").read_text())
    config = transformers.LlavaConfig(**values)
    side = config.vision_config.image_size
    features = (side // config.vision_config.patch_size) ** 2
    ids = torch.full((2, 16 + features), 7)
    ids[:, 1:1 + features] = config.image_token_id
    return transformers.LlavaForConditionalGeneration(config), {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.zeros(2, 3, side, side)}
