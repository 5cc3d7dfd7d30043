"""The Jenkinsfile, run by Groovy with steps that record their calls (jenkins.groovy), without Jenkins."""

import json
import pathlib
import re
import subprocess

import pytest

CHOSEN = {
    "HUB": "live",
    "TOP": '10; rm -rf "$HOME"',
    "MODES": "eval,train",
    "TOOLCHAINS": "old, torch2.13.0-transformers5.8.0",
    "REBUILD": "always",
    "GATE": "baseline '.tsv",
    "AGENT": "gpu",
    "STATE_DIR": "/srv/breakwatch",
    "STORE_URL": "postgresql://db/breakwatch",
    "PUSHGATEWAY_URL": "http://gateway:9091",
    "LOKI_URL": "http://loki:3100",
    "HF_TOKEN_ID": "hub",
    "PUSHGATEWAY_ID": "gateway",
    "MAIL_TO": "team@example.org",
}

# Global variables of Jenkins.
CONFIGURED = {
    "BREAKWATCH_STORE_URL": "postgresql://site/breakwatch",
    "BREAKWATCH_EXPORTERS_PUSHGATEWAY_URL": "http://site:9091",
    "BREAKWATCH_EXPORTERS_LOKI_URL": "http://site:3100",
}

ROOT = pathlib.Path(__file__).resolve().parents[2]


def build(*codes, previous=None, variables=(), **params):
    env = {"WORKSPACE": "/w/job", "JOB_NAME": "breakwatch", "BUILD_NUMBER": "7", "BUILD_URL": "http://ci/7/"}
    return {"params": params, "env": env | dict(variables), "previous": previous, "codes": list(codes)}


BUILDS = {
    "first": build(0),
    "chosen": build(0, previous="SUCCESS", **CHOSEN),
    "configured": build(0, variables=CONFIGURED),
    "configured and chosen": build(0, variables=CONFIGURED, **CHOSEN),
    "failed": build(1),
    "failed with mail": build(69, MAIL_TO="team@example.org"),
    "worse": build(2, GATE="breakwatch-baseline.tsv"),
    "incomplete": build(3),
    "usage": build(64),
    "aborted": build("abort"),
    "agent lost": build("lost"),
    "after abort": build(0, previous="ABORTED"),
    "after a lost agent": build(1, 0, previous="FAILURE"),
    "still failing": build(1, 1, previous="FAILURE"),
    "families": build(*[0] * 6, 64, 0, SHARDS="families", STATE_DIR="/srv/breakwatch"),
    "four parts": build(0, 2, 0, 0, SHARDS="4"),
    "unsharded": build(0, SHARDS="none"),
}


@pytest.fixture(scope="module")
def builds():
    command = ["groovy", ROOT / "tests/docker/jenkins.groovy", ROOT / "Jenkinsfile", json.dumps(BUILDS)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def calls(made, step):
    return [argument for name, argument, _ in made["calls"] if name == step]


def scripts(made):
    return [argument["script"] for argument in calls(made, "sh")]


def sweeps(made):
    return [script for script in scripts(made) if " sweep" in script]


def variables(made, part=" sweep"):
    """The environment of the first such script."""
    return next(env for name, argument, env in made["calls"] if name == "sh" and part in argument["script"])


def test_sweeps_at_night_one_at_a_time_within_bounds(builds):
    made = builds["first"]
    assert calls(made, "cron")[0].startswith("H ")
    assert {"time": 8, "unit": "HOURS"} in calls(made, "timeout")
    for step in ("disableConcurrentBuilds", "timestamps", "buildDiscarder"):
        assert calls(made, step), step
    assert calls(made, "agent") == ["none"], "a shard would wait for the executor of the whole"


def test_the_first_build_has_no_parameters_and_sweeps_by_the_defaults(builds):
    made = builds["first"]
    assert made["result"] == "SUCCESS"
    assert scripts(made)[0] == "make venv build"
    assert sweeps(made) == ["build/release/breakwatch sweep --quiet --local-gateway"]
    env = variables(made)
    assert (env["BREAKWATCH_HUB_SOURCE"], env["BREAKWATCH_HUB_TOP"]) == ("snapshot", "30")
    assert env["BREAKWATCH_STATE_DIR"] == "/w/job@breakwatch", "outside the workspace"
    assert calls(made, "label") == [""], "any agent"
    assert not calls(made, "mail")


def test_parameters_are_settings_and_never_text_of_the_shell(builds, setting_variables):
    made = builds["chosen"]
    env = variables(made)
    expected = {
        "HUB_SOURCE": "live",
        "HUB_TOP": CHOSEN["TOP"],
        "CAPTURE_MODES": "eval,train",
        "CAPTURE_EXTRA_TOOLCHAINS": CHOSEN["TOOLCHAINS"],
        "SWEEP_REBUILD": "always",
        "SWEEP_INTERVAL": "24h",
        "STATE_DIR": "/srv/breakwatch",
        "STORE_URL": CHOSEN["STORE_URL"],
        "EXPORTERS_PUSHGATEWAY_URL": CHOSEN["PUSHGATEWAY_URL"],
        "EXPORTERS_LOKI_URL": CHOSEN["LOKI_URL"],
    }
    given = {name: value for name, value in env.items() if name.startswith("BREAKWATCH_")}
    assert given == {f"BREAKWATCH_{name}": value for name, value in expected.items()}
    assert given.keys() <= setting_variables
    assert env["BASELINE"] == CHOSEN["GATE"]
    assert sweeps(made) == ['build/release/breakwatch sweep --quiet --local-gateway --gate "$BASELINE"']
    for build_made in builds.values():
        for argument in calls(build_made, "sh"):
            assert argument["kind"] == "String", "filled in by Groovy before the shell sees it"
    assert calls(made, "label") == ["gpu"]


def test_an_empty_address_is_the_one_that_jenkins_is_configured_with(builds):
    env = variables(builds["configured"])
    assert {name: env[name] for name in CONFIGURED} == CONFIGURED
    env = variables(builds["configured and chosen"])
    assert env["BREAKWATCH_EXPORTERS_PUSHGATEWAY_URL"] == CHOSEN["PUSHGATEWAY_URL"]
    assert variables(builds["first"])["BREAKWATCH_EXPORTERS_LOKI_URL"] == ""


def test_makes_the_toolchains_whose_names_say_what_they_consist_of(builds):
    made = [
        env for name, argument, env in builds["chosen"]["calls"] if name == "sh" and "toolchain" in argument["script"]
    ]
    assert [(env["TORCH"], env["TRANSFORMERS"]) for env in made] == [("2.13.0", "5.8.0")]
    assert "make toolchain" not in scripts(builds["first"])


def test_a_failure_is_mailed_with_the_address_of_the_log(builds):
    (mail,) = calls(builds["failed with mail"], "mail")
    assert (mail["to"], mail["subject"]) == ("team@example.org", "breakwatch: breakwatch 7 failed")
    assert "http://ci/7/console" in mail["body"]
    assert not calls(builds["failed"], "mail"), "nobody is named"
    assert len(calls(builds["chosen"], "mail")) == 1, "a success has its report alone"


def test_every_parameter_of_the_tests_exists_and_the_other_way_round(builds):
    names = {one["name"] for kind in ("choice", "booleanParam") for one in calls(builds["first"], kind)}
    names |= {one["name"] for one in calls(builds["first"], "string")}
    assert names == {*CHOSEN, "SHARDS"}


def test_calls_breakwatch_and_targets_of_the_makefile_alone(builds, root):
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.MULTILINE))
    for made in builds.values():
        for script in scripts(made):
            program, *words = script.split()
            assert program == "build/release/breakwatch" or (program == "make" and set(words) <= targets), script


def test_secrets_are_bound_from_credentials(builds):
    (bound,) = calls(builds["chosen"], "withCredentials")
    for text in ("credentialsId:hub", "variable:HF_TOKEN", "credentialsId:gateway", "PUSHGATEWAY_PASSWORD"):
        assert text in bound
    assert calls(builds["first"], "withCredentials") == ["[]"]


@pytest.mark.parametrize("name", ["failed", "usage", "still failing", "agent lost", "aborted"])
def test_a_sweep_that_did_not_end_has_no_reports(builds, name):
    made = builds[name]
    assert made["result"] == ("ABORTED" if name == "aborted" else "FAILURE")
    assert not calls(made, "junit") and not calls(made, "archiveArtifacts"), "they would be those of an older sweep"


@pytest.mark.parametrize(("name", "why"), [("worse", "worse than the baseline"), ("incomplete", "incomplete")])
def test_regressions_and_incomplete_sweeps_are_unstable_with_reports(builds, name, why):
    made = builds[name]
    assert made["result"] == "UNSTABLE"
    (message,) = calls(made, "unstable")
    assert why in message
    assert calls(made, "junit") and calls(made, "archiveArtifacts")


def test_publishes_tests_issues_files_and_mail(builds):
    made = builds["chosen"]
    assert calls(made, "junit") == [{"testResults": "junit.xml", "skipMarkingBuildUnstable": True}]
    assert len(calls(made, "recordIssues")) == 1
    (issues,) = calls(made, "issues")
    assert issues["pattern"] == "issues.json"
    assert calls(made, "archiveArtifacts") == [{"artifacts": "**", "fingerprint": True}]
    (mail,) = calls(made, "mail")
    assert (mail["to"], mail["mimeType"]) == ("team@example.org", "text/html")
    written = {
        (env["FORMAT"], env["OUTPUT"])
        for name, argument, env in made["calls"]
        if name == "sh" and " report " in argument["script"]
    }
    folder = "breakwatch-reports/"
    assert {("junit", f"{folder}junit.xml"), ("warnings-ng", f"{folder}issues.json")} <= written
    for script in scripts(made):
        assert " report " not in script or script.endswith('--gate "$BASELINE"')


def test_an_aborted_sweep_is_continued(builds):
    resumed = "build/release/breakwatch sweep --resume --quiet --local-gateway"
    assert sweeps(builds["after abort"]) == [resumed]
    assert sweeps(builds["after a lost agent"]) == [resumed, resumed.replace(" --resume", "")]
    assert builds["after a lost agent"]["result"] == "SUCCESS", "there was nothing to continue"


def shards(made):
    """(pool, directory, selection) of each sweep."""
    names = ("BREAKWATCH_EXPORTERS_PUSHGATEWAY_POOL", "BREAKWATCH_STATE_DIR", "SELECTED")
    return [
        tuple(env[name] for name in names)
        for step, argument, env in made["calls"]
        if step == "sh" and " sweep" in argument["script"]
    ]


def test_shards_are_families_with_a_pool_and_a_directory_of_their_own(builds, root):
    made = builds["families"]
    names = re.search(r'"nlp".*?\}', (root / "daemon/core/src/family.cc").read_text(), re.DOTALL).group()
    families = re.findall(r'"(\w+)"', names)
    assert shards(made) == [(family, f"/srv/breakwatch/{family}", f"family:{family}") for family in families]
    assert set(sweeps(made)) == {'build/release/breakwatch sweep --model "$SELECTED" --track --quiet --local-gateway'}
    assert made["result"] == "SUCCESS", "a family without a model is no failure"
    assert len(calls(made, "junit")) == len(families) - 1
    assert "Sweep" in calls(made, "skipped") and "Shards" in calls(builds["first"], "skipped")


def test_shards_are_equal_parts_of_the_list(builds):
    made = builds["four parts"]
    parts = [(f"{i}-of-4", f"/w/job@breakwatch/{i}-of-4", f"shard:{i}/4") for i in (1, 2, 3, 4)]
    assert shards(made) == parts
    assert made["result"] == "UNSTABLE", "one part is worse than the baseline"
    assert len(calls(made, "junit")) == 4, "every part has its reports"
    assert [issues["id"] for issues in calls(made, "issues")] == [f"breakwatch{pool}" for pool, *_ in parts]
    assert "Shards" in calls(builds["unsharded"], "skipped")
