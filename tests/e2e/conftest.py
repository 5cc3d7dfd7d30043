"""The program, a Hub on disk, and real servers, for end-to-end tests."""

import os
import signal
from pathlib import Path

import pytest
from artifact_support import MODEL, Artifacts
from e2e_support import ROOT, Breakwatch, Hub, Process, free_port, needs
from store_support import SITE

# A shell starts a background job with SIGINT ignored, and its children inherit that, so the program also ignores it. A
# handler is not inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def processes():
    started = []
    yield started
    for process in started:
        process.kill()


@pytest.fixture
def gateway(tmp_path, processes):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    argv = [needs("prometheus-pushgateway"), f"--web.listen-address=127.0.0.1:{port}", "--persistence.file="]
    process = Process(argv, url + "/-/ready", tmp_path / "gateway.log")
    process.url = url
    processes.append(process)
    return process.start()


@pytest.fixture
def start_prometheus(tmp_path, processes):
    """Starts a Prometheus with a configuration, on the blocks in `tsdb` if there are any."""

    def start(text, *flags):
        port = free_port()
        config = tmp_path / "prometheus.yml"
        config.write_text(text)
        argv = [needs("prometheus"), f"--config.file={config}", f"--storage.tsdb.path={tmp_path / 'tsdb'}",
                f"--web.listen-address=127.0.0.1:{port}", *flags]  # fmt: skip
        process = Process(argv, f"http://127.0.0.1:{port}/-/ready", tmp_path / "prometheus.log")
        process.url = f"http://127.0.0.1:{port}"
        processes.append(process)
        return process.start()

    return start


@pytest.fixture
def prometheus(start_prometheus, gateway):
    return start_prometheus(
        "global: {scrape_interval: 250ms}\nscrape_configs:\n- job_name: gateway\n  honor_labels: true\n"
        f"  static_configs: [{{targets: ['{gateway.url.removeprefix('http://')}']}}]\n"
    )


@pytest.fixture
def hub(tmp_path):
    folder = tmp_path / "hub"
    folder.mkdir()
    return Hub(folder)


@pytest.fixture(scope="session")
def program():
    path = Path(os.environ.get("BREAKWATCH_PROGRAM", ROOT / "build/release/breakwatch"))
    if not path.exists():
        pytest.skip(f"{path} is not built: make build")
    return str(path)


@pytest.fixture
def breakwatch(program, tmp_path, hub):
    watch = Breakwatch(program, tmp_path, hub)
    yield watch
    pid_file = watch.state / "writer.lock"
    if pid_file.exists():
        holder = pid_file.read_text().strip().split("\n")[0]
        if holder.isdigit() and Path(f"/proc/{holder}/cmdline").exists():
            cmdline = Path(f"/proc/{holder}/cmdline").read_bytes()
            if str(watch.state).encode() in cmdline:
                os.kill(int(holder), signal.SIGKILL)


@pytest.fixture
def models(hub):
    """A model with breaks, one without, one that fails."""
    hub.model("org/broken", 300, sites=[["branching", "GB0170", 4], ['print "x"\n', "GB0059", 2]])
    hub.model("org/clean", 200)
    hub.model("org/failing", 100, status="failed_eager")
    return hub


@pytest.fixture
def receiver():
    from otlp_support import Receiver

    server = Receiver()
    yield server
    server.close()
    assert server.wrong == []


@pytest.fixture
def swept(breakwatch, hub):
    """Two finished sweeps of three models."""
    hub.model("org/a", 300, sites=[SITE])
    hub.model("org/b", 200)
    hub.model("org/c", 100, unlike="org/b")
    breakwatch.run("sweep", "--quiet")
    breakwatch.run("sweep", "--quiet", "--rebuild", "always")
    return breakwatch


@pytest.fixture
def artifacts(breakwatch, hub, tmp_path):
    hub.model(MODEL, 300)
    return Artifacts(breakwatch, tmp_path)
