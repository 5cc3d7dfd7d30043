"""Zygotes that tests share: see worker_support.py."""

import pathlib
import sys
import threading

import pytest
from worker_support import Zygote


@pytest.fixture(autouse=True)
def as_in_a_child(monkeypatch):
    """Ignores threads that other tests left behind, and undoes what a capture in this process sets."""
    evaluator = sys.modules.get("breakwatch_worker.dynamo.evaluator")
    tuning = sys.modules.get("breakwatch_worker.process.tuning")
    if evaluator is not None:
        monkeypatch.setattr(evaluator, "_ALONE", threading.active_count())
    yield
    if tuning is not None:
        tuning.flush_denormals(False)


@pytest.fixture(scope="session")
def zygote():
    """One zygote for all tests that do not change it. It may run user code."""
    made = Zygote(BREAKWATCH_ALLOW_FACTORIES="1")
    made.hello = made.receive("hello")
    made.first = made.seen[0]
    yield made
    made.close()


@pytest.fixture(scope="session")
def allowing(zygote):
    """The same, for tests that run user code."""
    return zygote


@pytest.fixture(scope="session")
def villain_zygote():
    """A zygote whose captures misbehave on demand: see villains.py."""
    made = Zygote(sys.executable, str(pathlib.Path(__file__).with_name("villains.py")))
    made.hello = made.receive("hello")
    yield made
    made.close()
