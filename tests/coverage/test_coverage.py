"""The coverage of a fixed sample, and how its figures are computed."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import cover  # noqa: E402
import every_torch  # noqa: E402
import shrink_proof  # noqa: E402
import tables  # noqa: E402
import workers  # noqa: E402


def row(**fields) -> dict:
    return {"model_type": "a", "class": "A", "kind": "base", "verdict": "full_graph", "cpu_s": "1.0", "peak_mb": 700,
            "unexplained": 0, **fields}


def test_the_last_line_is_the_share_of_all_cases():
    lines, share = cover.summary_of([row(), row(verdict="graph_breaks"), row(verdict="timeout"), row(cpu_s="3.0")])
    assert share == 0.75
    assert lines[-1] == "coverage: 3 of 4 = 75.0 % end in full_graph or graph_breaks"
    assert "base classes within 2 s: 2 of 3 = 66.7 %" in lines


def test_a_file_whose_model_is_not_the_librarys_does_not_count():
    assert cover.summary_of([row(), row(kind="file", verdict="skipped_custom_code")])[1] == 1.0
    assert cover.summary_of([row(), row(verdict="skipped_custom_code")])[1] == 0.5


def test_only_results_of_the_same_worker_are_used_and_an_incomplete_line_is_ignored(tmp_path):
    here = {"torch": "1", "transformers": "2", "python": "3", "worker": "w"}
    results = [{"case": name, "result": {"status": "full_graph", "toolchain": {**here, "worker": worker}}}
               for name, worker in (("same", "w"), ("other", "v"))]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(map(json.dumps, results)) + '\n{"case": "torn')
    assert set(cover.known_results(path, here, kept=False)) == {"same"}
    assert set(cover.known_results(path, here, kept=True)) == {"same", "other"}


def test_a_table_keeps_the_rows_of_cases_that_were_not_captured_again(tmp_path):
    rows = [{**dict.fromkeys(cover.COLUMNS, ""), "model_type": name, "class": name, "breaks": "1"} for name in "ba"]
    table = tmp_path / "table.csv"
    cover.write_table(table, rows, keep_others=False)
    cover.write_table(table, [{**rows[0], "breaks": "2", "date": "2026-11-22"}], keep_others=True)
    assert [(line["class"], line["breaks"], line["date"]) for line in tables.read_rows(table)] == [
        ("a", "1", ""), ("b", "2", "2026-11-22")]


def test_each_toolchain_has_a_table_of_its_own():
    assert cover.table_of("") == cover.TABLE and cover.table_of("old").name == "table-old.csv"
    for table in cover.TABLE.parent.glob("table-*.csv"):
        rows = tables.read_rows(table)
        releases = {"torch{}-transformers{}".format(*line["toolchain"].split()) for line in rows if line["toolchain"]}
        assert releases == {table.stem.removeprefix("table-")} and all(line["date"] for line in rows)


def test_parts_are_exported_classes_that_no_table_names():
    pytest.importorskip("transformers")
    parts = cover.unmapped_classes()
    assert ("bark", "BarkFineModel") in parts and ("bert", "BertModel") not in parts
    assert not [name for _, name in parts if "PreTrained" in name]


def test_cases_are_the_librarys_own_tables():
    pytest.importorskip("transformers")
    cases = cover.mapped_classes()
    assert len({model_type for model_type, _, _ in cases}) > 500
    assert ("bert", "BertModel", "base") in cases and ("bert", "BertForMaskedLM", "head") in cases
    assert not [cls for _, cls, _ in cases if cls.endswith(("Config", "Processor"))]


def test_models_with_images_were_called_with_images():
    """A model of text and pictures that is called with text alone has no breaks where it may have dozens."""
    of = {entry["name"]: entry["config"] for entry in tables.read_lines(cover.SIZED)}
    rows = [row for row in tables.read_rows(cover.TABLE) if row["kind"] == "sized" and row["verdict"] in cover.GOOD]
    seeing = [row for row in rows if "vision_config" in of[row["model_type"]]]
    assert len(seeing) > 20
    assert not [row["model_type"] for row in seeing if not re.search("pixel_values|flattened_patches", row["inputs"])]


def test_the_fixed_sample_is_covered(tmp_path):
    """A small sample does not determine the share. But captures of the table must succeed, and the others must have a
    reason."""
    results = tmp_path / "results.jsonl"
    run = subprocess.run([sys.executable, str(HERE / "cover.py"), "--sample", "--every", "48", "--results",
                          str(results), "--nice", "0"], capture_output=True, text=True, timeout=900)
    assert run.returncode in (0, 1), run.stdout[-3000:] + run.stderr[-2000:]
    assert run.stdout.splitlines()[-1].startswith("coverage: ")
    captured = {line["class"] for line in tables.read_rows(cover.TABLE) if line["verdict"] in cover.GOOD}
    found = [entry["result"] for entry in tables.read_lines(results)]
    assert len(found) >= 12
    for result in found:
        assert result.get("unexplained_events") in (0, None), result
        if result["status"] not in cover.GOOD:
            assert result.get("architecture") not in captured, result
            assert result["detail"] and result["suggestion"]
    assert sum(result["status"] in cover.GOOD for result in found) >= 0.9 * len(found), run.stdout[-3000:]


SHALLOW = {"num_hidden_layers": 4, "vocab_size": 5000}


@pytest.mark.parametrize("config", [
    {"model_type": "bert", "hidden_size": 2048, "intermediate_size": 4096, "num_attention_heads": 32, **SHALLOW},
    {"model_type": "llama", "hidden_size": 2048, "intermediate_size": 2752, "num_attention_heads": 16, **SHALLOW},
    {"model_type": "qwen3_5_vision", "depth": 4},
], ids=lambda config: config["model_type"])
def test_a_reduced_model_has_the_sites_and_events_of_the_original(config):
    cls = next(cls for name, cls, kind in cover.mapped_classes() if (name, kind) == (config["model_type"], "base"))
    zygote = cover.Zygote(0)
    case = {"model_type": config["model_type"], "class": cls, "kind": "base", "config": config}
    try:
        smaller = shrink_proof.captured(zygote, case, ("auto",))
        whole = shrink_proof.captured(zygote, case, ("original",))
    finally:
        zygote.close()
    assert "widths" in smaller["detail"] and "widths" not in whole["detail"]
    assert shrink_proof.proof_of(smaller, whole) == "same"


@pytest.mark.parametrize("theirs, said", [
    ({"sites": [{"site_id": "a"}], "breaks": 2}, "same"),
    ({"sites": [{"site_id": "a"}], "breaks": 3}, "events differ"),
    ({"sites": [], "breaks": 0}, "sites differ: 1 only when smaller, 0 only at full size"),
    ({"sites": [{"site_id": "a"}], "breaks": 2, "status": "timeout"}, "no answer"),
])
def test_the_verdict_of_a_proof(theirs, said):
    ours = {"status": "graph_breaks", "sites": [{"site_id": "a"}], "breaks": 2, "depth": "full", "detail": "widths /2"}
    assert shrink_proof.proof_of(ours, {"status": "graph_breaks", "asked": "original", **theirs}) == said


def minor_of(release: str) -> int:
    return int(release.split(".")[1])


def test_one_release_of_each_minor_version_of_torch_is_tested():
    oldest = re.search(r"^OLDEST_TOOLCHAIN := TORCH=(\S+)", (cover.ROOT / "Makefile").read_text(), re.M).group(1)
    default = re.search(r"^torch==(\S+)", (workers.WORKER / "requirements.lock").read_text(), re.M).group(1)
    assert list(map(minor_of, every_torch.RELEASES)) == list(range(minor_of(oldest), minor_of(default)))
    assert set(every_torch.kept_rows()) <= set(every_torch.RELEASES)
