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


def test_a_site_and_minimal_reach_the_worker(broken):
    broken.run("repro", "org/broken", "--site", "0123abcd", "--minimal", "--quiet")
    assert broken.captures()[-1]["repro"] == {"site": "0123abcd", "minimal": True, "budget_s": 120.0}


@pytest.mark.parametrize("site", ["abc", "xyz12345", "../../etc/passwd", "ABCDEF0123", "a" * 65, "", "\x1b[31m"])
def test_a_text_that_is_no_site_id_is_refused_before_a_capture(broken, site):
    done = broken.run("repro", "org/broken", "--site", site, "--quiet", code=64)
    assert "site: expected the id of a site" in done.stderr and "\x1b" not in done.stderr
    assert broken.captures() == []


def test_other_options_are_another_file(broken):
    broken.run("repro", "org/broken", "--quiet")
    broken.run("repro", "org/broken", "--site", "0123abcd", "--quiet")
    broken.run("repro", "org/broken", "--site", "0123abcd", "--quiet")
    assert len(broken.captures()) == 2


def test_a_file_that_could_not_be_reduced_is_given_with_the_reason(breakwatch, hub):
    hub.model("org/large", 100, repro={"why_full": "the smallest file found has 71 lines, more than 60"})
    done = breakwatch.run("repro", "org/large", "--minimal", "--quiet")
    assert done.stdout == "print('breaks')\n" and "org/large: the smallest file found has 71 lines" in done.stderr
    model = json.loads(breakwatch.run("repro", "org/large", "--minimal", "--json", "--quiet").stdout)["models"][0]
    assert model["why_full"].startswith("the smallest") and model["minimal"] is False and model["reduced"] == []
