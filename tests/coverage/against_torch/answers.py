"""The oracle's answers, from two processes at a time, cached by everything that affects them."""

import json
import queue
import subprocess
import threading
from pathlib import Path

import modules

ORACLE = modules.HERE / "oracle.py"


class Answers:
    """Runs oracle.py for the jobs that are not in the file of earlier answers."""

    def __init__(self, python: str, kept: Path, fresh: bool):
        self.python, self.kept, self.fresh = python, kept, fresh
        script = "import sys, importlib.metadata as m; print(m.version('torch'), sys.version)"
        self.version = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True).stdout
        kept.parent.mkdir(parents=True, exist_ok=True)
        lines = kept.read_text().splitlines() if kept.exists() else []
        self.known = {line["key"]: line["answer"] for line in map(json.loads, lines)}
        self.lock = threading.Lock()

    def key(self, path: Path, job: dict) -> str:
        digest = modules.digest(path, ORACLE, modules.UNSEEN / "words.txt", more=self.version)
        return f"{digest} {json.dumps(job, sort_keys=True)}"

    def ask(self, jobs: list, say) -> list:
        """One answer for each job of `jobs`, each (path, job), in their order."""
        keys = [self.key(*job) for job in jobs]
        waiting = queue.SimpleQueue()
        missing = [(key, job) for key, (_, job) in zip(keys, jobs, strict=True) if key not in self.known]
        for item in missing:
            waiting.put(item)
        threads = [threading.Thread(target=self.serve, args=(waiting, say)) for _ in range(2 if missing else 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [self.known[key] for key in keys]

    def serve(self, waiting, say) -> None:
        process = None
        while True:
            try:
                key, job = waiting.get_nowait()
            except queue.Empty:
                break
            process = process or self.start()
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()
            answer = json.loads(process.stdout.readline())
            with self.lock, self.kept.open("a") as kept:
                self.known[key] = answer
                # A child that timed out may succeed on another day.
                if answer.get("status") != "lost":
                    kept.write(json.dumps({"key": key, "answer": answer}) + "\n")
            say(job, answer)
            if self.fresh:
                process = self.end(process)
        if process:
            self.end(process)

    def start(self) -> subprocess.Popen:
        return subprocess.Popen([self.python, str(ORACLE)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                cwd=modules.HERE)  # fmt: skip

    def end(self, process) -> None:
        process.stdin.close()
        process.wait()


def wanted(answers: Answers, chosen: list, say) -> dict:
    """(selector, mode) -> the answers that count: one, except for export. `chosen` is (selector, mode, path)."""
    found = {}

    def ask(places: list, job_of) -> list:
        """The places whose answer fails. Each answer is added to its place."""
        jobs = [(path, job_of(selector, mode)) for selector, mode, path in places]
        given = list(zip(places, answers.ask(jobs, say), strict=True))
        for (selector, mode, _), answer in given:
            found.setdefault((selector, mode), []).append(answer)
        return [place for place, answer in given if answer.get("status") == "failed"]

    exports = [place for place in chosen if place[1] == "export"]
    others = [place for place in chosen if place[1] != "export"]
    failed = ask(others, lambda selector, mode: {"module": selector, "mode": mode})
    failed += ask(exports, lambda selector, mode: {"module": selector, "mode": mode, "strict": False})
    # Strict export runs only if non-strict export made no program.
    refused = [place for place in exports if not found[place[:2]][0].get("exported")]
    failed += ask(refused, lambda selector, mode: {"module": selector, "mode": mode, "strict": True})
    # A module that also fails without the compiler is a failure of the module.
    eager = [(path, {"module": selector, "mode": "eager", "of": mode}) for selector, mode, path in failed]
    for (selector, mode, _), answer in zip(failed, answers.ask(eager, say), strict=True):
        status = "failed_capture" if answer["status"] == "runs" else "failed_eager"
        found[selector, mode] = [{**one, "status": status} for one in found[selector, mode]]
    return found
