"""Which changes remove the breaks of a model: `fix` and `sweep --fix`, with a worker that tries as configs say."""

import json
import re

import pytest
from e2e_support import get

SITES = [["branching", "GB0170", 2]]
FIXES = {"capture_scalar_outputs": 1, "use_cache": 0, "attention_eager": "crashed"}


@pytest.fixture
def broken(breakwatch, hub):
    hub.model("org/broken", 100, sites=SITES, fixes=FIXES)
    hub.model("org/whole", 50)
    return breakwatch


def jobs(watch):
    return list(map(json.loads, (watch.tmp_path / "jobs").read_text().splitlines()))


def test_fix_shows_every_attempt_and_the_python_of_the_best(broken):
    text = broken.run("fix", "org/broken").stdout
    assert "without a fix: 2 breaks at 1 site, 3 graphs" in text
    assert re.search(r"^capture_scalar_outputs +better +2 -> 1 ", text, re.MULTILINE)
    assert re.search(r"^attention_eager +crashed", text, re.MULTILINE)
    assert "Write this: use_cache, 2 breaks at 1 site, 3 graphs -> 0 breaks, 1 graph" in text
    assert "    use('use_cache')" in text


def test_only_the_named_fixes_are_tried(broken):
    document = json.loads(broken.run("fix", "org/broken", "--fix", "use_cache,attention_eager", "--alone", "--json",
                                     "--quiet").stdout)  # fmt: skip
    (model,) = document["models"]
    assert [a["names"] for a in model["fixes"]["attempts"]] == [["use_cache"], ["attention_eager"]]
    assert (model["best"], model["outcome"]) == (["use_cache"], "whole")
    (job,) = jobs(broken)
    assert job["fix"] == {"names": ["use_cache", "attention_eager"], "combine": False, "budget_s": 600.0,
                          "attempt_s": 120.0}  # fmt: skip
    assert job["limits"]["capture_s"] == 300 + 600


def test_what_no_fix_removes_is_listed_with_its_place(broken):
    text = broken.run("fix", "org/broken", "--fix", "attention_eager").stdout
    assert "No fix removes a break" in text and "Sites that no fix removes" in text
    assert re.search(r"at +transformers/models/fake\.py:\d+ in forward", text) and re.search(r"code of +library", text)


def test_an_unknown_fix_is_a_row_and_a_wrong_name_is_refused(broken):
    assert re.search(r"^no_such +unknown", broken.run("fix", "org/broken", "--fix", "no_such").stdout, re.MULTILINE)
    refused = broken.run("fix", "org/broken", "--fix", "$(rm -r)", code=64).stderr
    assert "--fix: expected at most 64 different names of fixes" in refused
    assert "name at least one model" in broken.run("fix", code=64).stderr
    assert "org/none not found" in broken.run("fix", "org/none", code=1).stderr


def test_results_are_reused_and_shown(broken):
    broken.run("fix", "org/broken", "--quiet")
    broken.run("fix", "org/broken", "--quiet")
    assert len(broken.captures()) == 1
    assert "use('use_cache')" in broken.run("show", "org/broken").stdout
    broken.run("sweep", "--quiet")
    assert "whole with use_cache" in broken.run("show", "org/broken").stdout
    assert "use('use_cache')" in broken.run("show", "org/broken", "--mode", "fix").stdout


def test_a_sweep_tries_fixes_on_the_models_that_break_after_it(broken):
    text = broken.run("sweep", "--fix").stdout
    assert re.search(r"^org/broken +whole +use_cache +2 +0", text, re.MULTILINE)
    assert [(job["model"], job["mode"]) for job in jobs(broken)] == [
        ("org/broken", "eval"), ("org/whole", "eval"), ("org/broken", "fix")]  # fmt: skip
    assert "org/broken" in broken.run("report").stdout
    broken.run("sweep", "--fix", "--quiet")
    assert len(jobs(broken)) == 3


def test_published_numbers_are_those_without_a_fix(broken):
    broken.run("sweep", "--quiet")
    counted = ("reason", "events", "sites", "models", "leverage")

    def numbers():
        return [{name: row[name] for name in counted} for row in json.loads(broken.run("reasons", "--json").stdout)]

    before = numbers()
    broken.run("sweep", "--fix", "--quiet")
    assert numbers() == before != []


def test_reasons_name_the_fix_and_the_models_that_it_made_whole(broken, hub):
    hub.model("org/other", 70, sites=[*SITES, ["printing", "GB0059", 1]], fixes={"capture_scalar_outputs": 1})
    broken.run("sweep", "--quiet")
    rows = json.loads(broken.run("reasons", "--json").stdout)
    assert {(row["fixability"], row["fix"], row["tried_models"]) for row in rows} == {("untested", None, 0)}
    broken.run("sweep", "--fix", "--quiet")
    branching, printing = json.loads(broken.run("reasons", "--by", "leverage", "--json").stdout)
    assert (branching["fix"], branching["fixed_models"], branching["tried_models"]) == ("use_cache", 1, 2)
    assert (branching["leverage"], branching["made_whole"], branching["made_whole_downloads"]) == (1, 1, 100)
    assert (printing["fixability"], printing["fix"], printing["made_whole"]) == ("source change", None, 0)
    text = broken.run("reasons", "--by", "leverage").stdout
    assert "MADE WHOLE" in text and re.search(r"branching .* use_cache +1 +2 +1 ", text)


def test_a_later_trial_of_chosen_fixes_hides_nothing_that_all_of_them_showed(broken, gateway):
    push = ["--exporters.pushgateway.url", gateway.url]
    broken.run("sweep", "--fix", "--quiet", *push)

    def known():
        (row,) = json.loads(broken.run("reasons", "--json").stdout)
        show = broken.run("show", "org/broken").stdout
        metrics = [line for line in get(gateway.url + "/metrics")[1].splitlines()
                   if re.match("breakwatch_(fix_models|reason_fixed_by|reason_info){", line)]  # fmt: skip
        return row, re.findall("whole with use_cache|2 breaks, call", show), sorted(metrics)

    before = known()
    assert before[0]["fixability"] == "call" and before[0]["fix"] == "use_cache" and len(before[1]) == 2 and before[2]
    broken.run("fix", "org/broken", "--fix", "attention_eager", "--quiet", *push)
    assert known() == before
    assert "1 attempt with chosen fixes, none helped" in broken.run("show", "org/broken").stdout


def test_chosen_fixes_alone_leave_the_others_untested(broken):
    broken.run("sweep", "--quiet")
    broken.run("fix", "org/broken", "--fix", "no_such", "--quiet")
    (row,) = json.loads(broken.run("reasons", "--json").stdout)
    assert (row["fixability"], row["fix"]) == ("untested", None)


def test_fixes_are_counted_in_metrics_beside_the_published_series(broken, gateway):
    broken.run("sweep", "--fix", "--quiet", "--exporters.pushgateway.url", gateway.url)
    lines = get(gateway.url + "/metrics")[1].splitlines()

    def value(metric, *labels):
        return [line.split()[-1] for line in lines
                if line.startswith(metric + "{") and all(label in line for label in labels)]  # fmt: skip

    assert value("breakwatch_fix_models", 'fix="use_cache"', 'outcome="whole"') == ["1"]
    assert value("breakwatch_reason_fixed_by", 'reason="branching"', 'gb_id="GB0170"', 'fix="use_cache"') == ["1"]
    assert value("breakwatch_reason_info", 'fixability="call"') == ["1"]


def test_an_issue_names_the_line_the_models_and_what_was_tried(broken):
    broken.run("sweep", "--fix", "--quiet")
    text = broken.run("issue", "GB0170", "--for", "torch").stdout
    assert "# \\[Dynamo\\] graph break in" in text or "# [Dynamo] graph break in" in text
    assert "| org/broken |" in text and "| use_cache | whole | gone | 0 | 1 |" in text
    assert "Oldest stored capture with it: 20" in text
    document = json.loads(broken.run("issue", "org/broken", "--json").stdout)
    assert document["tracker"] == "transformers" and "### System Info" in document["body"]
    file = broken.tmp_path / "issue.md"
    repro = broken.tmp_path / "repro.py"
    repro.write_text("import torch\n")
    broken.run("issue", document["site_id"], "--repro", str(repro), "--output", str(file))
    assert "```python\nimport torch\n```" in file.read_text()
    assert "no break is known" in broken.run("issue", "org/whole", code=1).stderr
    assert "no model, reason or site" in broken.run("issue", "GB9999", code=1).stderr
    assert "cannot read" in broken.run("issue", "GB0170", "--repro", "/nowhere", code=64).stderr


def test_an_issue_has_the_stored_file_that_shows_the_break_or_makes_it(breakwatch, hub):
    hub.model("org/one", 100, sites=[["branching", "GB0170", 2]], site_ids={"branching": "0123456789abcdef"})
    breakwatch.run("sweep", "--quiet")
    text = breakwatch.run("issue", "GB0170").stdout
    assert "breakwatch repro org/one --site 0123456789abcdef --minimal" in text and len(breakwatch.captures()) == 1
    done = breakwatch.run("issue", "GB0170", "--with-repro")
    assert "```python\nprint('breaks')\n```" in done.stdout and "takes a minute or two" in done.stderr
    job = json.loads((breakwatch.tmp_path / "jobs").read_text().splitlines()[-1])
    assert job["repro"] == {"site": "0123456789abcdef", "minimal": True, "budget_s": 120.0}
    again = breakwatch.run("issue", "GB0170", "--with-repro")
    assert again.stdout == done.stdout and "takes a minute" not in again.stderr and len(breakwatch.captures()) == 2
    assert breakwatch.run("issue", "GB0170").stdout == done.stdout
    assert "--repro" in breakwatch.run("issue", "GB0170", "--with-repro", "--repro", "x", code=64).stderr


def test_a_newer_file_of_another_site_hides_no_file(breakwatch, hub):
    ids = {"branching": "0123456789abcdef", "printing": "fedcba9876543210"}
    hub.model("org/one", 100, sites=[["branching", "GB0170", 2], ["printing", "GB0001", 1]], site_ids=ids)
    breakwatch.run("sweep", "--quiet")
    made = {}
    for site in ids.values():
        made[site] = json.loads(breakwatch.run("issue", site, "--with-repro", "--json").stdout)["repro"]["sweep_id"]
    assert len(set(made.values())) == 2
    for site in ids.values():
        document = json.loads(breakwatch.run("issue", site, "--json").stdout)
        assert document["repro"]["sweep_id"] == made[site] and document["repro"]["model"] == "org/one"
        assert f"made on {document['repro']['made_at'][:10]}:" in document["body"]


def test_an_issue_without_a_file_says_why(breakwatch, hub):
    hub.model("org/one", 100, sites=[["branching", "GB0170", 2]], site_ids={"branching": "0123456789abcdef"},
              repro={"script": "", "why_not": "no"})
    breakwatch.run("sweep", "--quiet")
    done = breakwatch.run("issue", "GB0170", "--with-repro")
    assert "no file shows the break" in done.stderr and "Put the file here" in done.stdout


def test_csv_has_a_row_per_attempt(broken):
    lines = broken.run("fix", "org/broken", "--format", "csv", "--quiet").stdout.splitlines()
    assert lines[0].startswith("model,revision,fix,outcome,status,breaks_before,breaks,") and len(lines) == 4


def test_the_lines_to_change_name_the_fix_that_removes_them(broken, hub):
    hub.model("org/other", 70, sites=[*SITES, ["printing", "GB0059", 1]])
    broken.run("sweep", "--fix", "--quiet")
    document = json.loads(broken.run("reasons", "--sites", "--json").stdout)
    assert [(s["reason"], s["models"], s["downloads"], s["leverage"]) for s in document["sites"]] == [
        ("branching", 2, 170, 1), ("printing", 1, 70, 0)]  # fmt: skip
    assert document["sites"][0]["fix"] == "use_cache (1 of 1)"
    assert [(c["lines"], c["models"], c["exact"]) for c in document["unblock"]] == [(1, 1, True), (2, 2, True)]
    text = broken.run("reasons", "--sites", "--lines", "1").stdout
    assert "Change 1 line and 1 of 2 models become whole" in text
    assert "expected models, downloads" in broken.run("reasons", "--sites", "--by", "cost", code=64).stderr
    assert "requires --sites" in broken.run("reasons", "--lines", "3", code=64).stderr
