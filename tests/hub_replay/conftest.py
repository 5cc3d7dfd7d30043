"""A small recording with one repository of every kind."""

import pytest
from replay_support import CONFIG, OLD_SHA, Recording, safetensors


@pytest.fixture
def recording(tmp_path):
    made = Recording(tmp_path / "recording")
    files = {"config.json": CONFIG, "README.md": b"# alpha\n", "sub/notes.txt": b"x"}
    files["model.safetensors"] = safetensors()
    made.add("org/alpha", files, safetensors={"parameters": {"F32": 6}, "total": 6})
    made.file("org/alpha", OLD_SHA, "config.json", CONFIG)
    large = {"parameters": {}, "total": 7 * 10**9}
    made.add("org/beta", gated="auto", tags=["transformers", "gpt2"], safetensors=large)
    made.add("org/with--dashes", pipeline_tag=None)
    made.add("google-t5/t5-small", tags=["t5"])
    made.add("org/broken", disabled=True)
    made.add("org/gone")
    made.add("org/secret")
    del made.models[2]["pipeline_tag"]
    made.write("redirects.json", {"t5-small": "google-t5/t5-small"})
    made.write("faults.json", {"models": {"org/gone": "missing", "org/secret": "private"}})
    return made
