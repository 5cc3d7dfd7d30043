"""`repro` writes a file that shows the breaks of a model, and says where there is none."""

import json

import pytest


@pytest.fixture
def broken(breakwatch, hub):
    hub.model("org/broken", 100, sites=[["branching", "GB0170", 2]])
    hub.model("org/other", 50, repro={"script": "", "why_not": "Net is not a model of transformers"})
    hub.model("org/lucky", 40, repro={"differs": "AssertionError: set()"})
    return breakwatch


def test_the_file_is_printed_or_written(broken):
    assert broken.run("repro", "org/broken", "--quiet").stdout == "print('breaks')\n"
    file = broken.tmp_path / "repro.py"
    broken.run("repro", "org/broken", "--quiet", "--output", str(file))
    assert file.read_text() == "print('breaks')\n"
    assert len(broken.captures()) == 1


def test_without_a_file_the_reason_is_said(broken):
    done = broken.run("repro", "org/other", "--quiet", code=1)
    assert done.stdout == "" and "no file for org/other: Net is not a model of transformers" in done.stderr


def test_a_file_that_finds_something_else_is_not_passed_off(broken):
    done = broken.run("repro", "org/lucky", "--quiet", code=1)
    assert "does not find the same: AssertionError" in done.stderr


def test_json_has_a_row_per_model(broken):
    document = json.loads(broken.run("repro", "org/broken", "org/other", "--json", "--quiet", code=1).stdout)
    assert [(m["model"], m["script"] is None, m["why_not"]) for m in document["models"]] == [
        ("org/broken", False, None), ("org/other", True, "Net is not a model of transformers")]  # fmt: skip
