"""Python's own evaluator runs Dynamo's frames, and Dynamo still compiles all other frames."""

import threading

import pytest
import torch
import zoo
import zoo_run
from breakwatch_worker.dynamo import evaluator
from breakwatch_worker.dynamo.trace import trace

pytestmark = pytest.mark.skipif(evaluator._FUNCTIONS is None, reason="this Python does not export its evaluator")


class Twice(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2


def _own_while_traced() -> list:
    seen = []

    def backend(graph_module, _):
        seen.append(evaluator.is_pythons_own())
        return graph_module.forward

    assert trace(Twice().eval(), {"x": torch.ones(2)}, backend=backend).graphs == 2
    return seen


def test_tracing_uses_pythons_own_evaluator_and_the_next_frame_is_observed_again():
    assert _own_while_traced() == [True, True]


def test_the_evaluator_is_kept_if_another_thread_runs():
    ended = threading.Event()
    thread = threading.Thread(target=ended.wait)
    thread.start()
    try:
        assert _own_while_traced() == [False, False]
    finally:
        ended.set()
        thread.join()


def test_frames_are_observed_again_after_an_error_while_tracing():
    def backend(*_):
        raise ZeroDivisionError

    assert trace(Twice().eval(), {"x": torch.ones(2)}, backend=backend).error is not None
    assert _own_while_traced() == [True, True]


@pytest.mark.parametrize("kind", zoo.ALL, ids=lambda kind: kind.__name__)
def test_no_count_and_no_site_changes(kind, monkeypatch):
    own = zoo_run.settled(kind)
    monkeypatch.setattr(evaluator, "_FUNCTIONS", None)
    assert trace(kind().eval(), {"x": torch.ones(3)}).numbers() == own
