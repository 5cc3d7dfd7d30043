"""What is left out of Dynamo's logs is in no count, and what is remembered is the same text."""

import traceback

import pytest
import torch
import zoo
from breakwatch_worker import quiet
from breakwatch_worker.trace import trace
from torch._dynamo import guards, symbolic_convert


@pytest.fixture
def quieted(monkeypatch):
    """A function that makes Dynamo quiet until the test ends."""
    for owner, name in ((guards, "profile_guard_manager"), (symbolic_convert, "get_funcname"),
                        (traceback.StackSummary, "format_frame_summary")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    return quiet.down


def _numbers(kind):
    return trace(kind().eval(), {"x": torch.ones(3)}).numbers()


@pytest.mark.parametrize("kind", zoo.ALL, ids=lambda kind: kind.__name__)
def test_no_count_and_no_site_changes(kind, quieted):
    _numbers(kind)  # the first call of a logger runs more frames than the second
    loud = _numbers(kind)
    quieted()
    assert _numbers(kind) == loud


def _raise(depth):
    return 1 / 0 if depth == 0 else (_raise(depth - 1) + 1) * 2


def _text_of_error():
    try:
        _raise(3)
    except ZeroDivisionError as error:
        return "".join(traceback.format_exception(error))


def test_a_remembered_frame_reads_as_before(quieted):
    before = _text_of_error()
    quieted()
    assert [_text_of_error(), _text_of_error()] == [before, before]
    assert "^^^" in before


def test_frames_with_local_values_are_not_remembered(quieted):
    quieted()
    texts = []
    for value in (1, 2):
        frames = traceback.StackSummary([traceback.FrameSummary("a.py", 1, "f", line="x", locals={"value": value})])
        texts.append("".join(frames.format()))
    assert "value = 1" in texts[0] and "value = 2" in texts[1]
