"""The printed Python of real models, applied in a fresh process without breakwatch: plain torch._dynamo.explain agrees
with every claim of `whole`."""

import json
import pathlib
import subprocess
import sys

import pytest
from worker_support import ROOT, Zygote, environment

HERE = pathlib.Path(__file__).parent
SNAPSHOT = ROOT / "collectors/hub/snapshot/files"
# Broken models of the bundled snapshot that take a few seconds.
MODELS = ("facebook/bart-large-mnli", *(f"sample/{name}" for name in (
    "AriaForConditionalGeneration", "ColPaliForRetrieval", "DeepseekVLForConditionalGeneration",
    "GlmAsrForConditionalGeneration", "Idefics3ForConditionalGeneration", "JevForDecision", "Siglip2Model",
    "VoxtralForConditionalGeneration", "GraniteSpeechForConditionalGeneration")))
NAMES = ["capture_scalars_and_dynamic_shapes", "no_torch_checks"]
FURTHER = {"facebook/bart-large-mnli": ["capture_dynamic_output_shape_ops", "fullgraph"]}


@pytest.fixture(scope="module")
def claims(tmp_path_factory) -> list:
    """Every claim that a fix makes a model whole: its model, the file of its call, its names and its lines."""
    folder = tmp_path_factory.mktemp("calls")
    zygote = Zygote(sys.executable, str(HERE / "keeping.py"))
    found = []
    try:
        zygote.receive("hello", 600)
        for name in MODELS:
            (path,) = (SNAPSHOT / name.replace("/", "--")).glob("*/config.json")
            kept = str(folder / name.replace("/", "--"))
            zygote.start(json.loads(path.read_text()), model=name, mode="fix", keep=kept,
                         fix={"names": NAMES + FURTHER.get(name, []), "combine": False})
            result = zygote.receive("result", 600)
            assert result["status"] == "graph_breaks", (name, result["detail"])
            found += [{"model": name, "call": kept, "names": each["names"], "python": each["python"]}
                      for each in result["mode_detail"]["attempts"] if each["outcome"] == "whole"]
    finally:
        zygote.close()
    return found


def test_explain_agrees_with_every_claim_of_whole(claims, tmp_path):
    assert {claim["model"] for claim in claims} == set(MODELS) and len(MODELS) >= 10
    asked = tmp_path / "claims.jsonl"
    unchanged = {"call": claims[0]["call"], "python": ["compiled = torch.compile(model)"]}
    asked.write_text("".join(json.dumps(claim) + "\n" for claim in [unchanged, *claims]))
    plain = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    done = subprocess.run([sys.executable, str(HERE / "plain_fixes.py"), str(asked)], capture_output=True, text=True,
                          timeout=1200, env=plain)
    assert done.returncode == 0, done.stderr[-2000:]
    without, *answers = map(json.loads, done.stdout.splitlines())
    assert without["breaks"] > 0, without  # the model is broken there too
    wrong = [(claim["model"], claim["names"], answer) for claim, answer in zip(claims, answers, strict=True)
             if answer != {"graphs": 1, "breaks": 0}]
    assert not wrong
