"""Differences between modes and calls: they are shown, and results are never mixed."""

import csv
import io
import json
import re

import pytest
from e2e_support import ROOT, Program, get

BREAK = ["branching", "GB0170", 3]
IDS = {"input_ids": {"shape": [2, 16], "dtype": "int64"}}
MASK = {"attention_mask": {"shape": [2, 16], "dtype": "int64"}}


def rows(text):
    return {(row["model"], row["mode"]): row for row in csv.DictReader(io.StringIO(text))}


def test_the_first_call_is_shown_beside_the_steady_state_if_they_differ(breakwatch, hub):
    sha = hub.model("org/warms", 300, **{"in": {"cold": {"sites": [BREAK]}}})
    hub.model("org/same", 200)
    breakwatch.run("sweep", "--modes", "eval,cold")

    shown = breakwatch.run("show", "org/warms").stdout
    assert "mode          eval, the steady state after a first call\n" in shown
    differs = "cold, the first call: 3 breaks at 1 site; eval, the steady state after a first call: no breaks"
    assert f"differs       {differs}\n" in shown
    assert differs in breakwatch.run("show", "org/warms", "--mode", "cold").stdout
    assert "differs" not in breakwatch.run("show", "org/same").stdout
    assert json.loads(breakwatch.run("show", "org/warms", "--json").stdout)["differences"] == [
        {"mode": "eval", "other_mode": "cold", "text": differs}]

    for file_format in ("text", "md"):
        assert differs in breakwatch.run("report", "--format", file_format).stdout
    document = json.loads(breakwatch.run("report", "--json").stdout)
    assert [(row["model"], row["breaks"], row["other_breaks"]) for row in document["differences"]] == [
        ("org/warms", 0, 3)]
    table = rows(breakwatch.run("report", "--format", "csv").stdout)
    assert (table["org/warms", "eval"]["status"], table["org/warms", "cold"]["status"]) == (
        "full_graph", "graph_breaks")
    assert table["org/warms", "eval"]["differs"] == differs and table["org/same", "cold"]["differs"] == ""

    child, address = breakwatch.serve("--metrics.extra", "default/cold")
    metrics = get(address + "/metrics/models")[1]
    child.terminate()
    child.wait(timeout=15)
    labels = f'family="nlp",model="org/warms",commit="{sha}",toolchain="default",mode='
    assert f'breakwatch_breaks{{{labels}"cold",reason="branching",gb_id="GB0170"}} 3' in metrics
    assert f'breakwatch_breaks{{{labels}"eval",reason="none",gb_id=""}} 0' in metrics
    assert f'breakwatch_mode_status{{{labels}"eval",status="full_graph"}} 1' in metrics
    assert 'compile_breaks_total{family="nlp",model="org/warms"' in metrics


def test_a_report_of_one_mode_names_what_another_sweep_found_of_the_first_call(breakwatch, hub):
    hub.model("org/warms", 300, **{"in": {"cold": {"sites": [BREAK]}}})
    breakwatch.run("sweep", "--modes", "cold")
    breakwatch.run("sweep")
    document = json.loads(breakwatch.run("report", "--json").stdout)
    assert [result["mode"] for result in document["results"]] == ["eval"]
    assert [row["other_breaks"] for row in document["differences"]] == [3]


def test_call_variants_have_separate_results(breakwatch, hub):
    hub.model("org/masked", 300, result={"inputs": IDS | MASK, "optional_passed": ["attention_mask"],
                                         "optional_left_out": ["position_ids"]},
              **{"in": {"eval+minimal": {"sites": [BREAK], "result": {"inputs": IDS, "optional_passed": [],
                                                                      "optional_left_out": ["attention_mask"]}}}})
    breakwatch.run("sweep")
    assert len(breakwatch.captures()) == 1 and "differs" not in breakwatch.run("show", "masked").stdout

    breakwatch.run("sweep", "--capture.calls", "all")
    assert len(breakwatch.captures()) == 3  # the default call is known
    shown = breakwatch.run("show", "masked").stdout
    assert "status        full_graph\n" in shown
    assert "optional      passed: attention_mask; not passed: position_ids\n" in shown
    assert "differs       no breaks with attention_mask, 3 breaks at 1 site without (eval+minimal)\n" in shown
    variant = json.loads(breakwatch.run("show", "masked", "--mode", "eval+minimal", "--json").stdout)
    assert (variant["mode"], variant["status"], variant["breaks"]) == ("eval+minimal", "graph_breaks", 3)
    default = json.loads(breakwatch.run("show", "masked", "--json").stdout)
    assert variant["structure"] != default["structure"] and default["status"] == "full_graph"
    table = rows(breakwatch.run("report", "--format", "csv").stdout)
    assert {key[1]: row["status"] for key, row in table.items()} == {
        "eval": "full_graph", "eval+minimal": "graph_breaks", "eval+all": "full_graph"}

    child, address = breakwatch.serve("--metrics.extra", "default/eval+minimal")
    metrics = get(address + "/metrics/models")[1]
    child.terminate()
    child.wait(timeout=15)
    published = [line for line in metrics.splitlines() if line.startswith("compile_breaks_total{")]
    assert len(published) == 1 and published[0].endswith(" 0")
    assert 'mode="eval+minimal",reason="branching",gb_id="GB0170"} 3' in metrics


def test_an_invalid_value_leads_to_the_list_of_values(breakwatch, hub):
    hub.model("org/net", 300)
    assert "default, minimal or all" in breakwatch.run("sweep", "--capture.calls", "some", code=78).stderr
    assert "cold" in breakwatch.run("sweep", "--modes", "warm", code=78).stderr


def test_ops_of_another_run_are_marked_and_long_explanations_are_wrapped(breakwatch, hub):
    home = str(breakwatch.tmp_path)
    why = ("Met in File \"/opt/env/lib/python3.11/site-packages/transformers/models/net.py\", line 7, "
           + "while tracing " * 20 + f"and {home}/nets/mine.py:3")
    site = {"site_id": "s", "reason": "branching", "gb_id": "GB0170", "fixability": "supportable", "explanation": why,
            "context": "", "hints": [], "file": "transformers/models/net.py", "line": 7, "function": "forward",
            "source_line": "x", "frame": "library", "wrapped_in": "", "compile_id": "0/0", "occurrences": 3}
    place = {"file": "transformers/models/net_of_a_long_name/modeling_net_of_a_long_name_with_more.py", "line": 1234}
    hub.model("org/deep", 300, sites=[BREAK], result={
        "depth": "full", "ops_depth": "reduced", "sites": [site],
        "segments": [{"index": 0, "compile_id": "0/0", **place, "function": "forward", "ops": {}, "ops_total": 99}]})
    breakwatch.run("sweep")
    shown = breakwatch.run("show", "deep", HOME=home).stdout
    assert "ops           7 in the reduced run; all other numbers" in shown and ", ops 7" not in shown
    assert "_with_more.py:1234  forward" in shown
    assert '"transformers/models/net.py",' in shown and "/opt/env" not in shown
    assert " nets/mine.py:3\n" in shown  # the tests' working directory is that folder
    assert max(len(line) for line in shown.splitlines() if "tracing" in line) <= 100


LONGT5 = {"model_type": "longt5", "architectures": ["LongT5Model"], "d_model": 32, "d_kv": 16, "d_ff": 32,
          "num_layers": 1, "num_decoder_layers": 1, "num_heads": 2, "vocab_size": 120,
          "encoder_attention_type": "local", "decoder_start_token_id": 0}  # fmt: skip


def test_a_model_without_breaks_only_with_its_mask_is_reported(program, tmp_path):
    if not (ROOT / ".venv/bin/python").exists():
        pytest.skip("the toolchain .venv is not installed: make build")
    configs = tmp_path / "configs"
    (configs / "longt5").mkdir(parents=True)
    (configs / "longt5/config.json").write_text(json.dumps(LONGT5))
    breakwatch = Program(program, tmp_path, "--hub.source", "directory", "--hub.path", str(configs), cwd=ROOT,
                         timeout_s=300)  # fmt: skip
    breakwatch.run("sweep", "--capture.calls", "minimal", "--capture.zygotes", "1")
    shown = breakwatch.run("show", "longt5").stdout
    assert "status        full_graph\n" in shown
    assert "passed: input_ids, attention_mask, decoder_input_ids; not passed: " in shown
    assert re.search(r"differs +no breaks with attention_mask, \d breaks? at 1 site without \(eval\+minimal\)\n", shown)
