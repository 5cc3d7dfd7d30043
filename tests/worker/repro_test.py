"""Mode `repro`: the file that it writes finds the same breaks in a fresh process, with torch and transformers alone."""

import json
import subprocess
import sys

import pytest
import torch
from breakwatch_worker import modes
from breakwatch_worker.repro import values

transformers = pytest.importorskip("transformers")

SMALL = {"d_model": 16, "hidden_size": 16, "vocab_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 32}  # fmt: skip
BART = SMALL | {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
                "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 32}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """As in a capture, which forks."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def capture(model, arguments: dict) -> tuple:
    """(what was found, the part of mode_detail)."""
    mode = modes.mode_of({"mode": "repro"})
    call = modes.Call(model.eval(), arguments)
    mode.ready(call)
    mode.eager(call)
    found = mode.capture(call)
    return found, json.loads(json.dumps(found.mode_detail))["repro"]


def bart() -> tuple:
    config = transformers.BartConfig(**BART, eos_token_id=2, pad_token_id=1, num_labels=3)
    tokens = torch.tensor([[5, 6, 7, 2], [8, 9, 4, 2]])
    return transformers.BartForSequenceClassification(config), {"input_ids": tokens}


def fresh_process(tmp_path, text: str) -> subprocess.CompletedProcess:
    (tmp_path / "repro.py").write_text(text)
    return subprocess.run([sys.executable, "repro.py"], cwd=tmp_path, capture_output=True, text=True, timeout=300)


def test_the_file_finds_the_same_breaks_in_a_fresh_process(tmp_path):
    found, repro = capture(*bart())
    assert found.numbers()["breaks"] > 0 and repro["differs"] == ""
    done = fresh_process(tmp_path, repro["script"])
    assert done.returncode == 0, done.stderr[-2000:]
    assert f"{found.numbers()['dynamo_counter_breaks']} graph breaks at" in done.stdout
    imported = {line.split()[1].split(".")[0] for line in repro["script"].splitlines() if line.startswith("import ")}
    assert imported == {"logging", "os", "re", "torch", "transformers"}


def test_the_assertion_fails_for_other_breaks(tmp_path):
    _, repro = capture(*bart())
    wrong = repro["script"].replace("SITES = {", "SITES = {('elsewhere.py', 1), ")
    assert "AssertionError" in fresh_process(tmp_path, wrong).stderr


def test_a_model_without_breaks_has_a_file_too(tmp_path):
    config = transformers.BertConfig(**SMALL)
    found, repro = capture(transformers.BertModel(config), {"input_ids": torch.tensor([[5, 6, 7]])})
    assert (found.numbers()["breaks"], repro["differs"]) == (0, "")
    assert fresh_process(tmp_path, repro["script"]).returncode == 0


def test_other_models_have_a_reason_instead_of_a_file():
    _, repro = capture(torch.nn.Linear(2, 2), {"input": torch.ones(1, 2)})
    assert repro == {"script": "", "why_not": "Linear is not a model of transformers"}


@pytest.mark.parametrize("value", [
    torch.arange(6).reshape(2, 3), torch.ones(2, dtype=torch.bool), torch.tensor([True, False]), torch.zeros(0, 4),
    torch.tensor(3), torch.full((2, 2), -1.5), [torch.tensor([1, 2]), None], (3,), float("-inf"), {"a": (1.5, "b")},
    True, torch.float16,
])  # fmt: skip
def test_values_are_written_as_they_are(value):
    again = eval(values.expression(value), {"torch": torch})
    torch.testing.assert_close(again, value) if isinstance(value, torch.Tensor) else None
    assert repr(again) == repr(value)


def test_floats_are_drawn_again_with_their_shape_and_dtype():
    again = eval(values.expression(torch.randn(2, 3, dtype=torch.float64)), {"torch": torch})
    assert (again.shape, again.dtype) == ((2, 3), torch.float64)


def test_what_no_expression_has_is_named():
    with pytest.raises(values.CannotWrite, match="an argument is a object"):
        values.expression({"cache": object()})
