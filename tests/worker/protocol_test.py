"""The zygote's side of PROTOCOL.md, with real processes."""

import ctypes
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import pytest
import torch
from worker_support import BERT, LIMITS, Zygote, environment


def describe() -> tuple:
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-X", "importtime", "-m", "breakwatch_worker", "--describe"],
                          capture_output=True, env=environment(), check=True)
    return json.loads(done.stdout), time.monotonic() - begun, done.stderr.decode()


def test_describe_prints_the_hello_line_without_importing_torch(zygote):
    described, _, imported = describe()
    assert "| torch" not in imported and "transformers" not in imported.replace("breakwatch", "")
    for field in ("torch", "transformers", "python", "worker", "device", "protocol"):
        assert described[field] == zygote.hello[field]


def test_hello_is_the_first_line(zygote):
    assert zygote.first["type"] == "hello"
    assert zygote.hello["protocol"] == 1
    assert zygote.hello["pid"] == zygote.process.pid


def test_captures_a_small_bert_in_one_graph(zygote):
    result = zygote.capture()
    assert (result["status"], result["breaks"], result["graphs"]) == ("full_graph", 0, 1)
    assert result["architecture"] == "BertModel"
    assert result["model_type"] == "bert"
    assert result["depth"] == "original"
    assert result["unexplained_events"] == 0
    assert result["ops_captured"] > 10
    assert result["inputs"]["input_ids"]["shape"] == [2, 16]
    assert result["phase"] == "done" and result["detail"]
    assert set(result["phase_s"]) >= {"create", "inputs", "eager", "capture"}
    assert result["toolchain"]["torch"] == zygote.hello["torch"]


def test_announces_each_phase_in_order(zygote):
    zygote.seen.clear()
    zygote.capture()
    assert [m["phase"] for m in zygote.seen if m["type"] == "phase"] == ["create", "inputs", "eager", "capture"]


def test_the_same_job_gives_the_same_numbers(zygote):
    fields = ("graphs", "breaks", "ops_captured", "frames_total", "inputs_digest", "params")
    first, second = zygote.capture(), zygote.capture()
    assert [first[f] for f in fields] == [second[f] for f in fields]


@pytest.mark.parametrize("config, fields, status, words", [
    ({"model_type": "no-such-thing"}, {}, "failed_create", "unknown model_type 'no-such-thing'"),
    ({"hidden_size": 4}, {}, "failed_create", "neither model_type nor architectures"),
    ([1, 2], {}, "failed_create", "holds a list"),
    ({"model_type": "x1", "auto_map": {"AutoModel": "modeling.X"}}, {}, "skipped_custom_code", "model_type 'x1'"),
    (BERT, {"library": "gguf"}, "skipped_unsupported_library", "gguf"),
    ({**BERT, "num_attention_heads": 5}, {}, "failed_create", "hidden size"),
    ({"model_type": "vit", "image_size": 8, "patch_size": 16, "hidden_size": 32}, {}, "failed_", ""),
])
def test_a_config_that_cannot_be_captured_gets_its_status_and_text(zygote, config, fields, status, words):
    result = zygote.capture(config or {}, **fields)
    assert result["status"].startswith(status), result
    assert words in result["detail"]


def test_a_library_class_is_used_even_if_the_repository_has_code(zygote):
    result = zygote.capture({**BERT, "auto_map": {"AutoModel": "modeling_evil.Evil"}})
    assert (result["status"], result["architecture"]) == ("full_graph", "BertModel")


def test_no_architectures_falls_back_to_the_tasks_class(zygote):
    config = {k: v for k, v in BERT.items() if k != "architectures"}
    result = zygote.capture(config, task="fill-mask")
    assert (result["status"], result["architecture"]) == ("full_graph", "BertForMaskedLM")
    assert "no architectures" in result["detail"]


def test_lines_that_are_not_the_protocol_start_nothing(zygote):
    for line in (b"{", b"[1]", b'"text"', b'{"no": "type"}', b'{"type": "capture"}', b"\xff\xfe"):
        zygote.send(line)
        assert zygote.receive("error")["message"]
    zygote.send({"type": "a-newer-message"})
    assert zygote.capture()["status"] == "full_graph"


def test_heartbeats_come_at_least_every_two_seconds(zygote):
    first = zygote.receive("heartbeat", 3)
    assert "job" not in first
    zygote.receive("heartbeat", 2)


@pytest.mark.parametrize("model, status, words", [
    ("segv", "crashed", "SIGSEGV during capture"),
    ("abort", "crashed", "SIGABRT"),
    ("kill", "out_of_memory", "SIGKILL"),
    ("exit-3", "crashed", "exit code 3"),
    ("garbage", "crashed", "exit code 0 without a result"),
    ("raise", "crashed", "exit code 70"),
    ("wordy", "crashed", "longer than 16 MiB"),
])
def test_every_kind_of_end_has_its_status(villain_zygote, model, status, words):
    result = villain_zygote.capture(model=model)
    assert (result["status"], words in result["detail"]) == (status, True), result


@pytest.mark.parametrize("model", ["hang", "stubborn"])
def test_a_phase_past_its_deadline_is_a_timeout(villain_zygote, model):
    begun = time.monotonic()
    result = villain_zygote.capture(model=model, limits={**LIMITS, "eager_s": 0.5})
    assert result["status"] == "timeout"
    assert result["detail"] == "eager passed its limit of 0.5 s"
    assert time.monotonic() - begun < 3


def test_all_attempts_together_have_the_time_of_one(villain_zygote):
    short = dict.fromkeys(("create_s", "inputs_s", "eager_s"), 1.5)
    result = villain_zygote.capture(model="tireless", limits={**LIMITS, **short})
    assert result["status"] == "timeout"
    assert "limit of 4.5 s for all sizes and call variants" in result["detail"]


@pytest.mark.parametrize("model", ["grow", "grow-below"])
def test_memory_past_the_limit_is_out_of_memory(villain_zygote, model):
    result = villain_zygote.capture(model=model, limits={**LIMITS, "rss_bytes": 1536 << 20})
    assert result["status"] == "out_of_memory"
    assert "1536 MiB" in result["detail"]
    assert result["peak_rss_mb"] > 1000


def test_memory_that_forks_share_counts_once(villain_zygote):
    """Six times the memory that exists would exceed the limit."""
    result = villain_zygote.capture(model="share", limits={**LIMITS, "rss_bytes": 1400 << 20})
    assert result["status"] == "full_graph", result["detail"]
    assert 256 < result["peak_rss_mb"] < 1400


def test_files_past_the_limit_end_a_capture_without_a_limited_file_system():
    zygote = Zygote(sys.executable, os.path.join(os.path.dirname(__file__), "villains.py"),
                    BREAKWATCH_SCRATCH_BYTES=str(64 << 20))
    try:
        zygote.receive("hello")
        result = zygote.capture(model="write")
        assert (result["status"], result["detail"]) == (
            "out_of_memory", "the files it wrote passed 64 MiB during capture")
        assert zygote.capture(model="litter")["detail"] == "found []", "what the one before it wrote is gone"
        assert zygote.capture(model="litter")["detail"] == "found []"
    finally:
        zygote.close()


def test_a_child_reaches_nothing_of_its_zygote(villain_zygote):
    assert villain_zygote.capture(model="reach")["detail"] in ("reached []", "reached ['signal']" * _no_signal_scope())


def _no_signal_scope() -> bool:
    """Before version 6 of Landlock, the kernel lets a child signal every process of its user."""
    return ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1) < 6


def test_a_capture_that_gets_no_process_is_not_attempted_and_names_the_limit(monkeypatch):
    from breakwatch_worker.process import child_run

    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(child_run.os, "fork", refuse)
    made = child_run.ChildRun({"job": "a"}, lambda *_: None, lambda _: None)
    made.kill("cancel")  # There is no process to kill, and it must not kill itself.
    assert made.finished and made.descriptors() == set()
    assert made.outcome()["status"] == "not_attempted"
    assert "Resource temporarily unavailable; the limit on processes and threads" in made.outcome()["detail"]


def test_a_thread_that_cannot_be_started_is_not_a_failure_of_the_model():
    from breakwatch_worker import failure

    said = failure.result_of("eager", RuntimeError("can't start new thread"))
    assert said["status"] == "not_attempted"
    assert "ulimit -u" in said["detail"]


def test_a_flood_of_output_is_bounded_and_does_not_end_the_capture(villain_zygote):
    result = villain_zygote.capture(model="flood")
    assert result["status"] == "full_graph"
    assert len(result["output_tail"]) <= 8192


def test_a_child_that_lingers_after_its_result_keeps_its_result(villain_zygote):
    assert villain_zygote.capture(model="linger")["status"] == "full_graph"


def test_no_descendant_survives_a_capture(villain_zygote):
    assert villain_zygote.capture(model="daemon")["status"] == "full_graph"
    with open(f"/proc/{villain_zygote.process.pid}/task/{villain_zygote.process.pid}/children") as file:
        assert file.read().split() == []


def test_cancel_kills_the_child_and_answers_not_attempted(villain_zygote):
    job = villain_zygote.start(model="hang")
    villain_zygote.receive("phase")
    villain_zygote.send({"type": "cancel", "job": "another"})
    villain_zygote.send({"type": "cancel", "job": job})
    result = villain_zygote.receive("result", 5)
    assert (result["job"], result["status"]) == (job, "not_attempted")


def test_a_second_capture_is_rejected_while_one_runs(villain_zygote):
    job = villain_zygote.start(model="hang")
    villain_zygote.start(model="segv")
    assert job in villain_zygote.receive("error")["message"]
    assert villain_zygote.receive("heartbeat", 3)["job"] == job
    villain_zygote.send({"type": "cancel", "job": job})
    assert villain_zygote.receive("result")["job"] == job


@pytest.mark.parametrize("how", ["exit", "end of file", "killed"])
def test_exit_kills_the_child(how):
    zygote = Zygote(sys.executable, os.path.join(os.path.dirname(__file__), "villains.py"))
    try:
        zygote.receive("hello")
        zygote.start(model="stubborn")
        zygote.receive("phase")
        with open(f"/proc/{zygote.process.pid}/task/{zygote.process.pid}/children") as file:
            child = int(file.read().split()[0])
        if how == "exit":
            zygote.send({"type": "exit"})
        elif how == "end of file":
            zygote.process.stdin.close()
        else:
            zygote.process.send_signal(signal.SIGKILL)
        assert zygote.process.wait(10) == (-signal.SIGKILL if how == "killed" else 0)
        assert _gone(child)
    finally:
        zygote.process.kill()
        zygote.process.wait()


def _gone(pid: int) -> bool:
    for _ in range(200):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)  # The kernel delivers the death signal at any time: the loop bounds the wait.
    return False


def test_no_token_and_no_protocol_reach_the_child():
    """A child reports what it can see of environment, descriptors and network settings."""
    zygote = Zygote(sys.executable, os.path.join(os.path.dirname(__file__), "looker.py"), HF_TOKEN="hf_secret",
                    MY_API_KEY="secret", AWS_SECRET_ACCESS_KEY="secret")
    try:
        zygote.receive("hello")
        seen = json.loads(zygote.capture()["detail"])
    finally:
        zygote.close()
    assert not [name for name, value in seen["environment"].items() if "secret" in value]
    assert seen["environment"]["HF_HUB_OFFLINE"] == "1"
    assert seen["session"] and seen["threads"] == 1
    kinds = sorted(seen["descriptors"].values())
    assert len([kind for kind in kinds if kind.startswith("pipe:")]) == 3  # its result, and its output twice
    # The folder of its own files is open, as a lock that ends with it.
    known = ("pipe:", "/dev/null", os.path.join(tempfile.gettempdir(), "breakwatch-worker-"))
    assert all(kind.startswith(known) for kind in kinds), kinds


def test_an_error_names_the_files_of_a_library_relative_to_its_package():
    from breakwatch_worker import failure

    torch_file = pathlib.Path(torch.__file__).parent / "nn/modules/module.py"
    long = f'from user code: File "{torch_file}", line 7, in forward ' + "x" * 400
    detail = failure.result_of("capture", RuntimeError(long))["detail"]
    assert 'File "torch/nn/modules/module.py", line 7' in detail
    assert str(torch_file.parent) not in detail
