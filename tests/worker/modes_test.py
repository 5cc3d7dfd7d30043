"""Every mode, on modules whose result is known and on small models of the library through a zygote."""

import types

import modes_zoo as zoo
import pytest
import torch
from breakwatch_worker import modes
from breakwatch_worker.dynamo import trace as tracing
from breakwatch_worker.model import architecture
from breakwatch_worker.modes import plain, recompile, train
from depth_test import BREAKING_SWITCH

LINE_OF_PRINT = "print(\"seen\")"
LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32, "num_hidden_layers": 2,
         "num_attention_heads": 2, "num_key_value_heads": 2, "intermediate_size": 32, "vocab_size": 99}
# Branches on a tensor's value: whether some tokens attend to all others.
LONGFORMER = {"model_type": "longformer", "architectures": ["LongformerModel"], "hidden_size": 32,
              "num_hidden_layers": 4, "num_attention_heads": 2, "intermediate_size": 32, "vocab_size": 99,
              "attention_window": [4, 4, 4, 4], "max_position_embeddings": 64}
VIT = {"model_type": "vit", "architectures": ["ViTForImageClassification"], "hidden_size": 32, "num_hidden_layers": 2,
       "num_attention_heads": 2, "intermediate_size": 32, "image_size": 32, "patch_size": 8}


def capture(mode, module, x=None, limit_s=300.0, before=None):
    chosen = modes.mode_of({"mode": mode})
    call = modes.Call(module.eval(), {"x": torch.ones(2, 3) if x is None else x}, limit_s=limit_s)
    chosen.ready(call)
    chosen.eager(call)
    if before is not None:
        before()
    return chosen.capture(call)


def test_a_job_without_a_mode_is_eval_and_an_unknown_mode_is_reported_with_the_known_ones():
    assert (modes.mode_name({}), modes.mode_name({"mode": "train"})) == ("eval", "train")
    with pytest.raises(architecture.Stop) as stop:
        modes.mode_of({"mode": "nonsense"})
    assert stop.value.status == "failed_create"
    assert "unknown mode 'nonsense'" in stop.value.detail and "recompile" in stop.value.detail


@pytest.mark.parametrize("mode", modes.NAMES)
def test_every_mode_finds_nothing_in_a_module_without_breaks(mode):
    found = capture(mode, zoo.Linear())
    numbers = found.numbers()
    assert found.error is None and found.status in ("", "full_graph")
    assert (numbers["breaks"], numbers["sites"], numbers["unexplained_events"]) == (0, [], 0)
    assert numbers["graphs"] == (2 if mode == "recompile" else 1)
    assert numbers["ops_captured"] > 0


def test_code_for_training_only_breaks_in_training_only():
    assert capture("eval", zoo.PrintsInTraining()).numbers()["breaks"] == 0
    found = capture("train", zoo.PrintsInTraining())
    numbers = found.numbers()
    assert (numbers["breaks"], numbers["graphs"], numbers["unexplained_events"]) == (1, 2, 0)
    assert numbers["sites"][0]["source_line"] == LINE_OF_PRINT
    assert found.mode_detail == {
        "loss": "the sum of the floating outputs", "forward_graphs": 2, "inference_graphs": 0, "backward_graphs": 2,
        "backward_graph_runs": 2, "backward_ran": True}


def test_a_view_of_a_kernels_other_strides_is_not_a_failed_capture():
    found = capture("train", zoo.NormsAcross(), torch.ones(2, 3, 4))
    assert found.error is None and found.mode_detail["backward_ran"]
    assert (found.numbers()["breaks"], found.numbers()["graphs"]) == (0, 1)


def test_a_model_without_gradients_is_captured_and_reports_no_backward():
    found = capture("train", zoo.NoGradient())
    assert (found.mode_detail["backward_ran"], found.mode_detail["backward_graph_runs"]) == (False, 0)
    assert found.notes == ["no backward, loss none: no output carries a gradient"]
    assert found.numbers()["graphs"] == 1


def test_a_captured_backward_that_fails_when_run_is_reported_and_not_a_failed_capture(monkeypatch):
    def fails(*_):
        raise RuntimeError("view size is not compatible")

    original = train._Autograd._backward
    monkeypatch.setattr(train._Autograd, "_backward", lambda *args: train._boxed(original(*args) and fails))
    found = capture("train", zoo.Linear())
    assert found.error is None and found.numbers()["graphs"] == 1
    assert found.mode_detail["backward_error"] == "RuntimeError: view size is not compatible"
    assert (found.mode_detail["backward_graphs"], found.mode_detail["backward_ran"]) == (1, False)


def test_a_backward_that_cannot_be_compiled_is_a_hard_error(monkeypatch):
    def fails(*_):
        raise RuntimeError("no backward graph")

    monkeypatch.setattr(train._Autograd, "_backward", fails)
    assert "no backward graph" in str(capture("train", zoo.Linear()).error)


def test_the_models_own_loss_runs_backward():
    found = capture("train", zoo.OwnLoss())
    assert found.mode_detail["loss"] == "the class's own loss"
    assert found.mode_detail["backward_graph_runs"] == 1


def test_any_output_with_a_gradient_is_found():
    for made in (zoo.InDataclass(), zoo.Complex()):
        detail = capture("train", made).mode_detail
        assert (detail["loss"], detail["backward_ran"]) == ("the sum of the floating outputs", True)


def test_a_step_with_its_own_backward_gets_no_second_one():
    found = capture("train", zoo.OwnBackward())
    assert found.mode_detail["loss"] == "none added: the called code runs a backward itself"
    assert found.error is None and found.numbers()["sites"][0]["reason"] == "Unsupported Tensor.backward() call"


def test_a_graph_that_is_trained_keeps_its_place_and_its_guards():
    segment = capture("train", zoo.Linear()).numbers()["segments"][0]
    assert (segment["file"], segment["function"]) == ("modes_zoo.py", "forward")
    assert segment["line"] > 0 and segment["guards"] > 0


def test_training_uses_the_same_random_numbers_every_time():
    first = capture("train", zoo.Drops())
    again = capture("train", zoo.Drops(), before=lambda: torch.rand(7))
    assert first.numbers() == again.numbers()
    assert first.numbers()["breaks"] == 4


@pytest.mark.parametrize("of", [lambda module: module, lambda module: module.forward], ids=["module", "method"])
def test_training_leaves_no_gradient_behind(of):
    module = zoo.Linear()
    call, mode = modes.Call(of(module), {"x": torch.ones(2, 3)}), modes.mode_of({"mode": "train"})
    mode.ready(call)
    mode.eager(call)
    mode.capture(call)
    assert all(parameter.grad is None for parameter in module.parameters())


def test_labels_are_made_for_a_class_that_takes_them_and_copied_from_what_is_passed():
    class TinyForCausalLM(torch.nn.Module):
        def forward(self, input_ids, labels=None):
            return input_ids

    ids = torch.arange(6).reshape(2, 3)
    call = modes.Call(TinyForCausalLM(), {"input_ids": ids}, sizes=lambda name: name)
    made = train.labels_for(call)
    assert list(made) == ["labels"] and torch.equal(made["labels"], ids) and made["labels"] is not ids
    assert train.labels_for(modes.Call(zoo.Linear(), {"x": ids}, sizes=lambda name: name)) == {}
    assert train.labels_for(modes.Call(TinyForCausalLM(), {"input_ids": ids})) == {}


def test_a_symbolic_size_can_break_where_a_constant_does_not():
    assert capture("eval", zoo.GreatestDivisor()).numbers()["breaks"] == 0
    numbers = capture("dynamic", zoo.GreatestDivisor()).numbers()
    assert (numbers["breaks"], numbers["unexplained_events"]) == (1, 0)
    assert "math.gcd" in numbers["sites"][0]["source_line"]


def test_fullgraph_stops_at_the_first_break_and_reports_its_place():
    found = capture("fullgraph", zoo.PrintInCallee())
    numbers = found.numbers()
    assert (found.status, numbers["breaks"], numbers["break_sites"], numbers["graphs"]) == ("graph_breaks", 1, 1, 0)
    site, first = numbers["sites"][0], found.mode_detail["first_error"]
    assert (site["gb_id"], site["source_line"], site["function"]) == ("GB0059", LINE_OF_PRINT, "inner")
    assert {key: first[key] for key in ("reason", "gb_id", "file", "line")} == {
        key: site[key] for key in ("reason", "gb_id", "file", "line")}
    assert first["error"] == "Unsupported" and first["text"].startswith(first["reason"])
    assert found.detail == f"not one graph: {site['reason']} at {site['file']}:{site['line']}"
    assert "frames_total" not in numbers and numbers["unexplained_events"] == 0


def test_fullgraph_accepts_a_number_from_a_tensor_as_a_symbol():
    assert capture("eval", zoo.Item()).numbers()["breaks"] == 1
    found = capture("fullgraph", zoo.Item())
    assert (found.status, found.numbers()["breaks"], found.numbers()["graphs"]) == ("", 0, 1)


def test_a_symbol_that_cannot_be_decided_is_fullgraphs_first_error_with_the_place_in_its_text(monkeypatch):
    class GuardOnDataDependentSymNode(RuntimeError):
        pass

    error = GuardOnDataDependentSymNode(
        f'Eq(u0, 1)\n\nfrom user code:\n   File "/a/model.py", line 3, in forward\n    y = f(x)\n'
        f'  File "{zoo.__file__}", line 12, in inner\n    return x')
    monkeypatch.setattr(type(modes.mode_of({"mode": "fullgraph"})), "_trace", lambda *_: tracing.Trace(error=error))
    found = capture("fullgraph", zoo.Linear())
    site = found.numbers()["sites"][0]
    assert (found.status, site["reason"]) == ("graph_breaks", "Guard on a data-dependent value")
    assert (site["file"], site["line"], site["function"]) == ("modes_zoo.py", 12, "inner")
    assert found.mode_detail["first_error"]["text"] == "Eq(u0, 1)"


@pytest.mark.parametrize("mode", ["fullgraph", "train", "nested", "dynamic", "recompile"])
def test_a_hard_error_of_the_compiler_is_not_a_break(mode, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("a fault of the compiler")

    monkeypatch.setattr(torch._dynamo.output_graph.OutputGraph, "compile_subgraph", fail)
    found = capture(mode, zoo.Linear())
    assert "a fault of the compiler" in str(found.error)
    assert found.status == ""


def test_nested_breaks_are_logged_once_and_not_by_each_caller():
    outer, nested = (capture(mode, zoo.PrintInCallee()).numbers() for mode in ("eval", "nested"))
    assert (outer["breaks"], outer["graphs"]) == (2, 3)
    assert (nested["breaks"], nested["graphs"], nested["unexplained_events"]) == (1, 2, 0)
    assert nested["sites"][0]["site_id"] == outer["sites"][0]["site_id"]


def test_a_torch_without_nested_breaks_is_named_as_what_is_missing(monkeypatch):
    dynamo = types.SimpleNamespace(config=types.SimpleNamespace())
    monkeypatch.setattr(plain, "torch", types.SimpleNamespace(_dynamo=dynamo, __version__="2.6.0"))
    with pytest.raises(architecture.Stop) as stop:
        modes.mode_of({"mode": "nested"})
    assert (stop.value.status, "2.6.0" in stop.value.detail) == ("skipped_missing_dependency", True)


def test_a_second_shape_is_recompiled_and_a_third_is_not():
    found = capture("recompile", zoo.Linear())
    detail = found.mode_detail
    assert [call["shape"] for call in detail["shapes"]] == [{"x": [2, 3]}, {"x": [3, 3]}, {"x": [5, 3]}]
    assert [call["recompiles"] for call in detail["shapes"]] == [0, 1, 0]
    assert (detail["varied"], detail["recompiles"], detail["limit_hit"]) == (["x[0]"], 1, False)
    assert [(item["reason"], item["count"]) for item in detail["reasons"]] == [
        ("tensor 'x' size mismatch at index 0. expected 2, actual 3", 1)]
    assert found.numbers()["recompiles"] == 1 and "explain_breaks" not in found.numbers()
    assert found.notes == ["1 recompile over 3 shapes"]


def test_a_break_of_the_second_shape_alone_is_found():
    assert capture("eval", zoo.BreaksOnThree()).numbers()["breaks"] == 0
    found = capture("recompile", zoo.BreaksOnThree())
    assert [call["breaks"] for call in found.mode_detail["shapes"]] == [0, 1, 0]
    assert found.numbers()["sites"][0]["source_line"] == LINE_OF_PRINT
    assert found.numbers()["unexplained_events"] == 0


def test_the_recompile_limit_is_reported():
    with torch._dynamo.config.patch(recompile_limit=1):
        found = capture("recompile", zoo.Linear())
    assert found.mode_detail["limit_hit"] is True
    assert "the recompile limit was reached" in found.notes


@pytest.mark.parametrize("arguments, varied", [
    ({"xs": [torch.ones(2, 3), torch.ones(2, 5)]}, ["xs.0[0]", "xs.1[0]"]),
    ({"xs": ({"x": torch.ones(1, 3)},)}, ["xs.0.x[0]"])])
def test_a_batch_size_is_found_at_any_depth_and_one_is_a_batch_size(arguments, varied):
    class First(torch.nn.Module):
        def forward(self, xs):
            return next(iter(xs[0].values())) + 1 if isinstance(xs[0], dict) else xs[0] + 1

    mode, call = recompile.Recompile(), modes.Call(First(), arguments)
    mode.eager(call)
    found = mode.capture(call)
    assert (found.mode_detail["varied"], found.numbers()["recompiles"]) == (varied, 1)


def test_a_recompilation_under_compiled_autograd_is_recognised_by_its_last_number():
    ids = {"0/0": False, "3/1": True, "!0/2/0": False, "!1/2/3": True, "!0": False, "0/0_1": False}
    assert {name: tracing.is_recompile(types.SimpleNamespace(compile_id=name)) for name in ids} == ids


def test_without_a_size_to_change_there_is_no_second_shape():
    found = capture("recompile", zoo.NoTensor(), x=2.0)
    assert (found.status, found.detail) == ("failed_inputs", "no second shape: no argument has a size to change")


def test_a_smaller_change_follows_a_shape_that_does_not_run():
    class TwoColumns(torch.nn.Module):
        def forward(self, x):
            if x.shape[1] != 4:
                raise ValueError("four columns")
            return x + 1

    def remake(vary):
        sizes = {"batch": 2, "seq": 4}
        for name, (top, bottom) in vary.items():
            sizes[name] = sizes.get(name, 0) * top // bottom
        return {"x": torch.ones(sizes["batch"], sizes["seq"])}

    mode = recompile.Recompile()
    call = modes.Call(TwoColumns(), remake({}), remake=remake)
    mode.eager(call)
    assert mode.capture(call).mode_detail["varied"] == ["x[0]"]


@pytest.mark.parametrize("text, expected", [
    ("0/0: tensor 'x' size mismatch at index 0. expected 2, actual 3", "tensor 'x' size mismatch at index 0. "
     "expected 2, actual 3"),
    ("[1/2]: ___check_obj_id(L['self'], 94523467812345)  # a", "___check_obj_id(L['self'], N) # a"),
    ("0/1: L['n'] == 2  # x = n  # /opt/env/lib/python3.11/site-packages/pkg/mod.py:12 in f\nmore",
     "L['n'] == 2 # x = n # pkg/mod.py:12 in f"),
])
def test_a_guards_text_is_the_same_from_run_to_run(text, expected):
    assert recompile.normalize(text) == expected


def test_a_mode_detail_over_its_limit_loses_the_end_of_its_longest_list():
    long = {"draft": {"failures": [{"expr": "u" * 100}] * 64, "outcome": "exported"}, "reasons": ["a", "b"]}
    cut = modes.bounded(long, 1000)
    assert (len(cut["draft"]["failures"]), cut["reasons"], cut["cut"]) == (8, ["a", "b"], True)
    assert modes.bounded({"text": "u" * 2000}, 1000) == {"cut": True}
    assert modes.bounded({"reasons": ["a"]}, 1000) == {"reasons": ["a"]}


def test_every_mode_reports_its_name_and_has_no_unexplained_events(zygote):
    for mode in modes.NAMES:
        result = zygote.capture(mode=mode)
        assert (result["mode"], result["status"], result["unexplained_events"]) == (mode, "full_graph", 0), result


def test_an_unknown_mode_fails_with_a_text_and_the_zygote_continues(zygote):
    result = zygote.capture(mode="nonsense")
    assert (result["status"], result["mode"]) == ("failed_create", "nonsense")
    assert "unknown mode" in result["detail"]


def test_a_language_model_trains_on_the_text_it_is_given_and_is_exported_with_its_cache(zygote):
    trained = zygote.capture(LLAMA, mode="train")
    assert (trained["status"], trained["mode_detail"]["loss"]) == ("full_graph", "the class's own loss")
    assert trained["inputs"]["labels"] == trained["inputs"]["input_ids"]
    exported = zygote.capture(LLAMA, mode="export")
    assert exported["status"] == "full_graph", exported["mode_detail"]
    assert exported["mode_detail"]["library_exporter"]["outcome"] == "exported"


def test_a_speech_model_trains_on_durations_and_pitches(zygote):
    few = {"encoder_layers": 1, "decoder_layers": 1, "speech_decoder_postnet_layers": 2, "hidden_size": 32}
    trained = zygote.capture({"model_type": "fastspeech2_conformer", **few}, mode="train")
    assert "duration_labels" in trained["inputs"], trained["detail"]
    assert (trained["mode_detail"]["loss"], trained["mode_detail"]["backward_ran"]) == ("the class's own loss", True)


def test_an_image_model_keeps_its_image_size_if_only_the_batch_may_change(zygote):
    result = zygote.capture(VIT, mode="recompile")
    assert result["mode_detail"]["varied"] == ["pixel_values[0]"]
    assert (result["status"], result["recompiles"]) == ("full_graph", 1)


def test_fullgraph_captures_the_reduced_model_only(zygote):
    whole = zygote.capture(LONGFORMER, mode="fullgraph")
    assert (whole["status"], whole["breaks"], whole["depth"]) == ("graph_breaks", 1, "reduced")
    first, site = whole["mode_detail"]["first_error"], whole["sites"][0]
    assert (first["file"], first["line"], first["reason"]) == (site["file"], site["line"], site["reason"])
    assert site["frame"] == "library" and "from user code" not in first["text"]


def test_nested_breaks_are_counted_at_full_depth_as_those_of_eval_are(zygote):
    result = zygote.capture(BREAKING_SWITCH, mode="nested")
    assert (result["status"], result["depth"], result["unexplained_events"]) == ("graph_breaks", "full", 0)
    assert result["breaks"] == sum(site["occurrences"] for site in result["sites"])
