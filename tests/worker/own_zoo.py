"""Factories of modules and other callables, as a user writes them, of which a capture that calls once too often, copies
what it is given, or wraps what it calls, finds other breaks than torch.compile does in a process of its own.

Nothing of breakwatch is imported here: plain torch reads this file too. Each gives what it says in its name.
"""

import collections
import dataclasses
import functools
import json
import os
import pathlib
import signal
import threading

import torch


def break_if(condition) -> None:
    if condition:
        torch._dynamo.graph_break()


# What the first call alone does.
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


# What an argument is.
class Asks(torch.nn.Module):
    """Breaks where a tensor is what `about` says."""

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


def is_the_modules_own():
    made = Asks(lambda module, _, weight: weight is module.weight)
    return made, (torch.ones(2, 3), made.weight)


def is_one_object():
    x = torch.ones(2, 3)
    return Asks(lambda _, x, y: x is y), (x, x)


class WritesThenAsks(torch.nn.Module):
    """One memory seen through two arguments: what is written into the one is read from the other."""

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


# What cannot be copied, or be asked for its size.
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
    """A thread runs beside, as a progress bar's does."""
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    return KeepsWhatItSaw(), (torch.ones(2, 3),)


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


class Scales:
    """No module, and called all the same."""

    def __init__(self):
        self.by = torch.full((3,), 2.0)

    def __call__(self, x):
        return (x * self.by).relu()


def an_object_that_is_called():
    return Scales(), (torch.ones(2, 3),)


def made_of_shapes_alone():
    """An operator of which there is but what it says of its output: it cannot be run, and be exported."""
    library = torch.library.Library("own_zoo", "FRAGMENT")
    library.define("only_shapes(Tensor x) -> Tensor")
    torch.library.register_fake("own_zoo::only_shapes", lambda x: torch.empty_like(x), lib=library)
    WithoutKernel.library = library

    return WithoutKernel(), (torch.ones(2, 3),)


class WithoutKernel(torch.nn.Module):
    def forward(self, x):
        return torch.ops.own_zoo.only_shapes(x) + 1


def never_runs():
    return torch.nn.Linear(3, 3), (torch.ones(2, 5),)


# How it is called.
class TakesMany(torch.nn.Module):
    def forward(self, *parts):
        x = parts[0] + parts[1]
        torch._dynamo.graph_break()
        return x * 2


def takes_many():
    return TakesMany(), (torch.ones(2, 3), torch.ones(2, 3))


class TakesByPositionOnly(torch.nn.Module):
    def forward(self, x, /, scale=2.0):
        torch._dynamo.graph_break()
        return x * scale


def takes_by_position_only():
    return TakesByPositionOnly(), (torch.ones(2, 3),)


class TakesAnything(torch.nn.Module):
    def forward(self, x, **others):
        torch._dynamo.graph_break()
        return x + sum(others.values())


def takes_anything_by_name():
    return TakesAnything(), {"x": torch.ones(2, 3), "y": torch.ones(2, 3), "z": 1.0}


class TakesByNameOnly(torch.nn.Module):
    def forward(self, x, *, scale, shift=1.0):
        torch._dynamo.graph_break()
        return x * scale + shift


def takes_by_name_only():
    return TakesByNameOnly(), {"x": torch.ones(2, 3), "scale": 3.0}


class MixesAll(torch.nn.Module):
    def forward(self, x, /, y=None, *rest, scale=1.0, **others):
        torch._dynamo.graph_break()
        return (x if y is None else x + y) * scale


def mixes_all():
    return MixesAll(), (torch.ones(2, 3), torch.ones(2, 3), 1, 2)


Pair = collections.namedtuple("Pair", "left right")


@dataclasses.dataclass
class Batch:
    tokens: torch.Tensor
    mask: torch.Tensor = None


class TakesADataclass(torch.nn.Module):
    def forward(self, batch, pair):
        torch._dynamo.graph_break()
        return batch.tokens * batch.mask + pair.left


def takes_a_dataclass():
    tokens = torch.ones(2, 3)
    return TakesADataclass(), {"batch": Batch(tokens, torch.ones(2, 3)), "pair": Pair(tokens, 1)}


def takes_many_as_a_function():
    def add(*parts):
        torch._dynamo.graph_break()
        return sum(parts)

    return add, (torch.ones(2, 3), torch.ones(2, 3))


def is_a_method():
    return TakesMany().forward, (torch.ones(2, 3), torch.ones(2, 3))


def is_a_partial():
    def scaled(x, by):
        torch._dynamo.graph_break()
        return x * by

    return functools.partial(scaled, by=2.0), (torch.ones(2, 3),)


# Batches in containers of somebody's own.
class Registered:
    def __init__(self, tokens):
        self.tokens = tokens


torch.utils._pytree.register_pytree_node(
    Registered, lambda held: ([held.tokens], None), lambda items, _: Registered(*items))


class OfRegistered(torch.nn.Module):
    def forward(self, held):
        return held.tokens * 2 + held.tokens.shape[0]


def registered():
    return OfRegistered(), (Registered(torch.ones(2, 3)),)


def of_a_dataclass():
    return OfRegistered(), (Batch(torch.ones(2, 3)),)


# Where it is made.
def reads_beside():
    with open("width.txt") as file:
        return torch.nn.Linear(int(file.read()), 2), (torch.ones(2, 5),)


def does_not_fit():
    return torch.nn.Linear(3, 3), {"x": torch.ones(2, 3)}


def takes_many_as_a_function_without_breaks():
    def add(*parts):
        return parts[0] + parts[1]

    return add, (torch.ones(2, 3), torch.ones(2, 3))


def ends_by_a_signal():
    return lambda x: os.kill(os.getpid(), signal.SIGSEGV), (torch.ones(2),)


def leaves():
    return lambda x: os._exit(3), (torch.ones(2),)


def llava():
    """Of a config beside, called with text and a picture's places in it."""
    import transformers

    values = json.loads((pathlib.Path(__file__).parent / "llava.json").read_text())
    config = transformers.LlavaConfig(**values)
    side = config.vision_config.image_size
    features = (side // config.vision_config.patch_size) ** 2
    ids = torch.full((2, 16 + features), 7)
    ids[:, 1:1 + features] = config.image_token_id
    return transformers.LlavaForConditionalGeneration(config), {
        "input_ids": ids, "attention_mask": torch.ones_like(ids), "pixel_values": torch.zeros(2, 3, side, side)}
