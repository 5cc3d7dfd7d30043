"""Filters of models, owners and overrides: --filter, --owner, --model and models.yaml, with real files."""

import json
import signal

import pytest

MODELS = """
owners:
  compilers: {contact: "#compilers", models: [org/broken, other/*]}
overrides:
  - models: owner:compilers and not other/late
    limits: {capture: 90s, rss_bytes: 1GiB}
    dtype: bfloat16
    attention: eager
    inputs: {sizes: {seq: 9}}
  - models: other/late
    skip: waits for a release
  - models: org/whole
    modes: [eval, train]
"""


@pytest.fixture
def rules(breakwatch, hub):
    """Four models, and a models.yaml."""
    hub.model("org/broken", 4, sites=[["one", "GB0001", 2]])
    hub.model("org/whole", 3)
    hub.model("other/slow", 2, status="timeout")
    hub.model("other/late", 1)
    path = breakwatch.tmp_path / "models.yaml"
    path.write_text(MODELS, encoding="utf-8")
    return path


def results(breakwatch, *args):
    rows = json.loads(breakwatch.run("report", "--json", *args).stdout)["results"]
    return {(row["model"], row["mode"]): row for row in rows}


def jobs(breakwatch):
    return {job["model"]: job for job in map(json.loads, (breakwatch.tmp_path / "jobs").read_text().splitlines())}


def test_overrides_change_the_jobs_of_a_sweep(breakwatch, rules):
    breakwatch.run("sweep", "--models.file", rules)
    job = jobs(breakwatch)["org/broken"]
    assert (job["dtype"], job["attention"], job["inputs_spec"]) == ("bfloat16", "eager", {"sizes": {"seq": 9}})
    assert (job["limits"]["capture_s"], job["limits"]["rss_bytes"]) == (90, 1 << 30)
    assert "dtype" not in jobs(breakwatch)["org/whole"] and "other/late" not in jobs(breakwatch)
    found = results(breakwatch)
    assert {("org/whole", "eval"), ("org/whole", "train")} <= found.keys()
    late = found["other/late", "eval"]
    assert (late["status"], late["status_detail"]) == ("skipped_filtered", f"waits for a release ({rules}:11:11)")


def test_reports_name_and_select_owners(breakwatch, rules):
    owned = ("--models.file", rules)
    breakwatch.run("sweep", *owned)
    assert {row["owners"][0] for row in results(breakwatch, *owned, "--owner", "compilers").values()} == {"compilers"}
    assert len(results(breakwatch, *owned, "--filter", "not owner:*")) == 2
    for args in ("report",), ("report", "--format", "md"), ("show", "--owner", "compilers"):
        assert "compilers" in breakwatch.run(*args, *owned).stdout
    assert "compilers" in (breakwatch.state / "latest/report.md").read_text(encoding="utf-8")
    assert "unknown owner" in breakwatch.run("report", "--owner", "compilers", code=64).stderr


def test_a_sweep_repeats_what_timed_out(breakwatch, hub, rules):
    breakwatch.run("sweep")
    hub.model("other/slow", 2)
    done = json.loads(breakwatch.run("sweep", "--json", "--model", "status:timeout").stdout)
    assert [(row["model"], row["status"]) for row in done["results"]] == [("other/slow", "full_graph")]
    assert not done["sweep"]["ranked"]
    shown = json.loads(breakwatch.run("show", "--json", "--filter", "status:numbers and not reason:GB0001").stdout)
    assert sorted(row["model"] for row in shown) == ["org/whole", "other/late", "other/slow"]


def test_names_that_match_nothing_are_usage_errors_with_the_nearest(breakwatch, rules):
    breakwatch.run("sweep")
    for command in "show", "reasons", "report":
        assert 'did you mean "org/whole"?' in breakwatch.run(command, "--filter", "org/whoel", code=64).stderr
    assert 'did you mean "status"?' in breakwatch.run("sweep", "--model", "statsu:timeout", code=64).stderr
    listing = breakwatch.tmp_path / "mine.txt"
    listing.write_text("org/*\nfamly:nlp\n", encoding="utf-8")
    assert "mine.txt:2: unknown key" in breakwatch.run("report", "--filter", f"@{listing}", code=64).stderr


def test_a_daemon_applies_filters_and_rereads_the_file(breakwatch, hub, rules):
    child, _ = breakwatch.serve("--models.file", rules)
    listing = breakwatch.tmp_path / "mine.txt"
    listing.write_text("org/wh*\nother/late\n", encoding="utf-8")
    done = json.loads(breakwatch.run("sweep", "--json", "--model", f"@{listing}").stdout)
    assert {(row["model"], row["status"]) for row in done["results"]} == {
        ("org/whole", "full_graph"), ("other/late", "skipped_filtered")}  # fmt: skip
    assert "did you mean" in breakwatch.run("sweep", "--model", "org/whoel*", "--owner", "compiler", code=64).stderr
    rules.write_text("overrides: [{models: org/whole, skip: on holiday}]\n", encoding="utf-8")
    child.send_signal(signal.SIGHUP)
    done = json.loads(breakwatch.run("sweep", "--json", "--model", "org/wh*").stdout)
    assert [row["status"] for row in done["results"]] == ["skipped_filtered"]


def test_a_wrong_file_names_every_problem_by_its_place(breakwatch, rules):
    rules.write_text("owner: {}\noverrides:\n  - {models: famly:nlp, skip: x}\n", encoding="utf-8")
    done = breakwatch.run("config", "check", "--models.file", rules, code=78)
    assert f'{rules}:1:1: unknown key "owner"; did you mean "owners"?' in done.stderr
    assert f'{rules}:3:14: models: unknown key "famly"; did you mean "family"?' in done.stderr
