"""Properties of the bundled snapshot."""

import hashlib
import json
import sys
from collections import Counter

import pytest
from replay_support import ROOT, SNAPSHOT

sys.path.insert(0, str(SNAPSHOT))
import make_snapshot  # noqa: E402

FACTS = ROOT.parent / "shared/hub/api"


@pytest.fixture(scope="module")
def models():
    return [json.loads(line) for line in (SNAPSHOT / "models.jsonl").read_text().splitlines()]


def config_of(model):
    return SNAPSHOT / "files" / model["id"].replace("/", "--") / model["sha"] / "config.json"


def is_sample(model):
    return model["id"].startswith("sample/")


def test_it_is_small():
    files = [path for path in SNAPSHOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(path.stat().st_size for path in files) < 2_000_000


def test_it_is_broad(models):
    architectures = {architecture for model in models for architecture in model["config"]["architectures"]}
    families = Counter(make_snapshot.TASK_FAMILY.get(model.get("pipeline_tag")) for model in models)
    assert len(models) >= 120
    assert len(architectures) >= 100
    assert {"nlp", "vision", "audio", "multimodal", "tabular", "reinforcement_learning", "other"} <= set(families)


def test_every_model_has_exactly_its_config_and_its_source(models):
    on_disk = {path for path in (SNAPSHOT / "files").rglob("*") if path.is_file()}
    assert on_disk == {config_of(model) for model in models}
    for model in models:
        config = json.loads(config_of(model).read_text())
        assert model["config_source"] == "class_default"
        assert config["model_type"] == model["config"]["model_type"]
        assert config["architectures"] == model["config"]["architectures"]


def test_samples_have_no_fields_of_the_hub(models):
    for model in filter(is_sample, models):
        assert model["id"] == f"sample/{model['config']['architectures'][0]}"
        assert model["downloads"] is None
        assert model["sha"] == hashlib.sha256(config_of(model).read_bytes()).hexdigest()[:40]


def test_real_ids_state_when_their_figures_were_recorded(models):
    for model in models:
        if not is_sample(model):
            assert "2022-02-21" <= model["recorded_at"] <= "2025-03-21"
            assert isinstance(model["downloads"], int)


def test_real_ids_carry_a_recorded_sha_and_recorded_figures(models):
    if not FACTS.exists():
        pytest.skip("the recorded answers are not here")
    recorded = {}
    for date, body in make_snapshot.recorded_bodies(FACTS):
        figures = (body.get("sha"), body.get("downloads"), body.get("likes"))
        recorded.setdefault((body.get("id") or body["modelId"], date), set()).add(figures)
    for model in models:
        if not is_sample(model):
            figures = (model["sha"], model["downloads"], model["likes"])
            assert figures in recorded[model["id"], model["recorded_at"]], model["id"]


def test_models_are_in_the_order_of_the_listing(models):
    keys = [(model["downloads"] is None, -(model["downloads"] or 0), model["_id"]) for model in models]
    assert keys == sorted(keys)
    assert len({model["_id"] for model in models}) == len(models)


def test_every_class_is_one_of_transformers(models):
    transformers = pytest.importorskip("transformers")
    known = set(dir(transformers))
    assert [model["id"] for model in models if model["config"]["architectures"][0] not in known] == []


def test_the_script_makes_it_again_byte_for_byte(tmp_path):
    transformers = pytest.importorskip("transformers")
    if not FACTS.exists():
        pytest.skip("the recorded answers are not here")
    if f"transformers {transformers.__version__}," not in (SNAPSHOT / "recording.json").read_text():
        pytest.skip("made with another version of transformers")
    make_snapshot.write_snapshot(make_snapshot.Library(), FACTS, tmp_path)
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    kept = {path: (SNAPSHOT / path).read_bytes() for path in made}
    assert made == kept
