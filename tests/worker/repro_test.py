"""Mode `repro`: the file that it writes finds the same breaks in a fresh process, with torch and transformers alone."""

import ast
import json
import subprocess
import sys

import pytest
import torch
from breakwatch_worker import modes
from breakwatch_worker.model.architecture import Stop
from breakwatch_worker.repro import config, options, run, script, values

transformers = pytest.importorskip("transformers")

SMALL = {"d_model": 16, "hidden_size": 16, "vocab_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 32}  # fmt: skip
BART = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 32, "d_model": 16,
        "vocab_size": 64}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As in a capture, which forks."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def capture(model, arguments: dict, **repro) -> tuple:
    """(what was found, the part of mode_detail)."""
    mode = modes.mode_of({"mode": "repro", "model": "org/name", "repro": repro})
    call = modes.Call(model.eval(), arguments, limit_s=7200)
    mode.ready(call)
    mode.eager(call)
    found = mode.capture(call)
    return found, json.loads(json.dumps(found.mode_detail))["repro"]


@pytest.fixture(scope="module")
def bart() -> tuple:
    made_of = transformers.BartConfig(**BART, eos_token_id=2, pad_token_id=1, num_labels=3)
    tokens = torch.tensor([[5, 6, 7, 2], [8, 9, 4, 2]])
    return transformers.BartForSequenceClassification(made_of), {"input_ids": tokens,
                                                                 "attention_mask": torch.ones_like(tokens)}


@pytest.fixture(scope="module")
def found_in_bart(bart) -> tuple:
    return capture(*bart)


@pytest.fixture
def unchecked(monkeypatch):
    """Files are given without a run in another process, which another test checks."""
    monkeypatch.setattr(run, "new_process", lambda text, seconds: ("", None))


def fresh_process(tmp_path, text: str) -> subprocess.CompletedProcess:
    (tmp_path / "repro.py").write_text(text)
    return subprocess.run([sys.executable, "repro.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)


def test_the_file_finds_the_same_breaks_in_a_fresh_process(tmp_path, found_in_bart):
    found, repro = found_in_bart
    assert found.numbers()["breaks"] > 0 and repro["differs"] == "" and repro["site_id"] == ""
    done = fresh_process(tmp_path, repro["script"])
    assert done.returncode == 0, done.stderr[-2000:]
    events = ast.literal_eval(done.stdout.removeprefix("as expected: "))
    assert sum(events.values()) == found.numbers()["breaks"]
    imported = {line.split()[1].split(".")[0] for line in repro["script"].splitlines() if line.startswith("import ")}
    assert imported == {"logging", "torch", "transformers"}


def test_the_assertion_fails_for_other_breaks(tmp_path, found_in_bart):
    _, repro = found_in_bart
    wrong = repro["script"].replace("EVENTS = {", "EVENTS = {'elsewhere.py:1': 1, ")
    assert "AssertionError: found {'elsewhere.py:1': 0" in fresh_process(tmp_path, wrong).stderr


def test_the_config_has_only_what_its_class_does_not_set(found_in_bart):
    _, repro = found_in_bart
    text = repro["script"]
    assert "d_model=16" in text and "dropout" not in text and "id2label" not in text


def test_a_file_of_one_site_asserts_the_breaks_of_that_site_and_names_it(bart, found_in_bart, unchecked):
    sites = found_in_bart[0].numbers()["sites"]
    assert len(sites) > 1
    for site in sites:
        _, repro = capture(*bart, site=site["site_id"][:8])
        assert repro["site_id"] == site["site_id"] and site["site_id"] in repro["script"]
        events = next(line for line in repro["script"].splitlines() if line.startswith("EVENTS = "))
        assert events.startswith(f"EVENTS = {{'{site['file']}:{site['line']}': {site['occurrences']}}}")


def test_an_unknown_site_is_refused_with_those_that_there_are(bart, found_in_bart):
    _, repro = capture(*bart, site="0123456789abcdef")
    assert repro["script"] == "" and "no site 0123456789abcdef in this capture, which has " in repro["why_not"]
    assert found_in_bart[0].numbers()["sites"][0]["site_id"] in repro["why_not"]


def test_a_beginning_of_two_sites_is_refused():
    sites = [{"site_id": f"abcdef12{end}", "file": "a/b.py", "line": 3} for end in ("00000000", "11111111")]
    assert options.site_of(sites, "abcdef1200")[0] is sites[0]
    site, why = options.site_of(sites, "abcdef12")
    assert site is None and "2 sites begin with abcdef12" in why and "give more digits" in why
    assert options.site_of([], "abcdef12")[1] == "no site abcdef12: the model has no break"


@pytest.mark.parametrize("repro", [
    [], {"site": 3}, {"site": "abc"}, {"site": "../../etc"}, {"site": "ABCDEF1234"}, {"site": "a" * 65}, {"minimal": 1},
    {"budget_s": 0}, {"budget_s": float("inf")}, {"budget_s": True}, {"budget_s": "1"},
])  # fmt: skip
def test_wrong_options_are_refused_by_name(repro):
    with pytest.raises(Stop, match="repro"):
        modes.mode_of({"mode": "repro", "repro": repro})


def test_a_minimal_file_is_short_and_finds_its_site_in_a_fresh_process(bart):
    _, repro = capture(*bart, minimal=True, budget_s=3600)  # which runs it
    assert repro["minimal"] and repro["differs"] == repro["why_full"] == "" and repro["reduced"]
    text = repro["script"]
    assert text.count("\n") <= script.MOST_LINES and "encoder_layers=1" in text and "attention_mask" not in text


def test_a_module_that_breaks_alone_is_built_without_the_model(tmp_path, unchecked):
    made_of = transformers.BigBirdConfig(hidden_size=16, num_attention_heads=2, num_hidden_layers=2, vocab_size=64,
                                         intermediate_size=32, block_size=2, num_random_blocks=1)  # fmt: skip
    tokens = torch.randint(5, 64, (1, 24))
    found, repro = capture(transformers.BigBirdModel(made_of), {"input_ids": tokens}, minimal=True, budget_s=3600)
    inside = max(found.numbers()["sites"], key=lambda site: site["occurrences"])["module_path"]
    assert f"{inside} alone" in repro["reduced"]
    assert "BigBirdModel" not in repro["script"] and fresh_process(tmp_path, repro["script"]).returncode == 0


def test_without_time_the_file_of_the_whole_capture_is_given(bart, unchecked):
    _, repro = capture(*bart, minimal=True, budget_s=1e-6)
    assert not repro["minimal"] and "could not be reduced" in repro["why_full"] and repro["script"]


def test_a_model_without_breaks_has_a_file_too(tmp_path, unchecked):
    model = transformers.BertModel(transformers.BertConfig(**SMALL))
    found, repro = capture(model, {"input_ids": torch.tensor([[5, 6, 7]])}, minimal=True)
    assert (found.numbers()["breaks"], repro["differs"], repro["minimal"]) == (0, "", False)
    assert repro["why_full"] == "the model has no break"
    assert fresh_process(tmp_path, repro["script"]).returncode == 0


def test_other_models_have_a_reason_instead_of_a_file():
    _, repro = capture(torch.nn.Linear(2, 2), {"input": torch.ones(1, 2)})
    assert repro == {"script": "", "why_not": "Linear is not a model of transformers"}


def test_a_config_of_parts_is_written_with_what_differs_in_each_part():
    made_of = transformers.CLIPConfig(text_config={"hidden_size": 32, "dropout": 0.0}, projection_dim=7)
    tree = config.written(made_of)
    assert tree["projection_dim"] == 7 and tree["text_config"]["hidden_size"] == 32
    assert "vision_config" not in tree and "attention_dropout" not in tree["text_config"]
    assert config.make(transformers.CLIPConfig, tree).to_dict() == made_of.to_dict()


@pytest.mark.parametrize("line", ['"""', "'\\", 'x = """a""" + "\\n"', "\x1b[31m", "é\u202e"])
def test_a_source_line_cannot_end_the_docstring(line):
    site = {"file": "a.py", "line": 1, "function": "f", "site_id": "0" * 16, "reason": "r", "gb_id": "",
            "source_line": line}  # fmt: skip
    tree = ast.parse(f'"""{script._about("Title", [site], "org/name")}"""\nx = 1\n')
    assert len(tree.body) == 2 and isinstance(tree.body[0].value, ast.Constant)


@pytest.mark.parametrize("value", [
    torch.arange(6).reshape(2, 3), torch.ones(2, dtype=torch.bool), torch.tensor([True, False]), torch.zeros(0, 4),
    torch.zeros(0, 4, dtype=torch.int32), torch.tensor(3), torch.full((2, 2), -1.5), torch.tensor([1, 2, 3],
    dtype=torch.int16), [torch.tensor([1, 2]), None], (3,), float("-inf"), {"a": (1.5, "b")}, True, torch.float16,
])  # fmt: skip
def test_values_are_written_as_they_are(value):
    again = eval(values.expression(value), {"torch": torch})
    torch.testing.assert_close(again, value) if isinstance(value, torch.Tensor) else None
    assert repr(again) == repr(value)


def test_floats_are_drawn_again_with_their_shape_and_dtype():
    again = eval(values.expression(torch.randn(2, 3, dtype=torch.float64)), {"torch": torch})
    assert (again.shape, again.dtype) == ((2, 3), torch.float64)


def test_many_integers_are_drawn_again_within_their_bounds():
    again = eval(values.expression(torch.arange(5, 45).reshape(4, 10), values.FEW), {"torch": torch})
    assert again.shape == (4, 10) and again.min() >= 5 and again.max() < 45


def test_what_no_expression_has_is_named():
    with pytest.raises(values.CannotWrite, match="an argument is a object"):
        values.expression({"cache": object()})


def test_a_fork_that_needs_too_much_memory_is_a_failed_attempt():
    assert run.in_fork(60, bytes, 1 << 20) == bytes(1 << 20)
    assert run.in_fork(60, _much_memory) is None


def _much_memory() -> int:
    return torch.empty(run._MORE_BYTES, dtype=torch.int16).numel()
