"""A real Prometheus with two hours of history of invented models, "before" a sweep that changed them and "after", and
with the recorded series of that time."""

import contextlib
import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import promql
import pytest
from dashboard_support import JOB, POOL, ROOT, RULES, program

STEP = 60  # seconds between samples
STEPS_BEFORE, STEPS_AFTER = 80, 41


@pytest.fixture(scope="session")
def exposition():
    """The exposition of breakwatch for each state."""
    named = os.environ.get("BREAKWATCH_EXPOSITION_SAMPLE")
    built = ROOT.glob("build/*/tests/dashboards/breakwatch_exposition_sample")
    candidates = [Path(named)] if named else sorted(built, key=lambda path: path.stat().st_mtime, reverse=True)
    if not candidates:
        pytest.skip("breakwatch_exposition_sample is not built")

    def run(state):
        return subprocess.run([candidates[0], state], check=True, capture_output=True, text=True, timeout=30).stdout

    return {state: run(state) for state in ("before", "after")}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def others(stamp):
    """What dashboards show of the Pushgateway, of a daemon's own /metrics and of Prometheus itself."""
    return [
        ("push_time_seconds", stamp - 20),
        ("push_failure_time_seconds", 0),
        ('breakwatch_daemon_info{version="0.1.0"}', 1),
        ("breakwatch_config_last_reload_successful", 1),
        ("process_start_time_seconds", stamp // 1000000 * 1000000),
        ("process_resident_memory_bytes", 50_000_000),
        ("process_cpu_seconds_total", stamp % 1000000),
        ('ALERTS{alertname="BreakwatchDeadLetters",alertstate="firing",severity="warning",exporter="loki"}', 1),
    ]


def history(exposition, end):
    """OpenMetrics text with a timestamp on every sample: the only format in which past samples can be loaded."""
    lines = []
    total = STEPS_BEFORE + STEPS_AFTER
    for step in range(total):
        state = "before" if step < STEPS_BEFORE else "after"
        stamp = end - (total - 1 - step) * STEP
        found = promql.samples(exposition[state])
        lines += [f"{promql.in_group(series, JOB, POOL)} {value} {stamp}" for series, value in [*found, *others(stamp)]]
    return "\n".join(lines) + "\n# EOF\n"


class Prometheus:
    def __init__(self, url, end, history):
        self.url, self.end, self.history = url, end, history

    def get(self, path, **parameters):
        query = urllib.parse.urlencode(parameters, doseq=True)
        try:
            with urllib.request.urlopen(f"{self.url}{path}?{query}", timeout=20) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def query(self, expression):
        return self.get("/api/v1/query", query=expression, time=self.end)["result"]

    def query_range(self, expression):
        start = self.end - 2 * 3600
        return self.get("/api/v1/query_range", query=expression, start=start, end=self.end, step=STEP)["result"]

    def series(self, selector):
        return self.get("/api/v1/series", **{"match[]": selector, "start": self.end - 3600, "end": self.end})


@pytest.fixture(scope="session")
def prometheus(exposition, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prometheus")
    end = int(time.time()) // STEP * STEP
    (folder / "history.txt").write_text(history(exposition, end), encoding="utf-8")
    (folder / "prometheus.yml").write_text("global: {scrape_interval: 1m}\n", encoding="utf-8")
    create_blocks(folder, "openmetrics", "-q", folder / "history.txt", folder / "tsdb")
    with serving(folder) as url:
        span = [f"--start={end - STEPS_BEFORE * 2 * STEP}", f"--end={end}", f"--eval-interval={STEP}s"]
        recording = [path for path in RULES if path.name == "recording.yml"]
        create_blocks(folder, "rules", f"--url={url}", *span, f"--output-dir={folder}/tsdb", *recording)
    with serving(folder) as url:
        yield Prometheus(url, end, folder / "history.txt")


def create_blocks(folder, *arguments):
    command = [program("promtool"), "tsdb", "create-blocks-from", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


@contextlib.contextmanager
def serving(folder):
    port = free_port()
    arguments = [
        program("prometheus"),
        f"--config.file={folder}/prometheus.yml",
        f"--storage.tsdb.path={folder}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}",
        "--storage.tsdb.retention.time=1y",
    ]
    with (folder / "log.txt").open("ab") as log, subprocess.Popen(arguments, stdout=log, stderr=log) as process:
        try:
            wait_until_ready(f"http://127.0.0.1:{port}/-/ready", process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def wait_until_ready(url, process):
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.05)
    raise AssertionError("Prometheus did not become ready")
