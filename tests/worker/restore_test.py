"""What is replaced for a while is as it was afterwards."""

import types

import pytest
import torch
import worker_support  # noqa: F401  puts the worker on the path
from breakwatch_worker import restore
from breakwatch_worker.process import alarm


class Base:
    def named(self):
        return "base"


class Derived(Base):
    @staticmethod
    def own():
        return "own"


def test_an_attribute_is_replaced_only_inside_the_context():
    owner = types.SimpleNamespace(a=1, b=2)
    with restore.replaced(owner, a=3, c=4):
        assert vars(owner) == {"a": 3, "b": 2, "c": 4}
    assert vars(owner) == {"a": 1, "b": 2}


def test_an_attribute_is_restored_if_the_code_fails():
    with pytest.raises(ValueError), restore.replaced(Derived, own=None):
        raise ValueError
    assert Derived().own() == "own"  # still a static method


def test_an_inherited_attribute_is_inherited_again():
    with restore.replaced(Derived, named=lambda self: "derived"):
        assert Derived().named() == "derived"
    assert Derived().named() == "base" and "named" not in vars(Derived)


def test_what_code_leaves_on_modules_is_undone():
    module = torch.nn.BatchNorm1d(2)
    mean = module.running_mean
    with restore.kept(module.modules()):
        module.cache, module.training = torch.ones(2), False
        module.register_buffer("more", torch.ones(2))
        module.running_mean = torch.ones(2)
    assert module.training and not hasattr(module, "cache") and not hasattr(module, "more")
    assert module.running_mean is mean


def test_code_that_is_too_slow_is_ended_and_later_code_is_not():
    with pytest.raises(TimeoutError), alarm.raising_after(0.01, TimeoutError()):
        while True:
            pass
    with alarm.raising_after(0, TimeoutError()):
        assert sum(range(1000)) == 499500


def test_a_limit_that_is_swallowed_once_is_raised_again():
    raised = 0
    with alarm.raising_after(0.01, TimeoutError(), again_s=0.01):
        while raised < 2:
            try:
                while True:
                    pass
            except TimeoutError:
                raised += 1
    assert raised == 2
