"""The user's own models, selected as a factory or a script, and captured only if that is allowed."""

import hashlib
import json
import os
import shutil
import subprocess

import pytest
from e2e_support import REAL_WORKER, ROOT, Program, results_in

SCRIPT = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.inner(x)
        torch._dynamo.graph_break()
        return x * 2


def make():
    return Net(), {"x": torch.ones(2, 4)}


if __name__ == "__main__":
    print(Net()(torch.ones(3, 4)).shape)
"""
# Nothing remains of which a graph could be made.
TALKS = """
import torch


def talk(x):
    print("a break, and no operation")
    return x


def make():
    return talk, {"x": torch.ones(2)}
"""


@pytest.mark.parametrize("command", ["sweep", "plan"])
@pytest.mark.parametrize("selector", ["python:mine:make", "script:mine.py", "script:mine.py::abc"])
def test_own_code_is_refused_unless_allowed(breakwatch, command, selector):
    (breakwatch.tmp_path / "mine.py").write_text("Net abc")
    done = breakwatch.run(command, "--model", selector, code=64)
    assert selector in done.stderr and "--allow-factories" in done.stderr
    assert breakwatch.captures() == []


def test_an_invalid_selector_is_a_usage_error(breakwatch):
    assert "python:package.module:function" in breakwatch.run("plan", "--model", "python:mine", code=64).stderr


def test_a_factory_is_a_model_of_that_name_at_the_digest_of_its_file(breakwatch):
    text = "def make(): ...\n"
    (breakwatch.tmp_path / "mine.py").write_text(text)
    breakwatch.run("sweep", "--allow-factories", "--model", "python:mine:make")
    result = breakwatch.results()["python:mine:make"]
    assert result["status"] == "full_graph"
    assert result["revision"] == hashlib.sha256(text.encode()).hexdigest()[:40]
    source = json.loads((breakwatch.tmp_path / "sources").read_text())
    assert (source["kind"], source["factory"]) == ("python", "mine:make")
    assert source["path"][0] == str(breakwatch.tmp_path)
    assert "BREAKWATCH_ALLOW_FACTORIES=1" in (breakwatch.tmp_path / "environment").read_text().split("\n")
    breakwatch.run("sweep", "--allow-factories", "--model", "python:mine:make")
    assert len(breakwatch.captures()) == 1, "an unchanged file is not captured again"
    (breakwatch.tmp_path / "mine.py").write_text(text + "# changed\n")
    breakwatch.run("sweep", "--allow-factories", "--model", "python:mine:make")
    assert len(breakwatch.captures()) == 2


def test_a_saved_plan_with_own_code_is_refused_as_well(breakwatch):
    (breakwatch.tmp_path / "mine.py").write_text("def make(): ...")
    breakwatch.run("plan", "--allow-factories", "--model", "python:mine:make", "--output", "plan.json")
    done = breakwatch.run("sweep", "--plan", "plan.json", code=64)
    assert "--allow-factories" in done.stderr


def test_a_worker_has_permission_only_on_request(breakwatch, hub):
    hub.model("a/one", 5)
    breakwatch.run("sweep", BREAKWATCH_ALLOW_FACTORIES="1")
    assert "BREAKWATCH_ALLOW_FACTORIES" not in (breakwatch.tmp_path / "environment").read_text()
    assert not (breakwatch.tmp_path / "sources").exists()


def test_discover_lists_what_a_script_calls_and_how_to_capture_it(breakwatch):
    (breakwatch.tmp_path / "mine.py").write_text("Net abc123\nHead def456\n")
    text = breakwatch.run("discover", "mine.py").stdout
    for words in ("CALLED AT", "Net", "mine.py:2", "def456", "--model 'script:mine.py::abc123'"):
        assert words in text
    found = json.loads(breakwatch.run("discover", "mine.py", "--json", "--", "--epochs", "1").stdout)
    assert found["args"] == ["--epochs", "1"]
    assert [m["selector"] for m in found["modules"]] == [
        "script:mine.py::abc123 -- --epochs 1", "script:mine.py::def456 -- --epochs 1"]  # fmt: skip


def test_discover_reports_how_a_script_ended_and_what_is_not_a_script(breakwatch):
    (breakwatch.tmp_path / "empty.py").write_text("")
    done = breakwatch.run("discover", "empty.py", code=1)
    assert "exit 3" in done.stderr and "no torch.nn.Module" in done.stdout
    assert "absent.py: no such file" in breakwatch.run("discover", "absent.py", code=64).stderr


def test_a_script_without_a_hash_is_a_model_for_each_module_that_it_calls(breakwatch):
    (breakwatch.tmp_path / "mine.py").write_text("Net abc123\nHead def456\n")
    breakwatch.run("sweep", "--allow-factories", "--model", "script:mine.py")
    assert set(breakwatch.results()) == {"script:mine.py::abc123", "script:mine.py::def456"}
    sources = [json.loads(line) for line in (breakwatch.tmp_path / "sources").read_text().splitlines()]
    assert {source["hash"] for source in sources} == {"abc123", "def456"}
    assert sources[0]["path"] == str(breakwatch.tmp_path / "mine.py")


def test_the_real_worker_captures_a_script_and_a_factory_of_a_hidden_folder(program, tmp_path):
    if not os.access(ROOT / ".venv/bin/python", os.X_OK):
        pytest.skip("no .venv: make venv")
    (tmp_path / "mine.py").write_text(SCRIPT)
    (tmp_path / "talks.py").write_text(TALKS)
    real = Program(program, tmp_path, *REAL_WORKER, timeout_s=300)
    (module,) = json.loads(real.run("discover", "mine.py", "--json").stdout)["modules"]
    assert (module["class"], module["parameters"], module["calls"]) == ("Net", 20, 1)
    real.run("sweep", "--allow-factories", "--model", module["selector"], "--model", "python:mine:make",
             "--model", "python:talks:make")  # fmt: skip
    results = real.results()
    assert set(results) == {module["selector"], "python:mine:make", "python:talks:make"}
    assert [results["python:talks:make"][name] for name in ("graphs", "breaks", "explain_breaks")] == [0, 1, -1]
    for result in results.values():
        assert (result["status"], result["break_sites"], result["unexplained_events"]) == ("graph_breaks", 1, 0), result


ZOO = ROOT / "tests/worker"
NUMBERS = ("breaks", "graphs", "dynamo_counter_breaks")
# One of each kind that would change with an earlier call, a copied argument, or a wrapper of breakwatch.
# tests/worker/own_test.py has the others, without the program.
OWN = {
    "eval": ("fills_its_class", "is_a_view", "own_calls:takes_many", "with_a_sparse_buffer", "jagged", "reads_beside"),
    "train,dynamic": ("is_written_into",),
}
OF_THE_SCRIPT = "keeps_what_it_saw"


def plain_torch(folder):
    """What torch.compile finds in each, in a process without breakwatch that never called it."""
    wanted = [(name, mode) for modes, names in OWN.items() for mode in modes.split(",") for name in names]
    lines = [{"name": name, "mode": mode} for name, mode in [*wanted, (OF_THE_SCRIPT, "eval")]]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([str(ROOT / ".venv/bin/python"), str(ZOO / "plain_torch.py"), "own_zoo"], cwd=folder,
                          input="".join(json.dumps(line) + "\n" for line in lines), capture_output=True, text=True,
                          timeout=300, env=environment)  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {(found["name"], found["mode"]): found for found in map(json.loads, done.stdout.splitlines())}


def test_own_models_have_the_numbers_that_plain_torch_finds_in_a_process_of_its_own(program, tmp_path):
    if not os.access(ROOT / ".venv/bin/python", os.X_OK):
        pytest.skip("no .venv: make venv")
    for file in ("own_zoo.py", "own_calls.py"):
        shutil.copy(ZOO / file, tmp_path)
    (tmp_path / "width.txt").write_text("5")
    (tmp_path / "mine.py").write_text(f"import own_zoo\nmodel, given = own_zoo.{OF_THE_SCRIPT}()\nmodel(*given)\n")
    found = plain_torch(tmp_path)
    for modes, names in OWN.items():
        real = Program(program, tmp_path, *REAL_WORKER, state=modes, timeout_s=300)
        models = [f"python:{name if ':' in name else f'own_zoo:{name}'}" for name in names]
        models += ["script:mine.py"] * (modes == "eval")
        real.run("--capture.modes", modes, "sweep", "--allow-factories",
                 *(word for model in models for word in ("--model", model)))  # fmt: skip
        results = results_in(real.state)
        assert len(results) == len(models) * len(modes.split(","))
        for result in results:
            name = OF_THE_SCRIPT if result["model"].startswith("script:") else (
                result["model"].removeprefix("python:").removeprefix("own_zoo:"))
            expected = {number: found[name, result["mode"]][number] for number in NUMBERS}
            assert {number: result[number] for number in NUMBERS} == expected, result
            assert result["status"] == ("graph_breaks" if expected["breaks"] else "full_graph")
