"""A folder in which the examples of the help and the documents can be run: models, results, files that they name."""

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

from artifact_support import RUNNER
from e2e_support import ROOT, Hub, Process, free_port
from store_support import SITE

MODELS = (
    "org/name", "other/name", "facebook/bart-large-mnli", "google-bert/bert-base-uncased",
    "facebook/detr-resnet-50", "sample/OlmoeForCausalLM",
)  # fmt: skip
TASKS = {"other/name": "automatic-speech-recognition", "facebook/bart-large-mnli": "text-generation"}
FAKES = {
    "org/name": {"sites": [SITE]},
    "facebook/bart-large-mnli": {"sites": [SITE]},
    "facebook/detr-resnet-50": {"status": "timeout"},
    "sample/OlmoeForCausalLM": {"status": "failed_capture"},
}
TOOLCHAINS = ("old", "older", "torch2.13.0-transformers5.8.0")
LETTERS = (4711, 4712)

# Files that examples name.
FILES = {
    "models.txt": "org/name\nother/name\n",
    "models.yaml": "owners: {speech: {models: org/*}}\n",
    "wrong.yaml": "owners: {speech: {modles: org/*}}\n",
    "train.py": "Net 6f0c1d2e3a4b\n",  # what the stand-in reads instead of running it
    "token": "secret\n",
    "repro.py": "print('breaks')\n",
    "weights/model.safetensors": "",
    "ci/README": "",
    "config/prices.example.yaml": (ROOT / "config/prices.example.yaml").read_text(),
}


class World:
    """Made once; each example runs in a copy."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.template = folder / "template"
        self.template.mkdir()
        (folder / "hub").mkdir()
        self.hub = Hub(folder / "hub")
        for number, model in enumerate(MODELS):
            fake = {"fixes": {"no_cache": 0}, "times": {"eager": 0.004}} | FAKES.get(model, {})
            sha = self.hub.model(model, 1000 - number, **fake)
            if model.startswith("sample/"):  # named like its class
                config = self.hub.folder / "files" / model.replace("/", "--") / sha / "config.json"
                config.write_text(config.read_text().replace("BertModel", model.removeprefix("sample/")))
            self.hub.models[model]["pipeline_tag"] = TASKS.get(model, "fill-mask")
        self.hub.model("org/late", 1)  # writes the listing with the tasks
        self._write_files()
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.replay = Process([program, "hub", "serve", str(folder / "hub"), "--port", str(port)],
                              f"http://{self.address}/api/models?limit=1", folder / "replay.log")  # fmt: skip
        self.replay.start()
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("BREAKWATCH_", "HF_", "PYTHON"))}
        self.environment = kept | {
            "PATH": f"{folder}/bin:{kept['PATH']}", "HF_ENDPOINT": f"http://{self.address}", "HF_HOME": f"{folder}/hf",
            "BREAKWATCH_CONFIG_FILE": "site.yaml", "XDG_DATA_HOME": str(folder / "data"),
        }  # fmt: skip
        self._fill()

    def _write_files(self):
        for name, text in FILES.items():
            (self.template / name).parent.mkdir(parents=True, exist_ok=True)
            (self.template / name).write_text(text)
        private = self.template / "configs/net/config.json"
        private.parent.mkdir(parents=True)
        private.write_text(json.dumps({"model_type": "bert", "architectures": ["BertModel"], "fake": {}}))
        programs = self.folder / "bin"
        programs.mkdir()
        (programs / "breakwatch").symlink_to(self.program)
        worker, runner = self.folder / "worker", programs / "breakwatch-runner-stand-in"
        worker.mkdir()
        runner.write_text(RUNNER)
        runner.chmod(0o755)
        (programs / "answer.json").write_text(json.dumps({"status": "ok", "detail": "", "cases": []}))
        settings = {
            "capture": {
                "worker": [sys.executable, str(ROOT / "tests/e2e/fake_worker.py"), str(worker)], "launcher": [],
                "sandbox": "off", "zygotes": 1, "toolchains": [f"{name}={sys.executable}" for name in TOOLCHAINS],
            },
            "artifact": {"runner": str(runner)}, "models": {"file": "models.yaml"},
            "measure": {"lock_file": str(self.folder / "lock")},
        }  # fmt: skip
        (self.template / "site.yaml").write_text(json.dumps(settings))

    def _fill(self):
        """Two sweeps, measurements, an old toolchain's results, a package, refused events."""
        for line in ("sweep --quiet", "sweep --quiet --rebuild always", "sweep --quiet --toolchain old",
                     "sweep --quiet --toolchain torch2.13.0-transformers5.8.0",
                     "sweep --quiet --model org/name --modes eval,train --capture.calls all", "bench org/name --quiet",
                     "artifact build org/name", "sweep --quiet --rebuild always", "baseline update",
                     "baseline update ci/models.tsv"):  # fmt: skip
            done = self.run_in(self.template, "breakwatch " + line)
            assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        # Closed here: later, its files would vanish while a test copies them.
        with contextlib.closing(sqlite3.connect(self.template / "var/breakwatch.db")) as sql:
            for number in LETTERS:
                sql.execute("INSERT INTO dead_letters VALUES ('loki', ?, 1, 's', 'org/name', 'c', '{}', 'refused', 2)",
                            (number,))  # fmt: skip
            self.sweep = sql.execute("SELECT id FROM sweeps ORDER BY seq DESC LIMIT 1").fetchone()[0]
            self.site = "'Data-dependent branching-0'"
            self.artifact = sql.execute("SELECT key FROM artifacts").fetchone()[0]
            sql.commit()

    def run_in(self, folder, line, timeout_s=60):
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=folder, timeout=timeout_s,
                              env=self.environment, stdin=subprocess.DEVNULL, check=False)  # fmt: skip

    def real(self, line):
        """The example with this world's names in the place of invented ones."""
        commit = self.hub.models["org/name"]["sha"]
        for invented, real in (
            (r"\b2026\d{4}T\d{6}Z-[0-9a-f]{6}\b", self.sweep), (r"\b1a2b3c4d(5e6f)?\b", self.artifact[:12]),
            (r"\b624613a24a31\b", self.artifact[:12]), (r"\b(1a2b3c4|5d6e7f8)\b", commit[:7]),
            (r"127\.0\.0\.1:8080", self.address), (r"\blongt5\b", "bart-large"), (r"\bNAME\b", "old"),
            (r"/var/lib/breakwatch", "var"), (r"\b3f2a9c1e\b", self.site),
            (r"compare ID ID", f"compare {self.sweep} {self.sweep}"),
            (r"/srv/", f"{self.folder}/srv/"), (r"/tmp/trace", str(self.template / "trace")),
        ):  # fmt: skip
            line = re.sub(invented, real, line)
        return re.sub(r"(?<![\w/])name(?= --)", "org/name", line)

    def run(self, line, folder):
        shutil.copytree(self.template, folder, symlinks=True)
        return self.run_in(folder, self.real(line))


def examples_of_help(program):
    done = subprocess.run([program, "docs", "examples"], capture_output=True, text=True, check=True)
    return [example["line"] for example in json.loads(done.stdout)]


def examples_of_documents():
    """Lines of code blocks that call the program."""
    listed = subprocess.run(["git", "ls-files", "*.md"], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    lines = []
    for name in listed.split():
        if name.startswith("tests/") or name == "CHANGELOG.md":
            continue
        for block in re.findall(r"^```\w*\n(.*?)^```", Path(ROOT, name).read_text(), re.S | re.M):
            for line in block.splitlines():
                line = line.removeprefix("$ ").replace("build/release/breakwatch", "breakwatch")
                if re.match(r"([A-Z_]+=\S+ )*breakwatch ", line):
                    lines.append(re.sub(r"\s+#.*", "", line))
    return lines
