"""Modes `profile` and `bench`: what is measured, how failures become cells, and that the parts add up. Never how long
anything takes."""

import errno
import itertools
import math
import os
import pathlib
import tempfile
import time

import measure_zoo as zoo
import pytest
import torch
from breakwatch_worker import modes
from breakwatch_worker.capture import Capture
from breakwatch_worker.compilers import outputs
from breakwatch_worker.model import architecture
from breakwatch_worker.modes import measure
from breakwatch_worker.profile import backends, cells, contenders, lanes, noise, resize, schedule
from breakwatch_worker.profile.options import BACKENDS, Options, options_of

QUICK = {"min_runs": 3, "min_s": 0.01}
RUNNER = str(pathlib.Path(__file__).with_name("fake_runner.py"))
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32, "num_hidden_layers": 4,
         "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32, "vocab_size": 99}


@pytest.fixture(scope="module", autouse=True)
def compiler_cache(tmp_path_factory):
    """One for all tests, because the first compilation tries the compiler for half a minute."""
    patch = pytest.MonkeyPatch()
    patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path_factory.mktemp("inductor")))
    patch.setenv("TORCHINDUCTOR_COMPILE_THREADS", "1")
    patch.delenv("BREAKWATCH_RUNNER", raising=False)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as in a capture, which forks
    yield
    torch.set_num_threads(threads)
    patch.undo()


def measured(mode: str, module, names=("eager",), x=None, **options) -> tuple:
    """(the only profile, what was found)."""
    chosen = modes.mode_of({"mode": mode, "measure": {**QUICK, "backends": list(names), **options}})
    call = modes.Call(module.eval(), {"x": torch.randn(4, 4) if x is None else x}, limit_s=3000.0)
    chosen.ready(call)
    chosen.eager(call)
    found = chosen.capture(call)
    assert found.error is None
    return found.mode_detail["profiles"][0], found


def kinds(profile: dict) -> list:
    return [(each["kind"], each.get("graph") or tuple(each["between"]), each["calls"]) for each in profile["segments"]]


def site_ids(found) -> list:
    return [site["site_id"] for site in found.numbers()["sites"]]


def statuses(in_cells: dict) -> dict:
    return {name: cell["status"] for name, cell in in_cells.items()}


def add_up(profile: dict, backend: str) -> bool:
    total = profile["totals"][backend]
    parts = [each["cells"][backend] for each in profile["segments"]]
    return math.isclose(sum(cell["mean_s"] for cell in parts), total["mean_s"], rel_tol=1e-4) and math.isclose(
        sum(cell["share"] for cell in parts), 1, rel_tol=1e-4)


# --- segments


def test_a_break_between_two_graphs_is_a_stretch_of_python_with_its_site():
    profile, found = measured("profile", zoo.BreaksBetween())
    assert kinds(profile) == [("python", (0, 1), 1), ("graph", 1, 1), ("python", (1, 2), 1), ("graph", 2, 1),
                              ("python", (2, 0), 1)]
    (site,) = site_ids(found)
    assert [each["ended_by"] for each in profile["segments"]] == ["", site, site, "", ""]
    assert [each["ops"] for each in profile["segments"] if each["kind"] == "graph"] == [1, 2]
    assert profile["segments"][2]["line"] == found.numbers()["sites"][0]["line"]
    assert add_up(profile, "eager")
    (cost,) = profile["break_costs"]
    assert (cost["site_id"], cost["occurrences"], cost["shared_with"]) == (site, 1, 0)
    assert cost["between_s"] == profile["segments"][2]["cells"]["eager"]["median_s"]


def test_the_numbers_of_the_capture_are_those_of_eval():
    _, found = measured("profile", zoo.BreaksBetween())
    numbers = found.numbers()
    assert (found.status, numbers["breaks"], numbers["graphs"], numbers["frames_fallback"]) == ("", 1, 2, 0)


def test_a_graph_in_a_loop_has_its_calls_and_the_python_code_around_it_belongs_to_the_break():
    profile, found = measured("profile", zoo.BreaksInLoop(), ("eager", "torchscript"))
    assert kinds(profile) == [("python", (0, 1), 1), ("graph", 1, 3), ("python", (1, 1), 2), ("python", (1, 0), 1)]
    (site,) = site_ids(found)
    caused = [each["cells"]["eager"]["median_s"] for each in profile["segments"] if each["ended_by"] == site
              and each["kind"] == "python"]
    assert profile["segments"][2]["ended_by"] == site and len(caused) == 3  # all Python code of the skipped frame
    assert profile["break_costs"][0]["between_s"] == pytest.approx(sum(caused))
    assert add_up(profile, "eager") and add_up(profile, "torchscript")  # each layer with its own parameters


def test_a_run_has_as_many_times_as_the_options_ask_for():
    profile, _ = measured("profile", zoo.Whole(), min_runs=7)
    for cell in (*profile["totals"].values(), *[each["cells"]["eager"] for each in profile["segments"]]):
        assert cell["runs"] >= 7 and cell["failures"] == 0
        assert cell["low_s"] <= cell["median_s"] <= cell["high_s"]
        assert cell["p50_s"] == cell["median_s"] <= cell["p90_s"] <= cell["p95_s"] <= cell["p99_s"]
    assert profile["totals"]["eager"]["throughput"] == pytest.approx(4 / profile["totals"]["eager"]["mean_s"], rel=1e-5)
    assert (profile["batch"], profile["inputs"]) == (4, {"x": {"shape": [4, 4], "dtype": "float32"}})


def test_the_run_that_compiles_is_discarded_and_counted():
    profile, _ = measured("profile", zoo.Whole())
    assert (profile["discarded_runs"], profile["recompiles"]) == (1, 0)


def test_runs_that_compile_again_are_discarded_and_recompilations_are_counted():
    profile, _ = measured("profile", zoo.CompilesAgain())
    assert profile["discarded_runs"] > 1 and profile["recompiles"] > 0
    assert profile["totals"]["eager"]["status"] == "ok" and add_up(profile, "eager")


def test_a_model_that_compiles_in_each_run_is_a_failed_cell(monkeypatch):
    monkeypatch.setattr(contenders, "_compilations", itertools.count().__next__)
    profile, _ = measured("profile", zoo.Whole())
    assert statuses(profile["totals"]) == {"plain": "failed", "eager": "failed"}
    assert "compiled in each" in profile["totals"]["eager"]["detail"]
    assert profile["segments"] == []


# --- backends


def test_every_backend_measures_each_graph(monkeypatch):
    monkeypatch.setenv("BREAKWATCH_RUNNER", RUNNER)
    profile, _ = measured("profile", zoo.Whole(), BACKENDS)
    assert statuses(profile["totals"]) == dict.fromkeys(("plain", *BACKENDS), "ok"), profile["totals"]
    for each in profile["segments"]:
        expected = BACKENDS if each["kind"] == "graph" else [name for name in BACKENDS if name != "aot_inductor"]
        assert statuses(each["cells"]) == dict.fromkeys(expected, "ok")
    for name in BACKENDS:
        total = profile["totals"][name]
        assert ("compile_s" in total) == (name != "eager")
        assert name == "aot_inductor" or add_up(profile, name)
    total, python = profile["totals"]["aot_inductor"], profile["totals"]["eager"]["python_s"]
    assert (total["graphs_s"], total["python_s"]) == (0.001, python)  # the runner's millisecond
    assert "Python code as timed with eager" in total["detail"]


def test_bench_traces_a_model_whose_output_has_more_than_tensors():
    profile, _ = measured("bench", zoo.ReturnsACache(), ("eager", "torchscript"))
    assert statuses(profile["totals"]) == {"eager": "ok", "torchscript": "ok"}, profile["totals"]


def test_packages_alone_have_the_python_code_of_the_model_in_their_total(monkeypatch):
    monkeypatch.setenv("BREAKWATCH_RUNNER", RUNNER)
    profile, _ = measured("profile", zoo.BreaksInLoop(), ("aot_inductor",))
    total = profile["totals"]["aot_inductor"]
    (graph,) = [each for each in profile["segments"] if each["kind"] == "graph"]
    assert graph["calls"] == 3 and graph["cells"]["aot_inductor"]["median_s"] == 0.003  # of a run, as with the others
    assert total["graphs_s"] == 0.003 and total["median_s"] > 0.003 and total["python_s"] > 0


def test_without_space_for_its_files_a_backend_says_which_setting_to_raise():
    cell = cells.of_error(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert cell["status"] == "failed" and "capture.scratch_bytes" in cell["detail"]
    assert cell["detail"].endswith("No space left on device")


def test_bench_measures_the_whole_model_with_every_backend(monkeypatch):
    monkeypatch.setenv("BREAKWATCH_RUNNER", RUNNER)
    profile, _ = measured("bench", zoo.Whole(), BACKENDS)
    assert not {"segments", "whole", "break_costs"} & profile.keys()
    assert statuses(profile["totals"]) == dict.fromkeys(BACKENDS, "ok")
    assert all(cell["peak_rss_mb"] > 0 and cell["throughput"] > 0 for cell in profile["totals"].values())
    assert "compile_s" not in profile["totals"]["eager"]
    assert profile["totals"]["aot_inductor"]["peak_rss_mb"] == 100.0


def test_without_the_runner_aot_inductor_is_skipped_with_the_reason():
    for mode in ("profile", "bench"):
        profile, _ = measured(mode, zoo.Whole(), ("eager", "aot_inductor"))
        cell = profile["totals"]["aot_inductor"]
        assert cell["status"] == "skipped" and "BREAKWATCH_RUNNER" in cell["detail"]


def test_a_graph_that_one_backend_cannot_convert_is_one_cell():
    profile, _ = measured("profile", zoo.NotInOnnx(), ("eager", "onnxruntime"))
    first, second = (each["cells"]["onnxruntime"] for each in profile["segments"] if each["kind"] == "graph")
    assert (first["status"], second["status"]) == ("ok", "failed")
    assert "linalg_eig" in second["detail"], second["detail"]
    total = profile["totals"]["onnxruntime"]
    assert total["status"] == "failed" and total["detail"].startswith("graph 2: ") and "median_s" not in total
    assert profile["totals"]["eager"]["status"] == "ok"


@pytest.mark.parametrize("mode", ("profile", "bench"))
@pytest.mark.parametrize(("strange", "status", "text"), (
    (zoo.Wrong, "wrong_result", "values differ"),
    (zoo.Crashes, "failed", "SIGSYS"),
    (zoo.Greedy, "out_of_memory", "allocate"),
))
def test_a_backend_that_misbehaves_is_a_cell(monkeypatch, mode, strange, status, text):
    monkeypatch.setitem(backends._TABLE, "torchscript", strange)
    profile, _ = measured(mode, zoo.Whole(), ("eager", "torchscript"))
    cell = profile["totals"]["torchscript"]
    assert cell["status"] == status and text in cell["detail"]
    assert profile["totals"]["eager"]["status"] == "ok"


@pytest.fixture
def lane():
    """Makes the lane of a contender; its process ends with the test."""
    made = []

    def make(contender) -> lanes.Lane:
        made.append(lanes.Lane("one", contender, 6 << 30))
        return made[-1]

    yield make
    for each in made:
        each.close()


class Hangs(contenders.Contender):
    def _prepare(self):
        time.sleep(600)


def subject() -> contenders.Subject:
    return contenders.Subject(zoo.Whole().eval(), (torch.ones(4, 4),), {})


def test_a_backend_that_hangs_is_ended_and_its_cell_is_a_timeout(lane):
    hanging = lane(Hangs(subject(), Options()))
    assert hanging.ask({"do": "prepare"}, 0.2) == {}
    assert hanging.cell["status"] == "timeout" and "compiling took longer" in hanging.cell["detail"]
    assert not hanging.alive


def test_a_measurement_that_the_time_limit_ends_says_so_in_its_cells(lane):
    slow = lane(contenders.Contender(subject(), Options(min_runs=10**6)))
    slow.ask({"do": "prepare"}, 60)
    assert slow.ask({"do": "finish"}, 60)["total"]["status"] == "timeout"
    assert slow.ask({"do": "turn", "seconds": 0.001}, 60) == {"enough": False}
    cell = slow.ask({"do": "finish"}, 60)["total"]
    assert cell["status"] == "ok" and cell["runs"] > 0 and "fewer runs than requested" in cell["detail"]


def test_without_time_nothing_is_begun(lane):
    waiting = lane(contenders.Contender(subject(), Options()))
    schedule.prepare([waiting], schedule.Budget(1.0, time.monotonic() - 10))
    assert waiting.cell["status"] == "timeout" and not waiting.alive


class Litters(contenders.Contender):
    """Leaves a temporary file behind, then does what a test says."""

    def _prepare(self):
        tempfile.mkdtemp(prefix="left-")
        return self.then()


@pytest.mark.parametrize("end", (lambda: {}, lambda: os.abort(), lambda: time.sleep(600)),
                         ids=("ends", "crashes", "hangs"))
def test_no_backend_leaves_temporary_files_behind(lane, tmp_path, monkeypatch, end):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Litters, "then", staticmethod(end), raising=False)
    littering = lane(Litters(subject(), Options()))
    littering.ask({"do": "prepare"}, 5.0)
    littering.close()
    assert list(tmp_path.iterdir()) == []


def test_a_measurement_leaves_no_temporary_files_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("BREAKWATCH_RUNNER", RUNNER)
    profile, _ = measured("profile", zoo.Whole(), ("eager", "aot_inductor", "onnxruntime"))
    assert set(statuses(profile["totals"]).values()) == {"ok"}
    assert [path for path in tmp_path.iterdir() if not path.name.startswith("torchinductor_")] == []  # torch's cache


def test_random_outputs_are_not_compared():
    profile, _ = measured("profile", zoo.Draws(), ("eager", "torchscript"))
    assert statuses(profile["totals"]) == {"plain": "ok", "eager": "ok", "torchscript": "ok"}


# --- the whole model, and the cost of breaks


def test_a_model_of_one_graph_is_its_own_whole():
    profile, _ = measured("profile", zoo.Whole())
    whole = profile["whole"]
    assert (whole["available"], whole["how"], whole["why_not"]) == (True, "fullgraph", "")
    assert whole["cells"] == {}  # the totals are its times
    assert profile["break_costs"] == []


def test_a_setting_that_removes_the_break_gives_the_cost_of_fusion():
    profile, _ = measured("profile", zoo.ReadsAValue())
    whole = profile["whole"]
    assert whole["available"]
    assert whole["how"] in ("fullgraph", "capture_scalar_outputs")  # recent releases: fullgraph implies the other
    (cost,) = profile["break_costs"]
    saved = profile["totals"]["eager"]["graphs_s"] - whole["cells"]["eager"]["graphs_s"]
    assert cost["fusion_s"] == pytest.approx(saved, abs=1e-9) and cost["why_not"] == ""


def test_a_break_that_no_setting_removes_has_no_cost_of_fusion_but_a_reason():
    profile, _ = measured("profile", zoo.BreaksBetween())
    assert not profile["whole"]["available"] and "graph_break" in profile["whole"]["why_not"]
    (cost,) = profile["break_costs"]
    assert cost["fusion_s"] is None and "graph_break" in cost["why_not"]


# --- options, sizes, devices


@pytest.mark.parametrize(("given", "named"), (
    ({"backends": ["eager", "tensorrt"]}, "measure.backends: "),
    ({"backends": []}, "measure.backends: "),
    ({"batches": [0]}, "measure.batches: "),
    ({"seq": -1}, "measure.seq: "),
    ({"dynamic": 1}, "measure.dynamic: "),
    ({"threads": True}, "measure.threads: "),
    ({"device": "tpu"}, "measure.device: "),
    ({"full": "yes"}, "measure.full: "),
    ({"min_runs": 0}, "measure.min_runs: "),
    ({"min_s": 0}, "measure.min_s: "),
))
def test_a_wrong_option_is_failed_create_and_named(given, named):
    with pytest.raises(architecture.Stop) as stop:
        options_of({"measure": given})
    assert stop.value.status == "failed_create" and stop.value.detail.startswith(named)


def test_an_unknown_backend_is_answered_with_the_known_ones():
    with pytest.raises(architecture.Stop) as stop:
        options_of({"measure": {"backends": ["tensorrt"]}})
    assert all(name in stop.value.detail for name in BACKENDS)


def test_a_job_without_options_has_the_defaults_and_unknown_fields_are_ignored():
    assert options_of({}) == options_of({"measure": {"later": 1}}) == Options()


def test_a_device_that_is_not_here_is_a_missing_dependency(monkeypatch):
    monkeypatch.setattr(measure.fork, "call", lambda _: False)
    with pytest.raises(architecture.Stop) as stop:
        modes.mode_of({"mode": "bench", "measure": {"device": "cuda"}})
    assert stop.value.status == "skipped_missing_dependency" and "CUDA" in stop.value.detail


def test_a_call_without_recipes_gets_another_batch_by_repeating_rows():
    call = modes.Call(zoo.Whole(), {"x": torch.arange(8.0).reshape(2, 4), "scale": torch.ones(3)})
    made = resize.resized(call, 5, 0).arguments
    assert made["x"][:, 0].tolist() == [0, 4, 0, 4, 0] and made["scale"].shape == (3,)
    with pytest.raises(resize.CannotResize):
        resize.resized(call, 2, 7)


def test_a_measure_mode_is_one_run_at_reduced_or_published_size():
    started = []

    class Watched(Capture):
        def _start(self, depth, attempt=0):
            started.append(depth)

    for wanted in ({}, {"full": True}):
        Watched({"job": "1", "mode": "profile", "measure": wanted}, None, None)
    Watched({"job": "1", "mode": "eval", "measure": {"full": True}}, None, None)
    assert started == ["reduced", "original", "reduced"]


# --- through a zygote


def test_profiles_of_several_batches_and_of_dynamic_shapes(zygote):
    result = zygote.capture(LLAMA, mode="profile", measure={
        **QUICK, "backends": ["eager", "torchscript"], "batches": [1, 3], "seq": 8, "dynamic": True})
    assert (result["status"], result["mode"], result["depth"]) == ("full_graph", "profile", "reduced")
    detail = result["mode_detail"]
    assert (detail["measure"]["size"], detail["measure"]["dtype"]) == ("reduced", "float32")
    assert [(each["batch"], each["seq"], each["dynamic"]) for each in detail["profiles"]] == [
        (1, 8, False), (3, 8, False), (1, 8, True)]
    assert [each["inputs"]["input_ids"]["shape"] for each in detail["profiles"]] == [[1, 8], [3, 8], [1, 8]]
    last = detail["profiles"][2]["totals"]
    assert last["eager"]["status"] == "ok" and last["torchscript"]["status"] == "skipped"
    assert detail["noise"].keys() == {"median_s", "spread", "after_spread", "quiet"}


def test_several_threads_are_measured(zygote):
    result = zygote.capture(mode="profile", measure={**QUICK, "backends": ["eager"], "threads": 2})
    assert result["mode_detail"]["measure"]["threads"] == 2
    assert statuses(result["mode_detail"]["profiles"][0]["totals"]) == {"plain": "ok", "eager": "ok"}


def test_the_published_size_is_measured_on_demand(zygote):
    result = zygote.capture(LLAMA, mode="bench", measure={**QUICK, "backends": ["eager"], "full": True})
    assert (result["depth"], result["mode_detail"]["measure"]["size"]) == ("original", "published")
    assert result["params"] > zygote.capture(LLAMA)["params"]


def test_a_factory_is_profiled_with_its_own_inputs(allowing):
    here = str(pathlib.Path(__file__).parent)
    result = allowing.capture({}, mode="profile", measure={**QUICK, "backends": ["eager"]}, source={
        "kind": "python", "factory": "measure_factory:module", "path": [here], "cwd": here})
    assert result["status"] == "graph_breaks", result
    (profile,) = result["mode_detail"]["profiles"]
    assert (profile["batch"], profile["totals"]["eager"]["status"]) == (3, "ok")
    assert profile["break_costs"][0]["site_id"] == result["sites"][0]["site_id"]


def test_a_timm_model_is_benched(zygote):
    config = {"architecture": "resnet18", "pretrained_cfg": {"input_size": [3, 64, 64]}}
    result = zygote.capture(config, library="timm", mode="bench", measure={**QUICK, "backends": ["eager"]})
    assert result["mode_detail"]["profiles"][0]["totals"]["eager"]["status"] == "ok", result


def test_traces_of_the_user_are_not_written(tmp_path):
    from worker_support import Zygote

    made = Zygote(TORCH_TRACE=str(tmp_path), TORCH_LOGS="+dynamo")
    try:
        made.receive("hello")
        assert made.capture()["status"] == "full_graph"
    finally:
        made.close()
    assert list(tmp_path.iterdir()) == []


# --- numbers


def test_the_interval_of_the_median_is_that_of_the_binomial_distribution():
    # From tables of the sign test at 95 %: with n samples, the k-th smallest and the k-th largest.
    assert [cells.outside(n) + 1 for n in (6, 8, 9, 12, 15, 20, 30, 50, 100)] == [1, 1, 2, 3, 4, 6, 10, 18, 40]
    assert cells.interval(list(range(30))) == (9, 20)
    assert cells.interval([5.0]) == (5.0, 5.0)


def test_statistics_of_known_samples():
    cell = cells.measured([4.0, 1.0, 3.0, 2.0], failures=2, share=None)
    assert (cell["mean_s"], cell["median_s"], cell["p90_s"], cell["low_s"], cell["high_s"]) == (2.5, 2.5, 3.7, 1.0, 4.0)
    assert (cell["runs"], cell["failures"]) == (4, 2) and "share" not in cell
    assert cells.spread([1.0, 2.0, 3.0, 4.0, 5.0]) == pytest.approx(2 / 3)


def test_a_failed_cell_has_a_bounded_text_of_one_line():
    cell = cells.of_error(RuntimeError("a\n" * 1000))
    assert cell["status"] == "failed" and "\n" not in cell["detail"] and len(cell["detail"]) < 400
    assert cells.of_error(MemoryError())["status"] == "out_of_memory"


def test_noise_is_quiet_below_its_limit_only():
    before, after = {"median_s": 1.0, "spread": 0.01}, {"median_s": 1.0, "spread": 0.01}
    assert noise.described(before, after)["quiet"]
    assert not noise.described(before, {**after, "spread": 0.2})["quiet"]
    assert noise.measure()["median_s"] > 0


@pytest.mark.parametrize(("got", "text"), (
    ([torch.ones(2)], ""),
    ([torch.ones(2) + 1e-6], ""),
    ([torch.ones(2) + 1], "differ by up to 1"),
    ([torch.ones(3)], "shape [3] instead of [2]"),
    ([torch.ones(2).double()], "float64 instead of float32"),
    ([], "0 tensors instead of 1"),
    ([torch.tensor([1.0, float("nan")])], "differ"),
))
def test_outputs_are_compared_by_dtype(got, text):
    found = outputs.difference([torch.ones(2)], got)
    assert text in found and bool(found) == bool(text)
    nothing = torch.tensor([float("nan")])
    assert outputs.difference([nothing, torch.tensor([1])], [nothing, torch.tensor([1])]) == ""
    assert outputs.difference([torch.tensor([1])], [torch.tensor([2])]) != ""


@pytest.mark.parametrize(("wanted", "got", "numbers"), (
    ([1.0, 2.0], [1.0, 3.0], {"max_abs": 1.0, "max_rel": 0.5, "worst": [1]}),
    # The first is further from what is allowed.
    ([0.0, 100.0], [0.01, 100.1], {"max_abs": pytest.approx(0.1, abs=1e-4), "worst": [0]}),
    ([1.0, float("nan")], [1.0, 5.0], {"nan_positions_equal": False, "max_abs": 0.0, "worst": [1]}),
    ([float("inf")], [float("inf")], {"max_abs": 0.0, "worst": []}),
    ([float("inf")], [1.0], {"worst": [0], "max_abs": None}),  # no number of JSON
    ([1 + 1j], [1 + 2j], {"max_abs": 1.0, "worst": [0, 1]}),
    ([1, 2], [1, 4], {"max_abs": 2.0, "worst": [1]}),
    ([], [], {"max_abs": 0.0, "worst": []}),
), ids=repr)
def test_the_numbers_of_a_comparison_are_those_of_the_runner(wanted, got, numbers):
    found = outputs.numbers(torch.tensor(wanted), torch.tensor(got))
    assert {name: found.get(name) for name in numbers} == numbers
