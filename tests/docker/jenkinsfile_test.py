"""The Jenkinsfile, as far as it can be checked without Jenkins."""

import re
import shutil
import subprocess

import pytest


@pytest.fixture
def text(root):
    return (root / "Jenkinsfile").read_text()


def block(text, name):
    """The braces after `name`."""
    start = re.search(rf"\b{re.escape(name)}\s*\{{", text).end()
    depth, end = 1, start
    while depth:
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        end += 1
    return text[start : end - 1]


def test_brackets_are_balanced(text):
    code = re.sub(r"//.*|'[^'\n]*'|\"[^\"\n]*\"", "", text)
    opened = []
    for character in code:
        if character in "([{":
            opened.append(character)
        elif character in ")]}":
            assert opened and opened.pop() + character in ("()", "[]", "{}")
    assert not opened


def test_sweeps_at_night_one_at_a_time_within_bounds(text):
    assert re.search(r"cron\('H ", block(text, "triggers"))
    options = block(text, "options")
    for needed in ("disableConcurrentBuilds()", "timeout(", "timestamps()", "buildDiscarder("):
        assert needed in options


def test_has_parameters_for_the_list_and_its_length(text):
    parameters = block(text, "parameters")
    assert "name: 'TOP'" in parameters and "name: 'HUB'" in parameters


def test_passes_parameters_as_settings_and_never_as_shell_text(text, setting_variables):
    for variable in re.findall(r"(BREAKWATCH_\w+) =", block(text, "environment")):
        assert variable in setting_variables
    for script in re.findall(r"\bsh\b[^\n]*", text):
        assert '"' not in script, "a double-quoted script is filled in by Groovy before the shell sees it"


def test_an_incomplete_sweep_is_unstable_not_failed(text):
    assert re.search(r"code == 3\) {\s*unstable\(", text)
    assert "unstable(" in text and "error(" in text and "returnStatus: true" in text


def test_archives_the_last_sweep_however_it_ended(text):
    always = block(block(text, "post"), "always")
    assert "archiveArtifacts artifacts: 'var/latest/**'" in always and "allowEmptyArchive: true" in always


def test_uses_targets_of_the_makefile(root, text):
    targets = set(re.findall(r"^([a-z-]+):", (root / "Makefile").read_text(), re.M))
    for command in re.findall(r"'make ([^']+)'", text):
        assert set(command.split()) <= targets


def test_is_groovy(root):
    if not shutil.which("groovy"):
        pytest.skip("groovy is not installed")
    parse = "new org.codehaus.groovy.control.CompilationUnit().with { addSource(new File(args[0])); compile(3) }"
    checked = subprocess.run(
        ["groovy", "-e", parse, str(root / "Jenkinsfile")], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
