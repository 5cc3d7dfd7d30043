"""Zygotes that tests share: see worker_support.py."""

import pathlib
import sys
import threading

import pytest
from worker_support import Zygote


@pytest.fixture(autouse=True)
def as_in_a_child(monkeypatch):
    """Threads that other tests left are no model's; what a capture in this process sets does not outlive its test."""
    evaluator, tuning = (sys.modules.get(f"breakwatch_worker.{name}") for name in ("dynamo.evaluator", "process.tuning"))
    if evaluator is not None:
        monkeypatch.setattr(evaluator, "_ALONE", threading.active_count())
    yield
    if tuning is not None:
        tuning.skip_denormals(False)


@pytest.fixture(scope="session")
def zygote():
    """One zygote for all tests that leave it as they found it, with leave to run code of others."""
    made = Zygote(BREAKWATCH_ALLOW_FACTORIES="1")
    made.hello = made.receive("hello")
    made.first = made.seen[0]
    yield made
    made.close()


@pytest.fixture(scope="session")
def allowing(zygote):
    """The same, where that leave is needed."""
    return zygote


@pytest.fixture(scope="session")
def villain_zygote():
    """A zygote whose captures misbehave on demand: see villains.py."""
    made = Zygote(sys.executable, str(pathlib.Path(__file__).with_name("villains.py")))
    made.hello = made.receive("hello")
    yield made
    made.close()
