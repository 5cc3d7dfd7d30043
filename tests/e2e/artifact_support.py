"""The program with a worker and a runner of artifacts that do as the test says."""

import json
import subprocess

MODEL = "org/a"
RUNNER = """#!/bin/sh
# Answers as the file beside it says.
PATH=/usr/bin:/bin
answer=$(dirname "$0")/answer.json
echo "$1" >> "$answer.calls"
while [ -e "$answer.hang" ]; do sleep 0.05; done
cat "$answer"
"""


class Artifacts:
    """The program with a worker and a runner that do as the test says."""

    def __init__(self, breakwatch, folder):
        self.breakwatch, self.folder = breakwatch, folder
        runner = folder / "runner/breakwatch-runner"
        runner.parent.mkdir()
        runner.write_text(RUNNER)
        runner.chmod(0o755)
        self.answer = runner.with_name("answer.json")
        self.answers("ok")
        breakwatch.settings += ["--artifact.runner", str(runner)]

    def answers(self, status, detail=""):
        self.answer.write_text(json.dumps({"status": status, "detail": detail, "cases": []}))

    def run(self, *args, code=0, **environment):
        return self.breakwatch.run("artifact", *args, code=code, **environment)

    def json(self, *args, code=0):
        return json.loads(self.run(*args, "--json", code=code).stdout)

    def build(self, *args, code=0):
        """The one artifact of a build."""
        return self.json("build", MODEL, *args, code=code)[0]

    def package(self, artifact):
        return self.breakwatch.state / "artifacts" / artifact["key"] / "package"

    def statuses(self, artifact):
        return {stage["stage"]: stage["status"] for stage in artifact["stages"]}

    def start(self, *args):
        return subprocess.Popen(self.breakwatch.argv("artifact", *args), stdin=subprocess.DEVNULL, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                env=self.breakwatch.environment)  # fmt: skip
