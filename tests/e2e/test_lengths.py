"""A sweep of a model that splits its text into chunks counts what torch alone counts for a text of a real length."""

import json
import os
import subprocess
import sys

import pytest
from e2e_support import ROOT

PLAIN = ROOT / "tests/worker/plain_lengths.py"
CONFIG = {
    "model_type": "reformer", "architectures": ["ReformerModel"], "hidden_size": 32, "num_attention_heads": 2,
    "attention_head_size": 16, "feed_forward_size": 32, "vocab_size": 128, "attn_layers": ["local", "lsh"],
    "axial_pos_embds_dim": [16, 16],
}  # fmt: skip


def test_a_sweep_counts_breaks_of_texts_longer_than_a_chunk(program, tmp_path):
    pytest.importorskip("transformers")
    (tmp_path / "hub").mkdir()
    (tmp_path / "hub/reformer.json").write_text(json.dumps(CONFIG))
    state = tmp_path / "state"
    done = subprocess.run(
        [program, "sweep", "--json", "--state-dir", str(state), "--hub.source", "directory", "--hub.path",
         str(tmp_path / "hub")],
        cwd=ROOT, capture_output=True, text=True, timeout=600, env=os.environ | {"HF_HOME": str(tmp_path / "hf")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    case = {"class": "ReformerModel", "config": CONFIG, "tokens": {"input_ids": 256}}
    plain = json.loads(subprocess.run([sys.executable, str(PLAIN)], input=json.dumps([case]), capture_output=True,
                                      text=True, timeout=600, check=True).stdout)
    result = json.loads((state / "latest/results.jsonl").read_text())
    assert {name: result[name] for name in plain} == plain, result
    assert "local_attn_chunk_length 64->16" in result["status_detail"]
