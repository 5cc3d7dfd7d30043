"""Packages from a real zygote, checked by the real breakwatch-runner. One build serves most tests."""

import json
import os
import re
import signal
import subprocess
import tempfile
import zipfile

import packages_support
import pytest
import torch
from packages_support import EXAMPLE, RUNNER, build, copied, manifest_of, needs, run, signed
from safetensors.torch import load_file, save_file
from worker_support import BERT


@pytest.fixture(scope="session")
def builder():
    made = packages_support.zygote()
    yield made
    made.close()


@pytest.fixture(scope="session")
def built(builder, tmp_path_factory):
    """(the folder of the packages, the result): the batch is dynamic, the instruction set an older one."""
    folder = tmp_path_factory.mktemp("packages")
    targets = ["aot_inductor", "torchscript", "onnx", "tensorrt", "neuron"]
    result = build(builder, folder, model="org/tiny", targets=targets, dynamic=True, cpu_capability="avx2")
    assert result["status"] == "full_graph", result
    return folder, result


@pytest.fixture
def package(built, tmp_path):
    """A copy of the compiled package, for a test that changes it."""
    return copied(built[0] / "aot_inductor", tmp_path / "package")


@pytest.fixture
def script(built, tmp_path):
    """The same of TorchScript, which loads faster."""
    return copied(built[0] / "torchscript", tmp_path / "package")


def refused(answer) -> str:
    assert (answer["status"], answer["code"], answer.get("cases")) == ("refused", 1, []), answer
    return answer["detail"]


# --- what a build makes


def test_each_target_is_built_or_says_what_to_install(built):
    found = built[1]["mode_detail"]["targets"]
    assert {name: target["status"] for name, target in found.items()} == {
        "aot_inductor": "built", "torchscript": "built", "onnx": "built", "tensorrt": "skipped", "neuron": "skipped"}
    assert "pip install tensorrt" in found["tensorrt"]["detail"]
    assert found["neuron"]["cause"] == "not_installed"
    assert found["aot_inductor"]["manifest"] == "aot_inductor/manifest.json"


def test_the_manifest_describes_the_call(built):
    manifest = manifest_of(built[0] / "aot_inductor")
    assert (manifest["schema"], manifest["model"], manifest["architecture"]) == (1, "org/tiny", "BertModel")
    assert [entry["name"] for entry in manifest["inputs"]] == ["input_ids", "attention_mask"]
    assert manifest["outputs"][0] == {"path": "last_hidden_state", "dtype": "float32", "shape": [2, 16, 32]}
    assert (manifest["batch"], manifest["dynamic"], manifest["breaks"], manifest["graphs"]) == (1, True, 0, 1)
    assert (manifest["cpu_capability"], manifest["torch_abi"], manifest["size"]) == ("avx2", "cxx11", "reduced")
    assert manifest["weights"] == {"kind": "random", "seed": 0, "digest": ""}
    assert [entry["path"] for entry in manifest["files"]] == [
        "inputs-2.safetensors", "inputs.safetensors", "outputs-2.safetensors", "outputs.safetensors", "package.pt2"]


def test_a_package_for_an_older_processor_has_no_later_instructions(built, tmp_path):
    with zipfile.ZipFile(built[0] / "aot_inductor/package.pt2") as archive:
        library = next(name for name in archive.namelist() if name.endswith(".so"))
        archive.extract(library, tmp_path)
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", tmp_path / library], capture_output=True, text=True,
                          check=True).stdout
    assert "%ymm" in code  # it is compiled for AVX2
    assert "%zmm" not in code  # and not for AVX-512


def test_onnx_is_compared_by_its_own_runtime(built):
    check = built[1]["mode_detail"]["targets"]["onnx"]["check"]
    assert (check["status"], check["deterministic"]) == ("ok", True)
    assert check["runtime"].startswith("onnxruntime")
    assert [(case["inputs"], [output["within"] for output in case["outputs"]]) for case in check["cases"]] == [
        ("inputs.safetensors", [True, True]), ("inputs-2.safetensors", [True, True])]


def test_onnx_that_computes_something_else_is_a_wrong_result(tmp_path, monkeypatch):
    from breakwatch_worker.artifact import makers
    from breakwatch_worker.compilers import onnx_runtime

    run_right = onnx_runtime.Session.run
    monkeypatch.setattr(onnx_runtime.Session, "run", lambda self, tensors: [run_right(self, tensors)[0] + 1])
    recorded = recording_of(torch.nn.Linear(4, 4))
    check = makers.make_onnx(recorded, None, str(tmp_path / "model.onnx"))["check"]
    assert check["status"] == "wrong_result"
    assert check["detail"].startswith("1 of 1 output differs from eager; first: output of inputs.safetensors: its val")
    assert check["cases"][0]["outputs"][0]["max_abs"] == pytest.approx(1, rel=1e-4)


class NotFinite(torch.nn.Module):
    """NaN and both infinities among its outputs."""

    def forward(self, x):
        return torch.log(x)


def test_the_comparison_of_onnx_is_json_also_where_outputs_are_not_finite(tmp_path):
    from breakwatch_worker.artifact import makers

    recorded = recording_of(NotFinite(), torch.tensor([[-1.0, 0.0, 1.0, float("inf")]]))
    check = makers.make_onnx(recorded, None, str(tmp_path / "model.onnx"))["check"]
    json.dumps(check, allow_nan=False)
    assert (check["status"], check["deterministic"]) == ("ok", True)
    assert check["cases"][0]["outputs"][0]["nan_positions_equal"]


def recording_of(model, x=None):
    from breakwatch_worker.artifact import recording

    return recording.record(model.eval(), lambda batch: {"input" if x is None else "x":
                                                         torch.ones(batch, 4) if x is None else x}, 1, False)


# --- the check


@pytest.mark.parametrize("target", ["aot_inductor", "torchscript"])
def test_a_package_computes_what_the_model_computes(built, target):
    answer = run("check", built[0] / target)
    assert (answer["status"], answer["code"], answer["deterministic"]) == ("ok", 0, True), answer
    assert [case["inputs"] for case in answer["cases"]] == ["inputs.safetensors", "inputs-2.safetensors"]
    output = answer["cases"][1]["outputs"][0]
    assert (output["path"], output["shape"], output["within"]) == ("last_hidden_state", [3, 16, 32], True)
    assert output["max_abs"] < 1e-5 and output["cosine"] > 0.999


def test_inspect_verifies_without_loading(package):
    answer = run("inspect", package)
    assert (answer["status"], answer["code"], answer["inputs"][0]["name"]) == ("ok", 0, "input_ids")
    (package / "package.pt2").write_bytes(b"not a package")
    answer = run("inspect", signed(package))  # it is what the manifest says, so there is nothing to refuse
    assert answer["status"] == "ok"


@pytest.mark.parametrize("damage, text", [
    (lambda path: path.write_bytes(path.read_bytes()[:-1]), "bytes"),
    (lambda path: path.write_bytes(path.read_bytes()[:-1] + b"x"), "changed"),
    (lambda path: path.unlink(), "missing"),
    (lambda path: (path.rename(path.parent.parent / "elsewhere"), path.symlink_to(path.parent.parent / "elsewhere")),
     "not a plain file"),
], ids=["truncated", "changed", "missing", "link"])
def test_a_package_with_a_changed_file_is_refused(package, damage, text):
    damage(package / "package.pt2")
    assert text in refused(run("check", package))


@pytest.mark.parametrize("changes, text", [
    ({"torch": "2.13.0"}, "built with torch 2.13.0"),
    ({"torch_abi": "pre-cxx11"}, "pre-cxx11 ABI"),
    ({"cpu_capability": "avx1024"}, "avx1024"),
    ({"device": "cuda"}, "device cuda"),
    ({"schema": 2}, "schema 2"),
    ({"inputs": [{"name": "x"}]}, "inputs"),
    ({"target": "neuron"}, "neuron"),
], ids=lambda value: next(iter(value)) if isinstance(value, dict) else "")
def test_a_foreign_package_is_refused(script, changes, text):
    assert text in refused(run("check", signed(script, **changes)))


def test_a_package_that_is_none_fails_and_leaves_nothing_behind(package, tmp_path):
    (package / "package.pt2").write_bytes(b"PK\x03\x04 not an archive")
    (tmp_path / "tmp").mkdir()
    answer = run("check", signed(package), TMPDIR=str(tmp_path / "tmp"))
    assert (answer["status"], answer["code"]) == ("failed_check", 1)
    assert "package.pt2" in answer["detail"]
    assert os.listdir(tmp_path / "tmp") == []


def test_a_wrong_result_names_the_output_and_the_worst_element(script):
    outputs = load_file(script / "outputs-2.safetensors")
    outputs["0000"][2, 3, 4] += 1
    save_file(outputs, script / "outputs-2.safetensors")
    answer = run("check", signed(script))
    assert (answer["status"], answer["code"]) == ("wrong_result", 1)
    assert answer["detail"].startswith("1 of 4 outputs differ from eager; first: last_hidden_state of inputs-2")
    first, second = answer["cases"]
    assert all(output["within"] for output in first["outputs"])
    assert second["outputs"][0]["worst"] == [2, 3, 4]


def test_a_dynamic_package_without_another_batch_is_refused(script):
    for name in ("inputs-2.safetensors", "outputs-2.safetensors"):
        (script / name).unlink()
    left = [entry for entry in manifest_of(script)["files"] if "-2" not in entry["path"]]
    for command in ("check", "bench"):
        assert "lists no inputs-2.safetensors" in run(command, signed(script, files=left))["detail"]
    assert refused(run("check", script))
    assert run("check", signed(script, dynamic=False))["status"] == "ok"


def test_a_second_batch_of_the_same_size_proves_nothing(script):
    for name in ("inputs", "outputs"):
        (script / f"{name}-2.safetensors").write_bytes((script / f"{name}.safetensors").read_bytes())
    answer = run("check", signed(script))
    assert answer["status"] == "failed_check"
    assert "inputs-2.safetensors: it has the sizes of inputs.safetensors" in answer["detail"]


class Tiny(torch.nn.Module):
    """Outputs that are denormal numbers, and the same numbers made large."""

    def forward(self, x):
        tiny = x * 1e-39
        return tiny, tiny * 1e38


@pytest.mark.parametrize("flushes", [True, False])
def test_the_runner_flushes_denormal_numbers_if_the_recorded_call_did(tmp_path, flushes):
    from breakwatch_worker.artifact import builds, options
    from breakwatch_worker.process import tuning

    tuning.flush_denormals(flushes)
    recorded = recording_of(Tiny(), torch.ones(2, 4))
    assert (recorded.cases[0].outputs[1].max() == 0) == flushes
    chosen = options.Options(targets=("torchscript",), folder=str(tmp_path))
    fields = dict.fromkeys(("model", "revision", "family", "task", "structure", "architecture", "model_type"), "")
    fields.update(dtype="float32", device="cpu", size="reduced", weights={}, breaks=0, graphs=1)
    assert builds.build_all(recorded, chosen, fields, limit_s=300.0)["torchscript"]["status"] == "built"
    folder = tmp_path / "torchscript"
    assert manifest_of(folder)["flush_denormals"] == flushes
    assert run("check", folder, "--threads", "2")["status"] == "ok"
    assert run("check", signed(folder, flush_denormals=not flushes))["status"] == "wrong_result"
    assert run("check", signed(folder, flush_denormals="yes"))["status"] == "refused"


def test_nan_must_be_where_it_is_expected(script):
    outputs = load_file(script / "outputs.safetensors")
    outputs["0001"][1, 2] = float("nan")
    save_file(outputs, script / "outputs.safetensors")
    answer = run("check", signed(script))
    output = answer["cases"][0]["outputs"][1]
    assert (answer["status"], output["nan_positions_equal"], output["worst"]) == ("wrong_result", False, [1, 2])


def test_inputs_of_another_shape_fail_the_check(package):
    inputs = load_file(package / "inputs.safetensors")
    save_file({name: tensor[:, :8].contiguous() for name, tensor in inputs.items()}, package / "inputs.safetensors")
    answer = run("check", signed(package))
    assert answer["status"] == "failed_check"
    assert "inputs.safetensors: tensor 0 does not have the type and sizes that the manifest says" in answer["detail"]
    described = [{**entry, "shape": [entry["shape"][0], 8]} for entry in manifest_of(package)["inputs"]]
    answer = run("check", signed(package, inputs=described))
    assert answer["status"] == "failed_check"
    assert "inputs.safetensors: run:" in answer["detail"]


def test_an_error_of_a_script_has_its_reason(script):
    given = {f"{place:04}": torch.ones(3, 3, 3, 3, 3) for place in range(2)}
    save_file(given, script / "inputs.safetensors")
    described = [{"name": name, "dtype": "float32", "shape": [3] * 5} for name in given]
    detail = run("check", signed(script, inputs=described))["detail"]
    assert "RuntimeError: " in detail and "interpreter" not in detail


def test_a_check_has_a_time_limit(package):
    answer = run("check", package, "--limit-s", "0.001")
    assert (answer["status"], answer["code"]) == ("timeout", 1)


def test_a_check_has_a_memory_limit(package):
    needs(RUNNER)
    ran = subprocess.run([RUNNER, "check", package, "--json", "--limit-mb", "1"], capture_output=True, text=True,
                         check=False, env={})
    assert ran.returncode != 0 and '"status":"ok"' not in ran.stdout


# --- the measurement


def test_a_package_is_measured(built):
    folder = built[0] / "aot_inductor"
    answer = run("bench", folder, "--min-runs", "40", "--min-s", "0.05")
    assert answer["status"] == "ok" and answer["runs"] >= 40 and answer["failures"] == 0
    assert 0 < answer["low_s"] <= answer["median_s"] <= answer["high_s"]
    assert answer["median_s"] <= answer["p90_s"] <= answer["p95_s"] <= answer["p99_s"]
    assert answer["load_s"] > 0 and answer["peak_rss_mb"] > 10 and answer["threads"] == 1


def test_files_are_measured_without_a_manifest(built):
    needs(RUNNER)
    folder = built[0] / "torchscript"
    ran = subprocess.run(
        [RUNNER, "bench", "--package", folder / "module.pt", "--inputs", folder / "inputs.safetensors", "--min-runs",
         "3", "--min-s", "0", "--json"], capture_output=True, text=True, check=True, env={})
    assert json.loads(ran.stdout)["runs"] == 3


def test_a_measurement_that_fails_is_a_cell(package):
    (package / "package.pt2").write_bytes(b"no")
    answer = run("bench", package)
    assert (answer["status"], answer["runs"], answer["code"]) == ("failed", 0, 1)
    assert "package.pt2" in answer["detail"]


def test_the_example_program_runs_a_package(built):
    needs(EXAMPLE)
    ran = subprocess.run([EXAMPLE, built[0] / "aot_inductor/package.pt2"], capture_output=True, text=True, check=True,
                         env={})
    lines = [re.fullmatch(r"(\[.*\]) (\S+)", line).groups() for line in ran.stdout.splitlines()]
    assert [shape for shape, _ in lines] == ["[2, 16, 32]", "[2, 32]"]
    same = torch.jit.load(built[0] / "torchscript/module.pt")
    with torch.no_grad():
        outputs = same(torch.arange(32).reshape(2, 16), torch.ones(2, 16, dtype=torch.long))
    means = [float(output.abs().mean()) for output in outputs]
    assert [float(mean) for _, mean in lines] == pytest.approx(means, abs=1e-4)


# --- options and weights


@pytest.mark.parametrize("options, field", [
    ({"targets": ["tvm"]}, "build.targets"), ({"targets": []}, "build.targets"),
    ({"targets": ["onnx"], "folder": "relative"}, "build.folder"), ({"targets": ["onnx"], "batch": 0}, "build.batch"),
    ({"targets": ["onnx"], "cpu_capability": "sse"}, "build.cpu_capability"),
    ({"targets": ["onnx"], "seed": -1}, "build.seed"), ({"targets": ["onnx"], "weights": "here"}, "build.weights"),
])
def test_wrong_options_are_named(builder, tmp_path, options, field):
    result = build(builder, options.pop("folder", tmp_path), **options)
    assert result["status"] == "failed_create"
    assert result["detail"].startswith(field + ":")
    assert result["suggestion"]


BART = {"model_type": "bart", "architectures": ["BartForSequenceClassification"], "d_model": 16, "encoder_layers": 1,
        "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 16,
        "decoder_ffn_dim": 16, "vocab_size": 99, "num_labels": 3}


def test_a_model_with_breaks_is_built_and_says_so(builder, tmp_path):
    """The daemon refuses a result with breaks whose status is full_graph."""
    result = build(builder, tmp_path, BART, targets=["torchscript"])
    assert result["status"] == "graph_breaks" and result["breaks"] > 0, result
    assert result["mode_detail"]["targets"]["torchscript"]["status"] == "built"
    assert manifest_of(tmp_path / "torchscript")["breaks"] == result["breaks"]


def test_the_seed_decides_the_weights(builder, tmp_path):
    seen = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        build(builder, tmp_path / name, targets=["torchscript"], seed=seed)
        seen.append(load_file(tmp_path / name / "torchscript/outputs.safetensors")["0000"])
    assert torch.equal(seen[0], seen[1])
    assert not torch.equal(seen[0], seen[2])


def test_weights_come_from_a_folder(builder, tmp_path):
    state = _write_weights(tmp_path / "weights")
    result = build(builder, tmp_path, targets=["torchscript"], weights=str(tmp_path / "weights"))
    assert result["status"] == "full_graph", result
    manifest = manifest_of(tmp_path / "torchscript")
    assert (manifest["weights"]["kind"], manifest["size"]) == ("directory", "published")
    loaded = torch.jit.load(tmp_path / "torchscript/module.pt").state_dict()
    name = "embeddings.word_embeddings.weight"
    assert torch.equal(loaded[f"model.{name}"], state[name])


@pytest.mark.parametrize("change, text", [
    (lambda state: state.pop("pooler.dense.bias"), "missing: pooler.dense.bias"),
    (lambda state: state.update({"extra.weight": torch.ones(1)}), "unexpected: extra.weight"),
    (lambda state: state.update({"pooler.dense.bias": torch.ones(7)}), "of another shape: pooler.dense.bias"),
], ids=["missing", "unexpected", "shape"])
def test_weights_of_another_model_are_refused_by_name(builder, tmp_path, change, text):
    _write_weights(tmp_path / "weights", change)
    result = build(builder, tmp_path, targets=["torchscript"], weights=str(tmp_path / "weights"))
    assert result["status"] == "failed_create"
    assert text in result["detail"]


def test_a_folder_without_weights_is_refused(builder, tmp_path):
    result = build(builder, tmp_path, targets=["torchscript"], weights=str(tmp_path))
    assert result["status"] == "failed_create" and "model.safetensors" in result["detail"]


def _write_weights(folder, change=lambda state: None) -> dict:
    from transformers import BertConfig, BertModel

    torch.manual_seed(5)
    state = {name: tensor.clone() for name, tensor in BertModel(BertConfig(**BERT)).state_dict().items()}
    change(state)
    folder.mkdir()
    save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
    return state


# --- failures


def test_a_target_without_time_is_a_timeout_and_leaves_nothing(tmp_path):
    from breakwatch_worker.artifact import builds, recording
    from breakwatch_worker.artifact.options import Options

    model = torch.nn.Linear(4, 4).eval()
    recorded = recording.record(model, lambda batch: {"input": torch.ones(batch, 4)}, 1, False)
    options = Options(targets=("aot_inductor", "torchscript"), folder=str(tmp_path))
    found = builds.build_all(recorded, options, {}, limit_s=0.0)
    assert {(target["status"], target["cause"]) for target in found.values()} == {("timeout", "time")}
    assert os.listdir(tmp_path) == []


def test_a_build_that_is_killed_leaves_nothing(tmp_path, monkeypatch):
    from breakwatch_worker.artifact import builds, makers, options

    def crash(recording, options, path):
        tempfile.mkdtemp(prefix="left-")
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(makers, "make_torchscript", crash)
    (tmp_path / "packages/.torchscript.tmp/left-earlier").mkdir(parents=True)
    chosen = options.Options(targets=("torchscript",), folder=str(tmp_path / "packages"))
    found = builds.build_all(recording_of(torch.nn.Linear(4, 4)), chosen, {}, limit_s=60.0)
    assert found["torchscript"]["cause"] == "memory"
    assert os.listdir(tmp_path / "packages") == []


def test_a_compiler_of_a_package_writes_beside_the_package_and_keeps_nothing(tmp_path, monkeypatch):
    """The worker's scratch is smaller than the several copies of the weights that it makes."""
    from breakwatch_worker.artifact import builds, options

    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "scratch"))
    chosen = options.Options(targets=("aot_inductor",), folder=str(tmp_path / "packages"))
    found = builds.build_all(recording_of(torch.nn.Linear(4, 4)), chosen, {}, limit_s=600.0)
    assert found["aot_inductor"]["status"] == "built"
    assert os.listdir(tmp_path / "packages") == ["aot_inductor"]
    assert [path for path in (tmp_path / "scratch").rglob("*") if path.suffix in (".so", ".cpp", ".o")] == []


def test_a_disk_without_space_is_the_cause_of_a_failed_build(tmp_path, monkeypatch):
    from breakwatch_worker.artifact import builds, makers, options

    def fill(recording, options, path):
        with open("/dev/full", "wb", buffering=0) as file:
            file.write(b"x")

    monkeypatch.setattr(makers, "make_torchscript", fill)
    (tmp_path / "file").write_text("")
    for folder in (tmp_path, tmp_path / "file"):
        chosen = options.Options(targets=("torchscript",), folder=str(folder))
        found = builds.build_all(recording_of(torch.nn.Linear(4, 4)), chosen, {}, limit_s=60.0)["torchscript"]
        assert found["status"] == "failed"
        assert (found["cause"] == "disk") == (folder == tmp_path), found


def test_the_text_of_a_compiler_error_is_what_the_compiler_said_last():
    from breakwatch_worker.compilers import causes
    from torch._inductor.exc import CppCompileError, InductorError

    output = "".join(f"/tmp/cache/of/it/main.cpp:{line}: note: candidate {'x' * 99}\n" for line in range(99))
    output += "/usr/bin/ld: final link failed: No space left on device\ncollect2: error: ld returned 1 exit status\n"
    error = CppCompileError(["g++", "/tmp/cache/of/it/main.cpp", *["-I/usr/include"] * 400], output)
    for each in (error, InductorError(error, None)):
        assert causes.text_of(each, 300) == (
            f"{type(each).__name__}: C++ compile error: ld: final link failed: No space left on device; "
            "collect2: error: ld returned 1 exit status")
        assert causes.cause_of(each) == "disk"
    other = causes.text_of(CppCompileError(["g++"], "a\n" * 999 + "the end"), 100)
    assert len(other) <= 100 and " ... a a" in other and other.endswith("a the end")
    ran = subprocess.run(["sh", "-c", "echo main.cpp:3:1: error: stray >&2; exit 1"], capture_output=True, check=False)
    try:
        ran.check_returncode()
    except subprocess.CalledProcessError as failed:
        assert causes.text_of(failed, 99) == "CalledProcessError: C++ compile error: main.cpp:3:1: error: stray"
        assert causes.cause_of(failed) == "compiler"
    killed = CppCompileError(["g++"], "g++: fatal error: Killed signal terminated program cc1plus")
    assert causes.cause_of(killed) == "memory"


def test_a_check_that_ends_early_leaves_no_temporary_files(package, tmp_path):
    """The time limit ends the program while it loads; a signal, before it can clean up itself."""
    needs(RUNNER)
    (tmp_path / "tmp").mkdir()
    environment = {"TMPDIR": str(tmp_path / "tmp")}
    assert run("check", package, "--limit-s", "0.002", **environment)["status"] == "timeout"
    assert os.listdir(tmp_path / "tmp") == []
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSEGV):
        program = subprocess.Popen([RUNNER, "bench", package, "--min-s", "60"], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=environment)
        (works,) = wait_for_children(program.pid)
        os.kill(works if number == signal.SIGSEGV else program.pid, number)
        assert program.wait(60) == -number
        assert os.listdir(tmp_path / "tmp") == []
        assert not os.path.exists(f"/proc/{works}")


def wait_for_children(pid) -> list:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        while not (found := file.read().split()):
            file.seek(0)
    return [int(child) for child in found]


def test_a_build_that_fails_replaces_nothing(built, tmp_path):
    from breakwatch_worker.artifact import package

    folder = copied(built[0] / "torchscript", tmp_path / "torchscript")
    before = manifest_of(folder)
    with pytest.raises(ValueError, match="half-way"), package.new_folder(str(tmp_path), "torchscript"):
        raise ValueError("half-way")
    assert manifest_of(folder) == before
    assert os.listdir(tmp_path) == ["torchscript"]


def test_a_crash_and_a_hang_of_a_target_are_findings(tmp_path):
    import faulthandler
    import signal
    import time

    from breakwatch_worker.process import isolated

    folder = str(tmp_path)
    assert isolated.run(30, folder, lambda: {"a": 1}) == {"a": 1}
    assert isolated.run(0.1, folder, time.sleep, 30).cause == "time"
    crashed = isolated.run(30, folder, lambda: (faulthandler.disable(), os.kill(os.getpid(), signal.SIGSEGV)))
    assert (crashed.cause, "SIGSEGV" in crashed.detail) == ("crash", True)
    assert isolated.run(30, folder, lambda: os.kill(os.getpid(), signal.SIGKILL)).cause == "memory"
    assert isolated.run(30, folder, lambda: os._exit(0)).cause == "crash"


def test_every_error_has_a_cause_of_the_closed_set():
    from breakwatch_worker.compilers import causes
    from torch._inductor.exc import CppCompileError, InvalidCxxCompiler

    def raised(error):
        try:
            raise error
        except Exception as caught:
            return causes.cause_of(caught)

    assert raised(MemoryError("x")) == "memory"
    assert raised(ModuleNotFoundError("No module named 'onnx'")) == "not_installed"
    assert raised(CppCompileError(["g++"], "error: no match")) == "compiler"
    assert raised(InvalidCxxCompiler()) == "not_installed"
    assert raised(ValueError("anything")) == "other"
    try:
        torch.export.export(_Branching(), (torch.ones(2),), strict=False)
    except Exception as error:
        assert causes.cause_of(error) == "export"


class _Branching(torch.nn.Module):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x
