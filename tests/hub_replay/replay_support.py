"""The replayed Hub as a process, and a small recording with one repository of every kind."""

import contextlib
import json
import os
import struct
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "collectors/hub/snapshot"
SHA, OLD_SHA = "1" * 40, "2" * 40
CONFIG = {"architectures": ["BertForMaskedLM"], "hidden_size": 8, "model_type": "bert", "num_attention_heads": 2}


def program():
    named = os.environ.get("BREAKWATCH_HUB_REPLAY_SERVER")
    built = ROOT.glob("build/*/tests/hub_replay/hub_replay_server")
    candidates = [Path(named)] if named else sorted(built, key=lambda path: path.stat().st_mtime, reverse=True)
    if not candidates:
        pytest.skip("hub_replay_server is not built")
    return candidates[0]


@contextlib.contextmanager
def serving(recording, link_endpoint="https://huggingface.co"):
    """The address of a server with the responses of `recording`."""
    command = [program(), recording, link_endpoint]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        line = server.stdout.readline()
        assert " on http://" in line, line + server.stderr.read()
        yield line.split(" on ")[1].split()[0]
    finally:
        server.terminate()
        server.communicate(timeout=10)
    assert server.returncode == 0


def body(name, place, **more):
    return {
        "_id": f"{place:024x}",
        "id": name,
        "sha": SHA,
        "createdAt": f"2024-01-{place:02}T00:00:00.000Z",
        "lastModified": f"2025-01-{place:02}T00:00:00.000Z",
        "private": False,
        "gated": False,
        "disabled": False,
        "downloads": 10 * place,
        "likes": 100 - place,
        "trendingScore": 0.7000000000000001 * place,
        "tags": ["transformers", "bert"],
        "pipeline_tag": "fill-mask",
        "library_name": "transformers",
        "model-index": None,
    } | more


def safetensors():
    header = json.dumps({"weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(24)


class Recording:
    def __init__(self, folder):
        self.folder = folder
        self.models = []
        self.write("recording.json", {"format": 1, "recorded_at": "2026-01-01T00:00:00Z", "endpoint": "", "note": ""})

    def write(self, path, content):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())

    def add(self, name, files=None, sha=SHA, **more):
        self.models.append(body(name, len(self.models) + 1, **more))
        for path, content in ({"config.json": CONFIG} if files is None else files).items():
            self.file(name, sha, path, content)

    def file(self, name, sha, path, content):
        self.write(f"files/{name.replace('/', '--')}/{sha}/{path}", content)

    def done(self):
        self.write("models.jsonl", "".join(json.dumps(model) + "\n" for model in self.models).encode())
        return self.folder
