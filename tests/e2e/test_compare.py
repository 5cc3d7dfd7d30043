"""Comparisons of the results of two sweeps, toolchains and commits."""

import json

from fake_environment import make_environment


def two_sweeps(breakwatch, hub):
    hub.model("org/worse", 3, sites=[["one", "GB0001", 1]])
    hub.model("org/same", 2, sites=[["one", "GB0001", 2]])
    hub.model("org/better", 1, sites=[["two", "", 4]])
    breakwatch.run("sweep")
    old = {model: result["revision"] for model, result in breakwatch.results().items()}
    hub.model("org/worse", 3, sites=[["one", "GB0001", 1], ["new", "", 1]])
    hub.model("org/better", 1)
    breakwatch.run("sweep")
    return old


def test_two_sweeps_are_compared_model_by_model_and_site_by_site(breakwatch, hub):
    two_sweeps(breakwatch, hub)
    found = json.loads(breakwatch.run("compare", "previous", "latest", "--json").stdout)
    models = {model["model"]: model for model in found["models"]}
    assert {name: model["verdict"] for name, model in models.items()} == {
        "org/worse": "worse", "org/same": "same", "org/better": "better"}  # fmt: skip
    assert [site["reason"] for site in models["org/worse"]["new_sites"]] == ["new"]
    assert [site["breaks_a"] for site in models["org/better"]["gone_sites"]] == [4]
    assert found["totals"]["compared"] == {
        "a": {"models": 3, "clean": 0, "broken": 3, "without_numbers": 0, "breaks": 7, "sites": 3},
        "b": {"models": 3, "clean": 1, "broken": 2, "without_numbers": 0, "breaks": 4, "sites": 3},
    }
    text = breakwatch.run("compare", "previous", "latest").stdout
    assert "3 models: 1 worse, 1 better, 1 the same. 3 models compared: 7 breaks at 3 sites in A, 4 breaks" in text
    assert "org/same" not in text and "org/same" in breakwatch.run("compare", "previous", "latest", "--all").stdout


def test_fail_on_worse_exits_with_2_only_if_a_model_got_worse(breakwatch, hub):
    two_sweeps(breakwatch, hub)
    breakwatch.run("compare", "previous", "latest", "--fail-on", "worse", code=2)
    breakwatch.run("compare", "latest", "latest", "--fail-on", "worse", code=0)


def test_fail_on_worse_includes_a_model_that_fails_now(breakwatch, hub):
    hub.model("org/lost", 1, sites=[["one", "GB0001", 1]])
    breakwatch.run("sweep")
    hub.model("org/lost", 1, status="failed_capture")
    breakwatch.run("sweep")
    done = breakwatch.run("compare", "previous", "latest", "--fail-on", "worse", code=2)
    assert "graph_breaks -> failed_capture" in done.stdout


def test_all_modes_that_both_sweeps_have_are_compared(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.run("sweep", "--modes", "eval,train,dynamic")
    hub.model("org/model", 1, **{"in": {"train": {"sites": [["one", "GB0001", 1]]}}})
    breakwatch.run("sweep", "--modes", "eval,train")
    done = breakwatch.run("compare", "previous", "latest", "--fail-on", "worse", code=2)
    assert "2 results: 1 worse, 1 the same" in done.stdout
    assert "not compared, because only one side has them: results in dynamic" in done.stderr
    found = json.loads(breakwatch.run("compare", "previous", "latest", "--json").stdout)
    assert {row["mode"]: row["verdict"] for row in found["models"]} == {"train": "worse", "eval": "same"}
    breakwatch.run("compare", "previous", "latest", "--mode", "eval", "--fail-on", "worse")


def test_sweeps_without_a_mode_in_common_are_not_compared(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.run("sweep", "--modes", "eval")
    breakwatch.run("sweep", "--modes", "train")
    done = breakwatch.run("compare", "previous", "latest", code=64)
    assert "no mode in common: A has results in eval, B in train" in done.stderr


def test_previous_skips_a_sweep_of_one_named_model(breakwatch, hub):
    two_sweeps(breakwatch, hub)
    first = json.loads(breakwatch.run("compare", "previous", "latest", "--json").stdout)["a"]
    breakwatch.run("sweep", "--model", "org/same", "--rebuild", "always")
    assert "has the same source" not in breakwatch.run("compare", "previous", "latest").stderr
    named = json.loads(breakwatch.run("compare", "previous", "latest", "--fail-on", "worse", "--json").stdout)
    assert named["verdicts"] == {"same": 1}, "a sweep of named models does not cover the others"
    hub.model("org/worse", 3, sites=[["one", "GB0001", 1]])
    breakwatch.run("sweep")
    found = json.loads(breakwatch.run("compare", "previous", "latest", "--json").stdout)
    assert found["verdicts"] == {"better": 1, "same": 2} and found["a"] != first


def test_previous_skips_a_sweep_by_a_further_toolchain(breakwatch, hub):
    old, new = (make_environment(breakwatch.tmp_path / name, *versions) for name, versions in (
        ("old", ("2.13.0", "5.8.0")), ("new", ("2.15.0", "5.23.0"))))
    worker = breakwatch.settings.index("--capture.worker") + 1
    breakwatch.settings[worker] = json.dumps([str(new), str(breakwatch.tmp_path)])
    breakwatch.settings += ["--capture.toolchains", f"old={old}", "--capture.extra_toolchains", "old"]
    hub.model("org/model", 1)
    breakwatch.run("sweep")
    hub.model("org/model", 1, sites=[["one", "GB0001", 1]])
    breakwatch.run("sweep")
    breakwatch.run("compare", "previous", "latest", "--fail-on", "worse", code=2)


def test_the_latest_sweep_has_no_previous_without_a_similar_sweep(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.run("sweep")
    done = breakwatch.run("compare", "previous", "latest", "--fail-on", "worse", code=0)
    assert "no_baseline" in done.stderr and "report --list" in done.stderr
    found = json.loads(breakwatch.run("compare", "previous", "latest", "--json").stdout)
    assert found["gate"]["verdict"] == "no_baseline"


def test_commits_and_toolchains_are_selected_by_name(breakwatch, hub):
    old = two_sweeps(breakwatch, hub)
    new = breakwatch.results()["org/worse"]["revision"]
    found = json.loads(
        breakwatch.run("compare", f"org/worse@{old['org/worse']}", f"worse@{new[:7]}", "--json").stdout)  # fmt: skip
    assert [model["verdict"] for model in found["models"]] == ["worse"]
    assert found["models"][0]["differences"] == [{"what": "commit", "a": old["org/worse"], "b": new}]
    found = json.loads(breakwatch.run("compare", "previous", "toolchain:default", "--json").stdout)
    assert found["verdicts"] == {"worse": 1, "better": 1, "same": 1}
    rows = breakwatch.run("compare", "previous", "latest", "--format", "csv").stdout.splitlines()
    assert len(rows) == 4 and rows[0].startswith("model,mode,verdict,")


def test_a_selector_without_results_is_reported(breakwatch, hub):
    two_sweeps(breakwatch, hub)
    assert "matches no result" in breakwatch.run("compare", "toolchain:none", "latest", code=1).stderr
    assert "matches no result" in breakwatch.run("compare", "latest", "latest", "--mode", "train", code=1).stderr
    breakwatch.run("compare", "latest", code=64)
    breakwatch.run("compare", "org/none@1234567", "latest", code=64)


def test_show_lists_other_modes_and_the_api_has_the_same_result(breakwatch, hub):
    two_sweeps(breakwatch, hub)
    shown = json.loads(breakwatch.run("show", "worse", "--json").stdout)
    assert shown["mode"] == "eval" and shown["segments"] == [] and shown["other_results"] == []
    assert "stored: eval by default" in breakwatch.run("show", "worse", "--mode", "train", code=1).stderr
    assert breakwatch.run("show", "worse", "--format", "md").stdout.startswith("# org/worse")
