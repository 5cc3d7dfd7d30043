"""The examples in --help, which the man pages have too, and in the documents: each is run as it stands, in a folder
with what it names, with the stand-in for the worker and a replay of the Hub. What cannot be run is only parsed, with a
reason.
"""

import os
import re
from pathlib import Path

import pytest
from e2e_support import ROOT
from examples_world import World, examples_of_documents, examples_of_help

PROGRAM = os.environ.get("BREAKWATCH_PROGRAM", ROOT / "build/release/breakwatch")
EXAMPLES = sorted({*examples_of_help(PROGRAM), *examples_of_documents()}) if Path(PROGRAM).exists() else []

# Parsed with the settings, but not run: a pattern of the example, and why.
PARSED = (
    (r"breakwatch (serve|page)\b", "runs until it is stopped; test_signals and test_api run it"),
    (r"breakwatch hub serve\b", "runs until it is stopped; every other example here uses it"),
    (r"--server http://builder", "names another machine; test_remote asks a daemon"),
    (r"breakwatch setup\b(?!.*--dry-run)", "fetches gigabytes; test_setup runs it with an index of its own"),
    (r"breakwatch bisect\b", "needs states that differ; test_bisect makes them"),
    (r"--to (oci|mlflow):|pull oci:", "names a registry; test_registries and the registry tests have some"),
    (r"--sign-key|--public-key", "names a key; test_artifact makes one"),
    (r"artifact (publish|pull|verify|ls --from)\b", "names packages elsewhere; test_artifact publishes and pulls them"),
    (r"@sha256:", "names a package that nobody has"),
    (r"TORCH_TRACE=|breakwatch import\b|acme/net", "names the trace of a job; test_import makes some"),
    (r"dead-letters retry\b", "needs a Loki; test_delivery has a stand-in"),
    (r"script:train\.py", "runs own code, which the stand-in cannot name; test_own_models runs it"),
    (r"breakwatch repro\b.*--(site|minimal|trace|keep)\b|--with-repro", "needs a real capture; test_repro runs it"),
    (r"--resume\b", "needs a sweep that was stopped; test_crashes stops some"),
    (r"promtool ", "is another program's; test_trends runs it"),
)  # fmt: skip

# The exit code where it is not 0.
CODES = (
    (r"breakwatch doctor\b", (0, 1), "as the machine is"),
    (r"baseline diff|--gate ", (0, 2), "2 if a result is worse"),
    (r"aot_inductor,onnx", (1,), "the stand-in for the runner knows one target"),
    (r"wrong\.yaml", (78,), "shows the message of a mistake"),
    (r"famly:", (64,), "shows the message of a mistake"),
    (r"--filter facebook/bart-bas$", (0, 64), "shows what a filter that matches nothing prints"),
)  # fmt: skip


def reason_to_parse(line):
    return next((reason for pattern, reason in PARSED if re.search(pattern, line)), None)


def allowed_codes(line):
    return next((codes for pattern, codes, _ in CODES if re.search(pattern, line)), (0,))


@pytest.fixture(scope="module")
def world(program, tmp_path_factory):
    made = World(program, tmp_path_factory.mktemp("examples"))
    yield made
    made.replay.kill()


@pytest.mark.parametrize("line", [line for line in EXAMPLES if not reason_to_parse(line)])
def test_the_example_runs(world, tmp_path, line):
    done = world.run(line, tmp_path / "copy")
    assert done.returncode in allowed_codes(line), f"{world.real(line)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


@pytest.mark.parametrize("line", [line for line in EXAMPLES if reason_to_parse(line)])
def test_the_example_is_accepted_by_the_command_line(world, tmp_path, line):
    if "breakwatch " not in line:
        pytest.skip("another program's")
    calls = re.sub(r"breakwatch (?=[a-z-]+)", "breakwatch --parse-only ", line)
    done = world.run(calls, tmp_path / "copy")
    assert done.returncode == 0, f"{calls}\n{done.stderr}"


def test_every_reason_and_code_is_of_some_example():
    if not EXAMPLES:
        pytest.skip("the program is not built")
    for pattern, *_ in (*PARSED, *CODES):
        assert any(re.search(pattern, line) for line in EXAMPLES), pattern
