"""`repro` writes a file that shows the breaks of a model, and says where there is none."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from e2e_support import REAL_WORKER, ROOT, Program, needs


@pytest.fixture
def broken(breakwatch, hub):
    hub.model("org/broken", 100, sites=[["branching", "GB0170", 2]])
    hub.model("org/other", 50, repro={"script": "", "why_not": "Net is not a model of transformers"})
    hub.model("org/lucky", 40, repro={"differs": "AssertionError: set()"})
    return breakwatch


def test_the_file_is_printed_or_written(broken):
    assert broken.run("repro", "org/broken", "--quiet").stdout == "print('breaks')\n"
    file = broken.tmp_path / "repro.py"
    broken.run("repro", "org/broken", "--quiet", "--output", str(file))
    assert file.read_text() == "print('breaks')\n"
    assert len(broken.captures()) == 1


@pytest.mark.parametrize("command", ["repro", "fix", "issue"])
def test_a_file_that_cannot_be_written_is_named_before_a_capture(broken, tmp_path, command):
    (tmp_path / "folder").mkdir()
    for output in (tmp_path / "none" / "repro.py", tmp_path / "folder"):
        message = broken.run(command, "org/broken", "--output", str(output), code=74).stderr
        assert f"cannot write {output}: " in message
    assert not (broken.tmp_path / "jobs").exists()


def test_without_a_file_the_reason_is_said(broken):
    done = broken.run("repro", "org/other", "--quiet", code=1)
    assert done.stdout == "" and "no file for org/other: Net is not a model of transformers" in done.stderr


def test_a_file_that_finds_something_else_is_not_passed_off(broken):
    done = broken.run("repro", "org/lucky", "--quiet", code=1)
    assert "does not find the same: AssertionError" in done.stderr


def test_json_has_a_row_per_model(broken):
    document = json.loads(broken.run("repro", "org/broken", "org/other", "--json", "--quiet", code=1).stdout)
    assert [(m["model"], m["script"] is None, m["why_not"]) for m in document["models"]] == [
        ("org/broken", False, None), ("org/other", True, "Net is not a model of transformers")]  # fmt: skip


def test_a_site_and_minimal_reach_the_worker(broken):
    broken.run("repro", "org/broken", "--site", "0123abcd", "--minimal", "--quiet")
    job = json.loads((broken.tmp_path / "jobs").read_text().splitlines()[-1])
    assert job["repro"] == {"site": "0123abcd", "minimal": True, "budget_s": 120.0}


@pytest.mark.parametrize("site", ["abc", "xyz12345", "../../etc/passwd", "ABCDEF0123", "a" * 65, "", "\x1b[31m"])
def test_a_text_that_is_no_site_id_is_refused_before_a_capture(broken, site):
    done = broken.run("repro", "org/broken", "--site", site, "--quiet", code=64)
    assert "site: expected the id of a site" in done.stderr and "\x1b" not in done.stderr
    assert broken.captures() == []


def test_other_options_are_another_file(broken):
    broken.run("repro", "org/broken", "--quiet")
    broken.run("repro", "org/broken", "--site", "0123abcd", "--quiet")
    broken.run("repro", "org/broken", "--site", "0123abcd", "--quiet")
    assert len(broken.captures()) == 2


def test_a_file_that_could_not_be_reduced_is_given_with_the_reason(breakwatch, hub):
    why = "the smallest file found has 71 lines, more than 60"
    hub.model("org/large", 100, repro={"minimal": False, "why_full": why})
    done = breakwatch.run("repro", "org/large", "--minimal", "--quiet")
    assert done.stdout == "print('breaks')\n" and "org/large: the smallest file found has 71 lines" in done.stderr
    model = json.loads(breakwatch.run("repro", "org/large", "--minimal", "--json", "--quiet").stdout)["models"][0]
    assert model["why_full"].startswith("the smallest") and model["minimal"] is False and model["reduced"] == []


def test_the_folder_of_a_capture_stays_with_the_command_that_repeats_it(broken):
    done = broken.run("repro", "org/broken", "--keep", "--trace", "--quiet")
    folder = Path(done.stdout.splitlines()[0])
    assert folder.parent == broken.state / "repro" and folder.name.startswith("org--broken-")
    assert (folder / "repro.py").read_text() == "print('breaks')\n" and (folder / "trace").is_dir()
    assert "graph_breaks: as its config says" in done.stdout and "a TORCH_TRACE directory" in done.stdout
    command = done.stdout.splitlines()[-1].strip()
    assert command == f"sh {folder}/repeat.sh"
    assert subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout.startswith("graph_breaks")
    jobs = [json.loads(line) for line in (broken.tmp_path / "by_hand").read_text().splitlines()]
    assert len(jobs) == 2 and jobs[0] == jobs[1] and jobs[0]["mode"] == "eval" and "repro" not in jobs[0]
    assert {path.stat().st_mode & 0o077 for path in (folder, folder / "repeat.sh")} == {0}


def test_json_names_the_folder(broken):
    document = json.loads(broken.run("repro", "org/broken", "--keep", "--json", "--quiet").stdout)
    kept = document["models"][0]["kept"]
    assert Path(kept["folder"]).is_dir() and kept["trace"] is None and kept["found"].startswith("graph_breaks: ")


def test_a_model_without_a_file_has_a_folder_too(broken):
    done = broken.run("repro", "org/other", "--keep", "--quiet", code=1)
    folder = Path(done.stdout.splitlines()[0])
    assert "no file for org/other" in done.stderr and not (folder / "repro.py").exists()
    assert (folder / "repeat.sh").exists()


def test_a_worker_that_ends_without_a_result_is_an_error_that_names_the_folder(breakwatch, hub):
    hub.model("org/dies", 10, dies=True)
    done = breakwatch.run("repro", "org/dies", "--keep", "--quiet", code=1)
    assert "exited with code 1" in done.stderr and "files are in " in done.stderr
    folder = Path(done.stderr.split("files are in ")[1].split(":")[0])
    assert "the worker is broken" in (folder / "worker.log").read_text()


def test_a_folder_is_for_one_model_and_for_this_machine(broken):
    done = broken.run("repro", "org/broken", "org/other", "--keep", "--quiet", code=64)
    assert "name one model" in done.stderr and not (broken.state / "repro").exists()
    done = broken.run("repro", "org/broken", "--trace", "--server", "http://127.0.0.1:1", code=64)
    assert "leave out --server" in done.stderr


def test_the_folder_is_left_out_of_the_sandbox_too(program, tmp_path):
    """A real capture in bubblewrap, of which nothing else stays."""
    needs("bwrap")
    if not os.access(ROOT / ".venv/bin/python", os.X_OK):
        pytest.skip("no .venv: make venv")
    config = tmp_path / "tiny"
    config.mkdir()
    (config / "config.json").write_text(json.dumps({
        "model_type": "bert", "architectures": ["BertModel"], "hidden_size": 32, "num_hidden_layers": 1,
        "num_attention_heads": 2, "intermediate_size": 64, "vocab_size": 99}))  # fmt: skip
    watch = Program(program, tmp_path, *REAL_WORKER, "--hub.source", "directory", "--hub.path", str(tmp_path),
                    "--capture.sandbox", "require", timeout_s=600)  # fmt: skip
    folder = Path(watch.run("repro", "tiny", "--trace", "--quiet").stdout.splitlines()[0])
    assert "bwrap" in (folder / "repeat.sh").read_text() and (folder / "scratch/capture").is_dir()
    assert any((folder / "trace").iterdir()) and json.loads((folder / "result.json").read_text())["graphs"] == 1
