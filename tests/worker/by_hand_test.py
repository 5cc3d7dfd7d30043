"""`--capture FOLDER`: one capture in the foreground, in a folder that stays."""

import json
import subprocess
import sys

import pytest
from worker_support import BERT, environment


def by_hand(folder, *arguments) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-m", "breakwatch_worker", "--capture", str(folder), *arguments],
                          capture_output=True, text=True, timeout=300, env=environment(), stdin=subprocess.DEVNULL)


def write(folder, job) -> None:
    (folder / "job.json").write_text(job if isinstance(job, str) else json.dumps(job))


def test_the_capture_leaves_its_result_its_files_and_a_trace(tmp_path):
    write(tmp_path, {"type": "capture", "job": "by-hand", "model": "m", "config": BERT, "library": "transformers"})
    done = by_hand(tmp_path, "--trace")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "full_graph: 1 graph\n" and "capture" in done.stderr.splitlines()
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["status"], result["graphs"], result["job"]) == ("full_graph", 1, "by-hand")
    assert (tmp_path / "scratch/capture").is_dir()
    (trace,) = (tmp_path / "trace").iterdir()
    assert trace.name.startswith("dedicated_log_torch_trace_") and "dynamo_start" in trace.read_text()


def test_a_second_capture_replaces_the_trace_of_the_first_and_nothing_else(tmp_path):
    write(tmp_path, {"type": "capture", "job": "by-hand", "model": "m", "config": BERT, "library": "transformers"})
    (tmp_path / "trace").mkdir()
    first, notes = tmp_path / "trace/dedicated_log_torch_trace_first.log", tmp_path / "trace/notes.txt"
    first.write_text("of an earlier run")
    notes.write_text("mine")
    assert by_hand(tmp_path, "--trace").returncode == 0
    (trace,) = set((tmp_path / "trace").iterdir()) - {notes}
    assert trace != first and "dynamo_start" in trace.read_text()


def test_of_a_capture_in_two_runs_the_trace_is_that_of_the_published_one(tmp_path):
    config = BERT | {"model_type": "big_bird", "architectures": ["BigBirdForMaskedLM"], "num_hidden_layers": 3,
                     "attention_type": "block_sparse", "max_position_embeddings": 512}  # fmt: skip
    write(tmp_path, {"type": "capture", "job": "by-hand", "model": "m", "config": config, "library": "transformers"})
    done = by_hand(tmp_path, "--trace")
    assert done.stderr.splitlines().count("capture") == 2, done.stderr[-2000:]
    assert json.loads((tmp_path / "result.json").read_text())["depth"] == "full"
    assert len(list((tmp_path / "trace").iterdir())) == 1


@pytest.mark.parametrize("job", ["", "[]", "{", "[" * 100_000, '{"job": 3}', "null", '{"type": "capture"}'])
def test_a_file_that_is_no_job_is_refused_before_torch_is_imported(tmp_path, job):
    write(tmp_path, job)
    done = by_hand(tmp_path)
    assert done.returncode == 1 and "job.json: " in done.stderr and "Traceback" not in done.stderr
    assert not (tmp_path / "result.json").exists()


def test_a_missing_file_is_named(tmp_path):
    done = by_hand(tmp_path / "nowhere")
    assert done.returncode == 1 and "nowhere/job.json" in done.stderr
