"""The GitHub action and the GitLab job: valid by the published schemas; their scripts run with a recording program."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(sys.executable).parent
SCHEMAS = {"action.yml": "github-actions", "github.yml": "github-workflows", "gitlab.yml": "gitlab-ci"}
PROGRAM = """#!/bin/sh
printf '%s|' "$@" >>"$CALLS"; echo >>"$CALLS"
case "$1" in sweep) exit "$SWEEP_CODE";; esac
"""


@pytest.fixture
def ci(root):
    return root / "config/ci"


@pytest.mark.parametrize("name", SCHEMAS)
def test_is_valid_by_the_published_schema(ci, name):
    command = [TOOLS / "check-jsonschema", "--builtin-schema", f"vendor.{SCHEMAS[name]}", ci / name]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert checked.returncode == 0, checked.stdout


def test_actionlint_accepts_the_workflow_with_this_action(ci, go_build, tmp_path):
    program = go_build("actionlint", "github.com/rhysd/actionlint/cmd/actionlint")
    workflow = (ci / "github.yml").read_text().replace("OWNER/breakwatch/config/ci@main", "./config/ci")
    (tmp_path / ".git").mkdir()
    for path, text in (
        (".github/workflows/breakwatch.yml", workflow),
        ("config/ci/action.yml", (ci / "action.yml").read_text()),
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text(text)

    def lint():
        return subprocess.run([program, "-no-color"], cwd=tmp_path, capture_output=True, text=True, check=False)

    checked = lint()
    assert checked.returncode == 0, checked.stdout
    broken = workflow.replace("allow-factories:", "allow-factory:")
    (tmp_path / ".github/workflows/breakwatch.yml").write_text(broken)
    assert '"allow-factory" is not defined in action' in lint().stdout


def test_inputs_reach_the_shell_as_variables(ci, load_yaml, setting_variables):
    action = load_yaml(ci / "action.yml")
    for step in action["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        used = {name for name in step.get("env", {}) if name.startswith("BREAKWATCH_")}
        assert used <= setting_variables
    text = (ci / "action.yml").read_text()
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == action["inputs"].keys()


def run(command, script, tmp_path, code, **env):
    """The exit code, and the arguments of each call of breakwatch."""
    program = tmp_path / "build/release/breakwatch"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM)
    program.chmod(0o755)
    (tmp_path / "script").write_text(script)
    variables = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "CALLS": str(tmp_path / "calls"),
        "SWEEP_CODE": str(code),
        "GITHUB_ACTION_PATH": str(tmp_path / "config/ci"),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
        "RUNNER_TEMP": str(tmp_path),
    }
    (tmp_path / "config/ci").mkdir(parents=True)
    done = subprocess.run([*command, tmp_path / "script"], cwd=tmp_path, env=variables | env, check=False, timeout=60)
    calls = (tmp_path / "calls").read_text().splitlines()
    return done.returncode, [line.rstrip("|").split("|") for line in calls]


@pytest.mark.parametrize("code", [0, 2, 3, 64, 74])
def test_the_action_reports_what_ended_and_fails_by_the_exit_code(ci, load_yaml, tmp_path, code):
    steps = {step["name"]: step for step in load_yaml(ci / "action.yml")["runs"]["steps"]}
    (tmp_path / "base line.tsv").write_text("")
    given = {"MODELS": "org/name python:own:tiny", "BASELINE": "base line.tsv"}
    bash = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
    ended, calls = run(bash, steps["Sweep"]["run"], tmp_path, code, **given)
    gate = ["--gate", "base line.tsv"]
    assert calls[0] == ["sweep", "--quiet", "--model", "org/name", "--model", "python:own:tiny", *gate]
    assert (tmp_path / "output").read_text() == f"exit-code={code}\n"
    if code in (0, 2, 3):
        assert ended == 0, "the last step fails, after the upload"
        assert [call[:5] for call in calls[1:]] == [["report", *gate, "--format", name] for name in ("github", "sarif")]
    else:
        assert (ended, len(calls)) == (code, 1)
    assert steps["Fail if a result is worse or missing"]["run"] == 'exit "$CODE"'


@pytest.mark.parametrize(("code", "baseline"), [(0, False), (2, True), (3, True), (69, True)])
def test_the_gitlab_job_ends_with_the_exit_code_of_the_sweep(ci, load_yaml, tmp_path, code, baseline):
    job = load_yaml(ci / "gitlab.yml")["breakwatch"]
    if baseline:
        (tmp_path / "base line.tsv").write_text("")
    (script,) = job["script"]
    ended, calls = run(["sh", "-e"], script, tmp_path, code, BASELINE="base line.tsv")
    gate = ["--gate", "base line.tsv"] if baseline else []
    assert ended == code
    assert calls[0] == ["sweep", "--quiet", *gate]
    assert len(calls) == (1 if code == 69 else 3)
    assert job["allow_failure"] == {"exit_codes": [3]}
    assert job["artifacts"]["when"] == "always"
