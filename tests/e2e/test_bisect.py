"""Two toolchains and two commits: which of them changed a model's breaks."""

import json

import pytest
from fake_environment import make_environment

ONE, TWO = ["one", "GB0001", 1, 1], ["two", "", 2, 2]  # reason, id, breaks, place


@pytest.fixture
def watch(breakwatch, tmp_path):
    """By default torch 2.15 and transformers 5.23; toolchain "old" has torch 2.13 and transformers 5.8."""
    old = make_environment(tmp_path / "old", "2.13.0", "5.8.0")
    new = make_environment(tmp_path / "new", "2.15.0", "5.23.0")
    worker = breakwatch.settings.index("--capture.worker") + 1
    breakwatch.settings[worker] = json.dumps([str(new), str(tmp_path)])
    breakwatch.settings += ["--capture.toolchains", f"old={old}"]
    return breakwatch


def bisect(watch, *args, code=0):
    return json.loads(watch.run("bisect", "org/model", *args, "--json", code=code).stdout)


def captured_by(watch):
    return [tuple(line.split()[:2]) for line in (watch.tmp_path / "captured_by").read_text().splitlines()]


def test_a_break_of_a_new_torch_is_attributed_to_torch(watch, hub):
    hub.model("org/model", 1, rules=[{"torch": "2.15", "sites": [ONE]}])
    watch.run("sweep")
    found = bisect(watch, "--from", "old")
    assert found["text"] == "torch changed it"
    assert found["verdict"] == {"cause": "alone", "factors": ["torch"], "certain": True}
    assert [combination["breaks"] for combination in found["combinations"]] == [0, 1, 0, 1]
    assert [combination["new"] for combination in found["combinations"]] == [
        [],
        ["torch"],
        ["transformers"],
        ["torch", "transformers"],
    ]
    assert [(site["reason"], site["change"], site["changed_by"]["factors"]) for site in found["sites"]] == [
        ("one", "new", ["torch"])
    ]
    # The sweep's own combination was stored; the mixed environments consist of links.
    assert sorted(captured_by(watch)) == sorted(
        [("2.15.0", "5.23.0"), ("2.13.0", "5.8.0"), ("2.15.0", "5.8.0"), ("2.13.0", "5.23.0")]
    )
    mixed = watch.state / "toolchains/mixed-torch2.15.0-transformers5.8.0/lib/python3.11/site-packages"
    assert (mixed / "torch").readlink() == watch.tmp_path / "new/lib/python3.11/site-packages/torch"

    # Everything is known now: nothing is captured again, and the published results are unchanged.
    assert bisect(watch, "--from", "old") == found
    assert len(captured_by(watch)) == 4
    assert watch.results()["org/model"]["breaks"] == 1
    assert json.loads(watch.run("show", "org/model", "--json").stdout)["toolchain"] == "default"


def test_beside_a_daemon_it_captures_the_combinations(watch, hub):
    hub.model("org/model", 1, rules=[{"torch": "2.15", "sites": [ONE]}])
    child, _ = watch.serve()
    watch.run("sweep")
    found = bisect(watch, "--from", "old")
    assert found["text"] == "torch changed it"
    assert len(captured_by(watch)) == 4 and child.poll() is None
    assert watch.results()["org/model"]["breaks"] == 1
    assert len(list((watch.state / "sweeps").iterdir())) == 1, "a combination has no report"
    assert json.loads(watch.run("report", "--json").stdout)["sweep"]["trigger"] == "cli"


def test_each_site_has_its_own_cause(watch, hub):
    hub.model("org/model", 1, rules=[
        {"torch": "2.13", "transformers": "5.8", "sites": []}, {"torch": "2.13", "sites": [TWO]},
        {"transformers": "5.8", "sites": [ONE]}, {"sites": [ONE, TWO]}])  # fmt: skip
    found = bisect(watch, "--from", "old")
    assert found["text"] == "torch and transformers changed it, each a part of it"
    movers = {site["reason"]: site["changed_by"]["factors"] for site in found["sites"]}
    assert movers == {"one": ["torch"], "two": ["transformers"]}


def test_an_old_commit_is_taken_from_the_store_and_is_not_published(watch, hub):
    old = hub.model("org/model", 1)
    watch.run("sweep")
    new = hub.model("org/model", 1, sites=[ONE])
    watch.run("sweep")
    found = bisect(watch)  # since the newest state with different breaks
    assert found["text"] == "the model's commit changed it"
    assert [combination["commit"] for combination in found["combinations"]] == [old, new]
    found = bisect(watch, "--from", f"old@{old[:7]}")
    assert len(found["combinations"]) == 8
    assert found["verdict"] == {"cause": "alone", "factors": ["commit"], "certain": True}
    assert watch.results()["org/model"]["revision"] == new
    assert json.loads(watch.run("report", "--json").stdout)["sweep"]["trigger"] == "cli"


def test_the_verdict_is_uncertain_if_a_combination_fails(watch, hub):
    hub.model("org/model", 1, rules=[
        {"torch": "2.13", "transformers": "5.23", "status": "failed_create"},
        {"transformers": "5.23", "sites": [ONE]}])  # fmt: skip
    found = bisect(watch, "--from", "old")
    assert found["text"] == "transformers changed it, as far as known: some combinations could not be captured"
    text = watch.run("bisect", "org/model", "--from", "old").stdout
    assert "failed_create" in text and "2.13.0 (old)" in text and "5.23.0 (new)" in text


def test_toolchains_of_different_pythons_are_not_combined(watch, hub, tmp_path):
    hub.model("org/model", 1, rules=[{"torch": "2.15", "sites": [ONE]}])
    (tmp_path / "old/lib/python3.11").rename(tmp_path / "old/lib/python3.12")
    script = tmp_path / "old/bin/python"
    script.write_text(script.read_text().replace("python3.11", "python3.12"))
    found = bisect(watch, "--from", "old", code=3)
    assert found["verdict"]["cause"] == "unknown"
    statuses = [combination["status"] for combination in found["combinations"]]
    assert statuses == ["full_graph", None, None, "graph_breaks"]
    assert "python3.12" in found["combinations"][1]["note"]


def test_states_that_cannot_be_bisected_are_reported(watch, hub):
    hub.model("org/model", 1)
    watch.run("sweep")
    assert "--from" in watch.run("bisect", "org/model", code=64).stderr
    assert "there is nothing to compare" in watch.run("bisect", "org/model", "--from", "default", code=64).stderr
    assert "unknown toolchain none" in watch.run("bisect", "org/model", "--from", "none", code=64).stderr
