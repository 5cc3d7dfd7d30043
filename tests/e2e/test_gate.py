"""The gate: a committed baseline, an allow-list, and exit code 2 for what got worse."""

import datetime
import json
import re

import pytest

TODAY = datetime.datetime.now(datetime.UTC).date()
LATER, EARLIER = TODAY + datetime.timedelta(days=30), TODAY - datetime.timedelta(days=2)


@pytest.fixture
def baseline(breakwatch, hub):
    """A baseline of two models, made by a sweep."""
    hub.model("org/broken", 2, sites=[["one", "GB0001", 2]])
    hub.model("org/whole", 1)
    breakwatch.run("sweep")
    path = breakwatch.tmp_path / "ci" / "baseline.tsv"
    path.parent.mkdir()
    breakwatch.run("baseline", "update", path)
    return path


def allow(baseline, section="allow", expires=LATER, **selector):
    (name, value), = selector.items()
    baseline.with_name("baseline.allow.yaml").write_text(
        f"{section}:\n  - {{{name}: {value}, owner: team-a, why: a test, expires: {expires}}}\n", encoding="utf-8")


def test_a_baseline_is_sorted_text_and_stable_under_another_sweep(breakwatch, hub, baseline):
    text = baseline.read_text(encoding="utf-8")
    lines = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    assert [line[:3] for line in lines[1:]] == [
        ["org/broken", "eval", "graph_breaks"], ["org/whole", "eval", "full_graph"]]  # fmt: skip
    breakwatch.run("sweep", "--rebuild", "always")
    breakwatch.run("baseline", "update", baseline)
    assert baseline.read_text(encoding="utf-8") == text
    rows = json.loads(breakwatch.run("baseline", "show", baseline, "--json").stdout)
    assert [row["breaks"] for row in rows] == [2, 0]


def test_a_sweep_that_is_no_worse_passes_its_gate(breakwatch, hub, baseline):
    assert "Gate: passed" in breakwatch.run("sweep", "--gate", baseline, code=0).stdout


def test_a_sweep_that_is_worse_ends_with_2_and_names_the_model(breakwatch, hub, baseline):
    hub.model("org/whole", 1, sites=[["one", "GB0001", 1]])
    done = breakwatch.run("sweep", "--gate", baseline, code=2)
    assert "Gate: failed, 1 worse" in done.stdout and "org/whole: breaks 0 -> 1" in done.stdout
    breakwatch.run("compare", "--baseline", baseline, code=2)
    found = json.loads(breakwatch.run("compare", "--baseline", baseline, "latest", "--json", code=2).stdout)
    assert [(row["model"], row["verdict"]) for row in found["gate"]["failures"]] == [("org/whole", "worse")]


def test_a_model_that_is_gone_or_skipped_fails_the_gate(breakwatch, hub, baseline):
    hub.model("org/whole", 1, status="skipped_missing_dependency")
    assert "skipped_missing_dependency" in breakwatch.run("sweep", "--gate", baseline, code=2).stdout
    hub.remove("org/whole")
    breakwatch.run("sweep", "--gate", baseline, code=2)
    breakwatch.run("sweep", "--gate", baseline, "--ignore", "gone", code=0)


def test_better_results_pass_and_name_the_command_that_records_them(breakwatch, hub, baseline):
    hub.model("org/broken", 2)
    done = breakwatch.run("sweep", "--gate", baseline, code=0)
    assert "1 better" in done.stdout and "baseline update" in done.stderr
    compared = breakwatch.run("compare", "--baseline", baseline).stderr
    command = re.search(r"`breakwatch (baseline update .*)` records", compared)[1].split()
    assert command in [line.split("`")[1].split()[1:] for line in done.stderr.splitlines() if "`" in line]
    assert "1 better" in breakwatch.run("baseline", "diff", baseline).stdout
    breakwatch.run(*command)
    assert "1 better" not in breakwatch.run("compare", "--baseline", baseline).stdout


def test_a_new_site_is_worse_even_with_fewer_breaks_unless_it_is_ignored(breakwatch, hub, baseline):
    hub.model("org/broken", 2, sites=[["two", "GB0002", 1]])
    assert "1 new site" in breakwatch.run("sweep", "--gate", baseline, code=2).stdout
    breakwatch.run("compare", "--baseline", baseline, "--ignore", "new-sites", code=0)


@pytest.mark.parametrize("selector", [{"model": "org/whole"}, {"reason": "GB0001"}])
def test_an_allowed_break_does_not_fail_until_its_entry_expires(breakwatch, hub, baseline, selector):
    hub.model("org/whole", 1, sites=[["one", "GB0001", 1]])
    allow(baseline, **selector)
    breakwatch.run("sweep", "--gate", baseline, code=0)
    allow(baseline, expires=EARLIER, **selector)
    assert "owner team-a" in breakwatch.run("compare", "--baseline", baseline, code=2).stdout


def test_an_unused_entry_is_reported(breakwatch, hub, baseline):
    allow(baseline, model="org/nobody")
    assert "unused   model org/nobody" in breakwatch.run("sweep", "--gate", baseline, code=0).stdout


def test_a_flaky_model_gets_its_own_verdict(breakwatch, hub, baseline):
    allow(baseline, section="flaky", model="org/whole")
    hub.model("org/whole", 1, sites=[["one", "GB0001", 1]])
    breakwatch.run("sweep", "--gate", baseline, code=0)
    assert "1 flaky" in breakwatch.run("compare", "--baseline", baseline).stdout


def test_the_first_build_has_no_baseline_and_passes(breakwatch, hub):
    hub.model("org/model", 1)
    path = breakwatch.tmp_path / "none.tsv"
    done = breakwatch.run("sweep", "--gate", path, code=0)
    assert "no_baseline" in done.stdout and f"baseline update {path}" in done.stderr
    assert "does not exist" in breakwatch.run("baseline", "show", path, code=1).stderr


def test_a_sweep_by_name_is_compared_with_the_lines_of_its_models(breakwatch, hub, baseline):
    breakwatch.run("sweep", "--model", "org/whole", "--gate", baseline, code=0)
    before = baseline.read_text(encoding="utf-8")
    breakwatch.run("baseline", "update", baseline)
    assert baseline.read_text(encoding="utf-8") == before, "a sweep by name removes no other model's line"


def test_hostile_names_survive(breakwatch, hub, baseline):
    hub.model("org/broken", 2, sites=[["a,b:c\td", "GB:1,\x1b[2", 2]])
    breakwatch.run("sweep")
    breakwatch.run("baseline", "update", baseline)
    assert "\x1b" not in baseline.read_text(encoding="utf-8")
    assert "Gate: passed" in breakwatch.run("sweep", "--gate", baseline, code=0).stdout


def test_a_sweep_of_one_mode_keeps_the_lines_of_the_others(breakwatch, hub, baseline):
    breakwatch.run("sweep", "--modes", "eval,train")
    breakwatch.run("baseline", "update", baseline)
    before = baseline.read_text(encoding="utf-8")
    done = breakwatch.run("sweep", "--gate", baseline, code=0)
    assert "lines of other modes, which are not compared: train" in done.stderr
    breakwatch.run("baseline", "update", baseline)
    assert baseline.read_text(encoding="utf-8") == before


def test_json_of_a_sweep_contains_the_gate(breakwatch, hub, baseline):
    hub.model("org/whole", 1, sites=[["one", "GB0001", 1]])
    gate = json.loads(breakwatch.run("sweep", "--gate", baseline, "--json", code=2).stdout)["gate"]
    assert gate["verdict"] == "failed" and [row["model"] for row in gate["failures"]] == ["org/whole"]
    assert "gate" not in json.loads(breakwatch.run("sweep", "--json").stdout)


def test_the_gate_is_read_before_anything_is_captured(breakwatch, hub, baseline):
    captured = len(breakwatch.captures())
    breakwatch.run("sweep", "--rebuild", "always", "--gate", breakwatch.tmp_path, code=74)
    breakwatch.run("sweep", "--rebuild", "always", "--gate", baseline, "--allow", "nowhere.yaml", code=74)
    assert "need --gate" in breakwatch.run("sweep", "--rebuild", "always", "--ignore", "gone", code=64).stderr
    assert len(breakwatch.captures()) == captured


def test_a_baseline_is_replaced_as_a_whole(breakwatch, hub, baseline):
    link = breakwatch.tmp_path / "link.tsv"
    link.symlink_to(baseline)
    baseline.chmod(0o640)
    before = baseline.stat()
    with open(baseline, encoding="utf-8") as reader:
        hub.model("org/broken", 2)
        breakwatch.run("sweep")
        breakwatch.run("baseline", "update", link)
        assert "GB0001" in reader.read(), "a reader sees the old text"
    assert link.is_symlink() and "GB0001" not in baseline.read_text(encoding="utf-8")
    assert baseline.stat().st_ino != before.st_ino and baseline.stat().st_mode == before.st_mode
    assert [path.name for path in baseline.parent.iterdir()] == ["baseline.tsv"]


def test_without_a_baseline_an_expired_entry_does_not_fail(breakwatch, hub):
    hub.model("org/model", 1)
    path = breakwatch.tmp_path / "baseline.tsv"
    allow(path, model="org/model", expires=EARLIER)
    assert "no_baseline" in breakwatch.run("sweep", "--gate", path, code=0).stdout


def test_what_cannot_be_read_is_named(breakwatch, hub, baseline):
    baseline.write_text(baseline.read_text(encoding="utf-8") + "half a line\n", encoding="utf-8")
    assert "baseline.tsv:6: expected 14 fields" in breakwatch.run("compare", "--baseline", baseline, code=78).stderr
    baseline.with_name("baseline.allow.yaml").write_text("allow:\n  - {model: m}\n", encoding="utf-8")
    assert "owner, why and expires" in breakwatch.run("compare", "--baseline", baseline, code=78).stderr
    assert "new-sites" in breakwatch.run("sweep", "--gate", baseline, "--ignore", "new-site", code=64).stderr
