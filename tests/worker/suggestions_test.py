"""A failed capture has a suggestion that is true for it."""

import importlib.util
import signal
import types

import pytest
from breakwatch_worker import failure, modes, suggestions
from breakwatch_worker.inputs import forward_inputs
from breakwatch_worker.model import architecture, build
from breakwatch_worker.modes import plain
from breakwatch_worker.process import child, ends
from own_cases import capture
from worker_support import BERT

IN_BOTH = "let the factory return (module, inputs)"
PATCHES = {"model_type": "patchtst", "architectures": ["PatchTSTModel"], "d_model": 16, "num_hidden_layers": 1,
           "num_attention_heads": 2, "ffn_dim": 16}


@pytest.mark.parametrize("config, fields, suggestion", [
    ([1, 2], {}, "correct config.json: it must be an object"),
    ({"hidden_size": 4}, {}, "add model_type to the config"),
    ({"architectures": ["NoSuchModel"]}, {}, "add model_type to the config"),
    ({"model_type": "no-such-type"}, {}, "use a toolchain whose transformers knows no-such-type"),
    ({"model_type": "pop2piano", "architectures": ["NoSuchModel"]}, {},
     "use a toolchain whose transformers has NoSuchModel"),
    ({"model_type": "glm_image_vqmodel", "architectures": ["GlmImageVQVAE"]}, {},
     "name one of its parts as the architecture: the class has no forward"),
    (BERT, {"mode": "nonsense"}, "use one of the modes that this worker has"),
    (BERT, {"call": "some"}, "use one of the known calls"),
    (BERT, {"inputs_spec": {"sizes": {"seq": [1]}}}, "correct sizes.seq in the inputs file"),
    (BERT, {"inputs_spec": {"sizes": {"seq": "tokens"}}},
     "add tokens to the config, or describe the argument in an inputs file"),
    (BERT, {"library": "gguf"}, "none: it has no model of transformers, timm or diffusers"),
    ({"model_index": {}, "components": {}}, {}, "none: the pipeline has no module that can be built"),
    ({"model_index": {}, "components": {}}, {"call": "all"}, "capture this model with the default call"),
    ({"model_type": "x1", "auto_map": {"AutoModel": "modeling.X"}}, {},
     "none: code from a repository is never run; capture it as python:... if you trust it"),
])
def test_an_error_of_the_worker_carries_its_suggestion(zygote, config, fields, suggestion):
    result = zygote.capture(config, **fields)
    assert result.get("suggestion") == suggestion, result


@pytest.mark.parametrize("package, config, suggestion", [
    ("timm", {"architecture": "no_such_net", "pretrained_cfg": {}}, "use a toolchain whose timm has no_such_net"),
    ("diffusers", {"_class_name": "NoSuchModel"}, "use a toolchain whose diffusers has NoSuchModel"),
    ("diffusers", {"_class_name": "no class"}, "correct the name of the class in the config"),
    ("diffusers", {"_class_name": "PNDMScheduler"}, "none: only modules have a graph to capture"),
])
def test_an_error_about_a_model_of_another_library_carries_its_suggestion(zygote, package, config, suggestion):
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    result = zygote.capture(config)
    assert result.get("suggestion") == suggestion, result


@pytest.mark.parametrize("factory, mode, suggestion", [
    ("own_ends:mak", "eval", "correct the selector: own_ends has no mak"),
    ("own_ends:__name__.upper", "eval", IN_BOTH),  # gives a text
    ("own_ends:a_builtin_alone", "eval", IN_BOTH),
    ("own_ends:takes_one_of_two", "eval", "correct the inputs that the factory returns or that the script passes"),
    ("own_ends:never_runs", "eval", "correct the code or its inputs"),
    ("own_ends:fits_one_batch", "recompile", "none: the module accepts one batch size only, or its inputs are fixed"),
    ("own_zoo:locked", "recompile", "none: this mode must copy the arguments, and they cannot be copied"),
])
def test_a_suggestion_for_the_users_own_code_does_not_mention_a_config(allowing, factory, mode, suggestion):
    result = capture(allowing, factory, mode)
    assert result.get("suggestion") == suggestion, result


@pytest.mark.parametrize("wanted, suggestion", [
    ("12ab", "run `breakwatch discover` again: no module has the hash 12ab"),
    ("", "correct the script: it must call a module"),
])
def test_a_script_that_does_not_call_the_module_gets_a_suggestion(allowing, tmp_path, wanted, suggestion):
    (tmp_path / "script.py").write_text("print('no module here')\n")
    result = allowing.capture(source={"kind": "script", "path": str(tmp_path / "script.py"), "hash": wanted})
    assert (result["status"], result.get("suggestion")) == ("failed_create", suggestion), result


def test_code_that_may_not_run_gets_the_flag_that_allows_it(monkeypatch):
    monkeypatch.delenv("BREAKWATCH_ALLOW_FACTORIES", raising=False)
    result = in_this_process({"source": {"kind": "python", "factory": "mine:make"}})
    assert (result["status"], result["suggestion"]) == (
        "skipped_custom_code", "allow your own code with --allow-factories")


def in_this_process(job: dict) -> dict:
    return child._guarded(job, "reduced", lambda message: None)


def test_an_argument_without_a_recipe_is_to_be_described_in_an_inputs_file(monkeypatch):
    monkeypatch.setattr(forward_inputs.Plan, "recipe", lambda plan, name: None)
    result = in_this_process({"config": PATCHES})
    assert (result["status"], result["suggestion"]) == (
        "failed_inputs", "describe past_values in an inputs file: there is no recipe for it")


def test_a_model_over_the_limit_needs_a_smaller_config(monkeypatch):
    monkeypatch.setattr(build, "MAX_BYTES", 100)
    result = in_this_process({"config": BERT})
    assert (result["status"], result["suggestion"]) == ("skipped_too_large", "give a config with smaller widths")


def test_a_setting_that_this_torch_does_not_have_is_no_package_to_install(monkeypatch):
    without = types.SimpleNamespace(_dynamo=types.SimpleNamespace(config=types.SimpleNamespace()), __version__="2.6.0")
    monkeypatch.setattr(plain, "torch", without)
    with pytest.raises(architecture.Stop) as stop:
        modes.mode_of({"mode": "nested"})
    assert stop.value.suggestion == "use a toolchain with a later torch"


@pytest.mark.parametrize("message, suggestion", [
    ("XModel requires the natten library but it was not found in your environment.", "install natten in the toolchain"),
    ("something is not here", "install in the toolchain what the error text names"),
])
def test_a_missing_package_is_to_be_installed(message, suggestion):
    result = failure.result_of("create", ImportError(message))
    assert (result["status"], result["suggestion"]) == ("skipped_missing_dependency", suggestion)


@pytest.mark.parametrize("end, suggestion", [
    (ends.End(9, "timeout", "eager", 120), "raise capture.limits.eager, or capture on a less busy machine"),
    (ends.End(9, "attempts", "inputs", 270), "raise capture.limits.inputs, or capture on a less busy machine"),
    (ends.End(9, "memory", "eager", 1 << 30), None),
    (ends.End(9, "scratch", "eager", 1 << 30), "raise capture.scratch_bytes: "),
    (ends.End(9, "too long", "capture", 1 << 24), "none: a result of this length is not accepted"),
    (ends.End(signal.SIGKILL), "free memory on this machine, "),
    (ends.End(signal.SIGSEGV), None),
])
def test_the_end_of_a_child_process_has_a_suggestion_if_the_default_is_not_true_for_it(end, suggestion):
    found = ends.result_of(end).get("suggestion")
    assert found == suggestion if suggestion is None else found.startswith(suggestion)


@pytest.mark.parametrize("phase, error, suggestion", [
    ("create", AttributeError("'XConfig' object has no attribute 'depth'"), "add depth to the config"),
    ("create", AttributeError("module 'torch' has no attribute 'float3'"), "correct missing or contradicting values"),
    ("create", AttributeError("'NoneType' object has no attribute 'get'"), "set the value that is null or missing"),
    ("create", ValueError("Could not find XModel neither in <module 'transformers.models.x'> nor in"),
     "none: the library's own table names XModel"),
    ("create", ValueError("Could not find the end of a text"), "correct missing or contradicting values"),
    ("eager", RuntimeError("mat1 and mat2 shapes cannot be multiplied"), "describe arguments of the right shape"),
    ("eager", RuntimeError("something"), "describe other arguments in an inputs file"),
])
def test_an_error_of_another_library_gets_the_suggestion_for_its_message(phase, error, suggestion):
    assert failure.result_of(phase, error)["suggestion"].startswith(suggestion)


@pytest.mark.parametrize("phase", ["create", "inputs", "eager", "capture"])
@pytest.mark.parametrize("origin", [suggestions.LIBRARY, suggestions.OWN])
def test_an_inputs_file_is_suggested_only_for_models_that_it_has_an_effect_on(phase, origin):
    error = RuntimeError("mat1 and mat2 shapes cannot be multiplied; 'XConfig' object has no attribute 'y'")
    assert "inputs file" not in failure.result_of(phase, error, origin)["suggestion"]


@pytest.mark.parametrize("origin", [suggestions.CONFIG, suggestions.LIBRARY, suggestions.OWN])
@pytest.mark.parametrize("status", [
    "failed_create", "failed_inputs", "failed_eager", "failed_capture", "timeout", "out_of_memory", "crashed",
    "skipped_custom_code", "skipped_too_large", "skipped_unsupported_library", "skipped_no_config",
    "skipped_missing_dependency"])
def test_every_failed_status_has_a_suggestion(status, origin):
    assert suggestions.default_for(status, origin)


@pytest.mark.parametrize("status", ["full_graph", "graph_breaks", "not_attempted"])
def test_a_capture_that_did_not_fail_has_no_suggestion(status):
    assert not suggestions.default_for(status, suggestions.CONFIG)
