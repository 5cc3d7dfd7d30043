"""`make bench-scale`: memory and time of the program at many models. Exit code 1 if a goal is missed.

    python3 tests/benchmarks/bench_scale.py [--models 100000] [--resweep 10000] [--keep DIR] [--program FILE]

A recorded Hub of `--models` models, each with its own structure, is swept by the real program with a worker that
answers at once (scale_worker.py), and pushed to a gateway that reads and discards. Then the daemon is started on that
store, the reading commands run on it, and the list is swept again. Memory is the kernel's: VmHWM, the largest resident
memory of a process, which is reset before each figure. The part with `--resweep` models sweeps an unchanged list again
and again, without the captures that verify reduced depth (capture.verify_share), so that nothing is captured.

Next to the time of a command is the processor time of its own process, which other work on the machine hardly changes.
A goal for a time is missed if both are above it.

Goals are for 50,000 models, and for 10,000 of an unchanged list. With more models, what grows with their number may be
as much larger as there are more.
"""

import argparse
import concurrent.futures
import hashlib
import http.server
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
MIB = 1 << 20
WAIT_S = 300
SETTLE_S = 4.0
SAMPLE_S = 0.01


class Gateway(http.server.ThreadingHTTPServer):
    """Reads what is pushed and keeps nothing of it but its size."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), GatewayHandler)
        self.pushes, self.bytes = 0, 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class GatewayHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, body=b""):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(b'{"status":"success","data":{"start_time":"2026-01-01T00:00:00Z"}}')

    def read_body(self):
        """With a length, or in chunks."""
        total = 0
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                total += len(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return total
        left = int(self.headers.get("Content-Length", 0))
        while left > 0 and (chunk := self.rfile.read(min(left, MIB))):
            left, total = left - len(chunk), total + len(chunk)
        return total

    def do_PUT(self):
        self.server.bytes, self.server.pushes = self.read_body(), self.server.pushes + 1
        self.answer()

    def log_message(self, *_):
        pass


def record_hub(folder, count):
    """A recording with `count` models in the layout of collectors/hub/replay/FORMAT.md."""
    (folder / "files").mkdir(parents=True)
    config = {"model_type": "bert", "architectures": ["BertModel"], "hidden_size": 768, "num_attention_heads": 12}
    config |= {"id2label": {str(n): f"LABEL_{n}" for n in range(40)}}
    (folder / "recording.json").write_text(
        json.dumps({"format": 1, "recorded_at": "2024-01-01T00:00:00Z", "endpoint": "https://example.org"})
    )
    with open(folder / "models.jsonl", "w") as listing:
        for number in range(count):
            model = f"organisation-{number % 997}/scale-model-{number:06}"
            text = json.dumps(config | {"number": number})
            sha = hashlib.sha1(text.encode()).hexdigest()
            listing.write(json.dumps({
                "_id": sha[:24], "id": model, "modelId": model, "sha": sha, "downloads": 10_000_000 - number,
                "likes": 0, "private": False, "gated": False, "disabled": False, "tags": ["transformers"],
                "pipeline_tag": "fill-mask", "library_name": "transformers", "createdAt": "2024-01-01T00:00:00.000Z",
                "lastModified": "2024-01-01T00:00:00.000Z", "siblings": [{"rfilename": "config.json"}],
                "config": {"model_type": "bert", "architectures": ["BertModel"]}}) + "\n")  # fmt: skip
            file = folder / "files" / model.replace("/", "--") / sha / "config.json"
            file.parent.mkdir(parents=True)
            file.write_text(text)
    return folder


def peak_mib(pid):
    """0 once the process has ended."""
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


def processor_s(pid):
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1]) / 1024


def reset_peak(pid):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def bytes_under(folder, pattern="**/*"):
    return sum(p.stat().st_size for p in folder.glob(pattern) if p.is_file() and not p.is_symlink())


def folded(state):
    """Bytes of the database with its log folded into it, and of the other files."""
    database = state / "breakwatch.db"
    with sqlite3.connect(database) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    size = database.stat().st_size
    return size, bytes_under(state / "sweeps")


class Bench:
    def __init__(self, arguments, folder):
        self.program, self.folder = str(arguments.program), folder
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("BREAKWATCH_", "HF_"))}
        self.environment["HF_HOME"] = str(folder / "hf")
        self.rows, self.missed = [], False

    def argv(self, state, hub, *more):
        worker = json.dumps([sys.executable, "-S", str(HERE / "scale_worker.py")])
        return [self.program, "--state-dir", str(state), "--hub.source", "snapshot", "--hub.snapshot_dir", str(hub),
                "--hub.top", "1000000", "--capture.launcher=[]", "--capture.worker", worker, "--capture.sandbox", "off",
                "--capture.zygotes", "2", "--measure.lock_file", str(self.folder / "lock"), *more]  # fmt: skip

    def run(self, argv, output=subprocess.DEVNULL):
        """Seconds and largest resident memory of a command. wait4 would count the memory of this process, which the
        child has until it executes the command, so VmHWM is read until the end."""
        began, peak, self.processor_s = time.monotonic(), 0, 0
        with open(self.folder / "log", "ab") as log:
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=log, env=self.environment)
            while child.poll() is None:
                peak = max(peak, peak_mib(child.pid))
                self.processor_s = max(self.processor_s, processor_s(child.pid))
                time.sleep(SAMPLE_S)
        if child.returncode != 0:
            tail = (self.folder / "log").read_text()[-2000:]
            sys.exit(f"exit {child.returncode}: {' '.join(argv)}\n{tail}")
        return time.monotonic() - began, peak

    def row(self, figure, value, unit, goal=None, processor_s=None):
        best = value if processor_s is None else min(value, processor_s)
        met = goal is None or best <= goal
        self.missed = self.missed or not met
        text = f"{value:,.1f} {unit}" + ("" if processor_s is None else f", processor {processor_s:,.1f} s")
        self.rows.append((figure, text, "" if goal is None else f"at most {goal:,.0f} {unit}", "" if met else "missed"))
        print("| " + " | ".join(self.rows[-1]) + " |", flush=True)

    def serve(self, state, hub, gateway):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{probe.getsockname()[1]}"
        began = time.monotonic()
        with open(self.folder / "log", "ab") as log:
            argv = self.argv(state, hub, "--exporters.pushgateway.url", gateway.url, "--web.listen_address", address)
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            child = subprocess.Popen([*argv, "serve"], env=self.environment, **streams)
        url = f"http://{address}"
        while not answers(url + "/-/ready"):
            if child.poll() is not None or time.monotonic() - began > WAIT_S:
                sys.exit(f"the daemon is not ready\n{(self.folder / 'log').read_text()[-2000:]}")
            time.sleep(0.02)
        return child, url, time.monotonic() - began


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


def scrape(url, encoding):
    """Bytes on the wire and time of one scrape, 0 if it was refused for too many."""
    began, size = time.monotonic(), 0
    try:
        request = urllib.request.Request(url + "/metrics/models", headers={"Accept-Encoding": encoding})
        with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
            while chunk := answer.read(MIB):
                size += len(chunk)
    except urllib.error.HTTPError as error:
        if error.code != 429:
            raise
    return size, time.monotonic() - began


def measure_daemon(bench, state, hub, gateway, goals):
    pushes = gateway.pushes
    child, url, ready_s = bench.serve(state, hub, gateway)
    try:
        bench.row("start of the daemon until it is ready", ready_s, "s", goals.get("ready"))
        deadline = time.monotonic() + WAIT_S
        while gateway.pushes == pushes and time.monotonic() < deadline:
            time.sleep(0.1)
        time.sleep(SETTLE_S)
        bench.row("largest memory of the daemon until its first push", peak_mib(child.pid), "MiB")
        at_rest = resident_mib(child.pid)
        bench.row("daemon at rest", at_rest, "MiB", goals.get("rest"))
        for encoding, count in (("gzip", 4), ("identity", 4)):
            reset_peak(child.pid)
            before = resident_mib(child.pid)
            with concurrent.futures.ThreadPoolExecutor(count) as pool:
                scraped = list(pool.map(lambda _, e=encoding: scrape(url, e), range(count)))
            bench.row(f"{count} {encoding} scrapes at once: more memory", peak_mib(child.pid) - before, "MiB",
                      goals.get("scrapes"))  # fmt: skip
            bench.row(f"{count} {encoding} scrapes at once: slowest", max(s for _, s in scraped), "s")
            bench.row(f"{count} {encoding} scrapes at once: bytes of one", max(b for b, _ in scraped) / MIB, "MiB")
    finally:
        child.send_signal(signal.SIGTERM)
        child.wait(30)


def measure_commands(bench, state, hub, goals):
    def command(name, *argv, goal=None, memory=None, output=subprocess.DEVNULL):
        seconds, peak = bench.run(bench.argv(state, hub, *argv), output)
        bench.row(f"`{name}`", seconds, "s", goal, bench.processor_s)
        bench.row(f"`{name}`: memory", peak, "MiB", memory)

    command("reasons", "reasons", goal=goals.get("reasons"))
    with open(bench.folder / "report.json", "wb") as out:
        command("report --format json", "report", "--format", "json", memory=goals.get("report"), output=out)
    bench.row("`report --format json`: bytes", (bench.folder / "report.json").stat().st_size / MIB, "MiB")
    with open(bench.folder / "report.json") as text:
        print(f"  {len(json.load(text)['results'])} results in it")
    (bench.folder / "report.json").unlink()
    command("show MODEL", "show", "scale-model-000007")


def measure_resweep(bench, count, gateway, goals):
    hub, state = record_hub(bench.folder / "hub-resweep", count), bench.folder / "state-resweep"
    argv = bench.argv(state, hub, "--exporters.pushgateway.url", gateway.url, "--capture.verify_share", "0", "sweep")
    bench.run(argv)
    bench.run(argv)  # the second one still differs from the first: nothing is new any more
    database, files = folded(state)
    seconds, peak = bench.run(argv)
    processor = bench.processor_s
    database_after, files_after = folded(state)
    bench.row(f"unchanged sweep of {count:,}", seconds, "s", goals.get("resweep"), processor)
    bench.row(f"unchanged sweep of {count:,}: memory", peak, "MiB")
    grown = (database_after - database) / MIB, (files_after - files) / MIB
    bench.row(f"unchanged sweep of {count:,}: database and files grow by", sum(grown), "MiB", goals.get("growth"))
    bench.row(f"unchanged sweep of {count:,}: the database alone", grown[0], "MiB")
    seconds, peak = bench.run(bench.argv(state, hub, "compare", "previous", "latest"))
    bench.row(f"`compare previous latest`, {count:,}", seconds, "s", None, bench.processor_s)
    bench.row(f"`compare previous latest`, {count:,}: memory", peak, "MiB")


GOALS_AT = 50_000
GOALS = {"rest": 300, "scrapes": 100, "sweep": 500, "reasons": 1, "report": 150, "ready": 2}
PROPORTIONAL = ("rest", "sweep", "reasons", "scrapes")


def goals_for(models):
    factor = max(1.0, models / GOALS_AT)
    return {name: goal * factor if name in PROPORTIONAL else goal for name, goal in GOALS.items()}


RESWEEP_AT = 10_000
RESWEEP_GOALS = {"resweep": 5, "growth": 1}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=2 * GOALS_AT)
    parser.add_argument("--resweep", type=int, default=RESWEEP_AT)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/breakwatch")
    parser.add_argument("--keep", type=Path, help="keep the stores in this folder, and use those in it")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="breakwatch-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    bench, gateway = Bench(arguments, folder), Gateway()
    goals = goals_for(arguments.models)
    print(f"| figure, {arguments.models:,} models | value | goal | |\n| --- | --- | --- | --- |")
    try:
        hub, state = folder / "hub", folder / "state"
        if arguments.models > 0 and not state.exists():
            if not hub.exists():
                record_hub(hub, arguments.models)
            seconds, peak = bench.run(bench.argv(state, hub, "--exporters.pushgateway.url", gateway.url, "sweep"))
            bench.row("sweep and push", seconds, "s", None, bench.processor_s)
            bench.row("sweep and push: memory", peak, "MiB", goals.get("sweep"))
            bench.row("bytes of a push", gateway.bytes / MIB, "MiB")
            database, files = folded(state)
            bench.row("database", database / MIB, "MiB")
            bench.row("other files", files / MIB, "MiB")
        if arguments.models > 0:
            measure_daemon(bench, state, hub, gateway, goals)
            measure_commands(bench, state, hub, goals)
            seconds, peak = bench.run(bench.argv(state, hub, "--exporters.pushgateway.url", gateway.url, "sweep"))
            bench.row("second sweep, with its captures to verify", seconds, "s", None, bench.processor_s)
            bench.row("second sweep: memory", peak, "MiB", goals.get("sweep"))
        if arguments.resweep > 0:
            for name in ("hub-resweep", "state-resweep"):
                shutil.rmtree(folder / name, ignore_errors=True)
            measure_resweep(bench, arguments.resweep, gateway, RESWEEP_GOALS if arguments.resweep <= RESWEEP_AT else {})
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("bench-scale: " + ("a goal is missed" if bench.missed else "every goal is met"))
    sys.exit(1 if bench.missed else 0)


if __name__ == "__main__":
    main()
