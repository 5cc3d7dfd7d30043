"""Real config.json files, swept as a directory by the real worker: each ends with the correct status."""

import importlib.util
import json

import pytest
from e2e_support import ROOT, Program

CONFIGS = ROOT.parent / "shared/hub/configs"


def rightful(config, known_types, known_classes):
    """The statuses that are correct for a config, according to its fields and to transformers."""
    if "_class_name" in config:  # a component of a diffusers pipeline
        if importlib.util.find_spec("diffusers") is None:
            return {"skipped_missing_dependency"}
        return {"full_graph", "graph_breaks"}
    # As AutoConfig reads it: the model type decides, or the class if a file names no type.
    if "model_type" in config:
        native = config["model_type"] in known_types
    else:
        native = bool(set(config.get("architectures") or []) & known_classes)
    if native:
        return {"full_graph", "graph_breaks"}
    return {"skipped_custom_code"} if "auto_map" in config or config.get("model_type") else {"skipped_no_config"}


@pytest.mark.skipif(not CONFIGS.is_dir(), reason=f"no real configs at {CONFIGS}")
def test_each_real_config_ends_with_the_correct_status(program, tmp_path):
    mapping = pytest.importorskip("transformers.models.auto.configuration_auto")
    import transformers

    breakwatch = Program(program, tmp_path, "--hub.source", "directory", "--hub.path", str(CONFIGS), cwd=ROOT,
                         timeout_s=1200)  # fmt: skip
    breakwatch.run("sweep", "--json")
    results = breakwatch.results()
    configs = {file.stem: json.loads(file.read_text()) for file in CONFIGS.glob("*.json")}
    assert results.keys() == configs.keys()
    wrong = {}
    for name, config in configs.items():
        result = results[name]
        assert result["status_detail"]
        assert not result["unexplained_events"], name
        right = rightful(config, set(mapping.CONFIG_MAPPING_NAMES), set(dir(transformers)))
        if result["status"] not in right:
            wrong[name] = (result["status"], result["status_detail"])
    assert wrong == {}
