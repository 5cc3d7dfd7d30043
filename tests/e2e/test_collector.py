"""A sweep through a real OpenTelemetry collector: what it passes on by OTLP and shows to Prometheus is what is stored.

`make test-collector` assembles the collector.
"""

import json
import re

import pytest
from e2e_support import ROOT, Process, eventually, free_port, get
from otlp_support import breaks, check_logs, check_metrics, stored_breaks, sweep

COLLECTOR = ROOT / ".cache/otel-collector/collector"


class Collector:
    def __init__(self, tmp_path, processes, backend, **http):
        if not COLLECTOR.exists():
            pytest.skip(f"no {COLLECTOR.name}: `make test-collector` provides it")
        port, metrics_port = free_port(), free_port()
        self.url, self.metrics_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{metrics_port}/metrics"
        config = tmp_path / "collector.json"
        passes_on = {
            "endpoint": backend.url,
            "sending_queue": {"enabled": False},
            "retry_on_failure": {"enabled": False},
        }
        config.write_text(json.dumps({
            "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}", **http}}}},
            "exporters": {"otlp_http": passes_on,
                          "prometheus": {"endpoint": f"127.0.0.1:{metrics_port}",
                                         "resource_to_telemetry_conversion": {"enabled": True}}},
            "service": {"telemetry": {"metrics": {"level": "none"}},
                        "pipelines": {"metrics": {"receivers": ["otlp"], "exporters": ["otlp_http", "prometheus"]},
                                      "logs": {"receivers": ["otlp"], "exporters": ["otlp_http"]}}},
        }))  # fmt: skip
        server = Process([str(COLLECTOR), "--config", str(config)], self.metrics_url, tmp_path / "collector.log")
        processes.append(server)
        self.process = server.start()

    def series(self, name):
        """Labels and value of each series of a metric, and its type."""
        status, text = get(self.metrics_url)
        assert status == 200
        (kind,) = re.findall(rf"^# TYPE {name} (\w+)$", text, re.MULTILINE)
        rows = re.findall(rf"^{name}{{(.*)}} (\S+)$", text, re.MULTILINE)
        return kind, [(dict(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', labels)), float(value)) for labels, value in rows]


@pytest.fixture
def collector(tmp_path, processes, receiver):
    return Collector(tmp_path, processes, receiver)


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_a_collector_passes_on_what_is_stored(breakwatch, models, receiver, collector, protocol):
    sweep(breakwatch, collector, "--exporters.otlp.protocol", protocol, "--exporters.otlp.start", "beginning")
    check_metrics(breakwatch, receiver)
    check_logs(breakwatch, receiver)
    kind, series = collector.series("compile_breaks_total")
    assert kind == "gauge"  # a state: not a counter, although its name ends with _total
    found = {(labels["model"], labels["reason"].encode().decode("unicode_escape")): value for labels, value in series}
    assert found == stored_breaks(breakwatch)
    assert {labels["job"] for labels, _ in series} == {"breakwatch"}
    instance = (breakwatch.state / "instance-id").read_text().strip()
    assert {labels["instance"] for labels, _ in series} == {instance}
    assert collector.series("breakwatch_export_attempts_total")[0] == "counter"


def test_a_collector_that_cannot_pass_on_gets_everything_again(breakwatch, models, receiver, collector):
    ordinary, receiver.answer = receiver.answer, lambda path, request: (503, b"")
    done = sweep(breakwatch, collector, "--exporters.otlp.start", "beginning", code=3)
    assert "otlp_logs" in done.stderr and "503" in done.stderr
    receiver.answer = ordinary
    receiver.requests.clear()
    sweep(breakwatch, collector)
    check_logs(breakwatch, receiver)
    assert breaks(receiver) == stored_breaks(breakwatch)


def test_a_collector_with_a_body_limit_gets_smaller_requests(breakwatch, hub, receiver, tmp_path, processes):
    for number in range(40):
        hub.model(f"org/m{number}", 300 + number, sites=[["branching", "GB0170", 1]])
    limited = Collector(tmp_path, processes, receiver, max_request_body_size=40_000)
    sweep(breakwatch, limited, "--delivery.drain_timeout", "20s")
    assert eventually(lambda: breaks(receiver) == stored_breaks(breakwatch))
