"""A call in one block of interpreter frames behaves like a plain call, at any depth; denormal numbers are flushed."""

import sys
import traceback

import pytest
import torch
from breakwatch_worker import model_run
from breakwatch_worker.process import tuning
from breakwatch_worker.process.phases import Phases


def _depth(left):
    return 0 if left == 0 else 1 + _depth(left - 1)


_depth.__code__ = _depth.__code__.replace(co_stacksize=10_000)  # wide frames fill the block at little depth


def test_the_value_and_the_arguments_pass_through():
    assert tuning.in_one_block(divmod, 7, 3) == (2, 1)


def test_an_exception_passes_through_with_its_own_frames():
    with pytest.raises(ZeroDivisionError) as caught:
        tuning.in_one_block(lambda: 1 / 0)
    assert [frame.name for frame in traceback.extract_tb(caught.tb)][-2:] == ["in_one_block", "<lambda>"]


def test_calls_can_be_deeper_than_the_block():
    assert tuning.in_one_block(_depth, 200) == 200


def test_the_frame_can_be_inspected():
    assert tuning.in_one_block(lambda: sys._getframe(1).f_code.co_name) == "in_one_block"


def test_denormal_numbers_are_flushed_to_zero():
    nearly = torch.full((64,), 1e-39)
    tuning.flush_denormals()
    try:
        assert (nearly * 0.5).max() == 0
    finally:
        tuning.flush_denormals(False)
    assert (nearly * 0.5).max() > 0


@pytest.mark.parametrize("outputs, finite, skipped", [
    ([1.0], True, True), ([float("nan"), 1.0], True, False), ([float("nan"), float("nan")], False, True)])
def test_denormal_numbers_are_kept_only_if_the_output_is_finite_with_them(
        monkeypatch, outputs, finite, skipped):
    asked = model_run.ModelRun({"config": {}}, "reduced", Phases(lambda _: None))
    monkeypatch.setattr(asked, "_eager", lambda *_, **__: torch.tensor(outputs.pop(0)))
    assert asked._is_finite() is finite
    assert not outputs
    assert (float(torch.tensor(1e-40) * 0.5) == 0) is skipped
