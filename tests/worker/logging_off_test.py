"""Turning logging off changes no count, and cached texts are the same."""

import importlib
import sys
import traceback
from unittest import mock

import pytest
import torch
import zoo
import zoo_run
from breakwatch_worker.dynamo import logging_off
from breakwatch_worker.dynamo.trace import trace
from torch._dynamo import guards, symbolic_convert
from torch.utils import _traceback


@pytest.fixture
def quieted(monkeypatch):
    """A function that turns Dynamo's logging off until the test ends."""
    for owner, name in ((guards, "profile_guard_manager"), (symbolic_convert, "get_funcname"),
                        (traceback.StackSummary, "format_frame_summary"), (_traceback, "shorten_filename")):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    return logging_off.turn_logging_off


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A module of settings with its own cache."""
    tmp_path.joinpath("breakwatch_settings.py").write_text(
        "import sys\nfrom torch.utils._config_module import install_config_module\nspeed: int = 3\n"
        "names: list = ['a']\ninstall_config_module(sys.modules[__name__])\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("breakwatch_settings")
    logging_off.remember_settings(module)
    yield module
    del sys.modules[module.__name__]


@pytest.mark.parametrize("kind", zoo.ALL, ids=lambda kind: kind.__name__)
def test_no_count_and_no_site_changes(kind, quieted):
    loud = zoo_run.settled(kind)
    quieted()
    assert trace(kind().eval(), {"x": torch.ones(3)}).numbers() == loud


def _raise(depth):
    return 1 / 0 if depth == 0 else (_raise(depth - 1) + 1) * 2


def _text_of_error():
    try:
        _raise(3)
    except ZeroDivisionError as error:
        return "".join(traceback.format_exception(error))


def test_a_cached_frame_has_the_same_text(quieted):
    before = _text_of_error()
    quieted()
    assert [_text_of_error(), _text_of_error()] == [before, before]
    assert "^^^" in before


def test_a_cached_setting_follows_every_kind_of_change(settings):
    assert (settings.speed, vars(settings)["speed"]) == (3, 3)
    settings.speed = 4
    assert settings.speed == 4
    with settings.patch(speed=5):
        assert settings.speed == 5
    assert settings.speed == 4
    with mock.patch.object(settings, "speed", 6):
        assert settings.speed == 6
    assert settings.speed == 4
    settings.load_config({**settings.save_config_portable(), "speed": 7})
    assert settings.speed == 7


def test_a_deleted_setting_is_gone_until_it_is_set_again(settings):
    del settings.speed
    assert not hasattr(settings, "speed")
    settings.speed = 8
    assert settings.speed == 8


def test_a_setting_that_can_be_changed_in_place_is_not_cached(settings):
    settings.names.append("b")
    assert settings.names == ["a", "b"] and "names" not in vars(settings)


def test_dynamo_reads_the_cached_settings(quieted):
    quieted()
    assert "recompile_limit" in vars(torch._dynamo.config) or not hasattr(
        torch._dynamo.config._config["recompile_limit"].user_override, "reset")
    with torch._dynamo.config.patch(recompile_limit=1):
        assert torch._dynamo.config.recompile_limit == 1
    assert torch._dynamo.config.recompile_limit > 1


def test_frames_with_local_values_are_not_cached(quieted):
    quieted()
    texts = []
    for value in (1, 2):
        frames = traceback.StackSummary([traceback.FrameSummary("a.py", 1, "f", line="x", locals={"value": value})])
        texts.append("".join(frames.format()))
    assert "value = 1" in texts[0] and "value = 2" in texts[1]
