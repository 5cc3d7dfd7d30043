"""Factories like those of own_zoo.py, for calls that fail, end their process, or are impossible."""

import os
import signal
import sys
import threading

import torch


def made_of_shapes_alone():
    """An operator that has only a fake kernel: it cannot run, but it can be exported."""
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


def does_not_fit():
    return torch.nn.Linear(3, 3), {"x": torch.ones(2, 3)}


def ends_by_a_signal():
    return lambda x: os.kill(os.getpid(), signal.SIGSEGV), (torch.ones(2),)


def leaves():
    return lambda x: os._exit(3), (torch.ones(2),)


def a_builtin_alone():
    return torch.sin


class Calls(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def _given(function) -> tuple:
    return Calls(function), (torch.ones(2, 4),)


def exits():
    return _given(lambda x: sys.exit("no licence key found"))


def _interrupt(x):
    raise KeyboardInterrupt("enough")


def is_interrupted():
    return _given(_interrupt)


def leaves_without_an_error():
    return _given(lambda x: os._exit(0))


def takes_one_of_two():
    return Calls(torch.sin), (torch.ones(2, 4), torch.ones(2, 4))


def fits_one_batch():
    return _given(lambda x: x.view(8) + torch.zeros(8))


def _fail_after_a_break(x):
    torch._dynamo.graph_break()
    raise ValueError("it never ran")


def fails_after_a_break():
    return _given(_fail_after_a_break)


class RunsItsBackward(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        loss = self.inner(x).sum()
        loss.backward()
        return loss


def runs_its_backward():
    return RunsItsBackward(), (torch.ones(2, 4),)


def _beside_a_thread(factory):
    """The same where a fork cannot be an exact copy."""
    def make():
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        return factory()

    return make


BUSY = "busy_"
for _factory in (exits, is_interrupted, leaves_without_an_error, takes_one_of_two, fits_one_batch, fails_after_a_break,
                 runs_its_backward, never_runs):
    globals()[BUSY + _factory.__name__] = _beside_a_thread(_factory)
