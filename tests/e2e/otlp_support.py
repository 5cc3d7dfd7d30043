"""A receiver of OTLP/HTTP that decodes requests with the protocol's own messages, and refuses fields that they lack."""

import datetime
import gzip
import json
import re
from http.server import BaseHTTPRequestHandler

from e2e_support import LocalServer
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)

JSON = "application/json"
FAST = ("--delivery.drain_timeout", "5s", "--delivery.first_backoff", "50ms", "--delivery.max_backoff", "100ms")
CUMULATIVE = 2
SEVERITY = {"debug": 5, "info": 9, "warn": 13, "error": 17}
SIGNALS = {
    "/v1/metrics": (ExportMetricsServiceRequest, ExportMetricsServiceResponse),
    "/v1/logs": (ExportLogsServiceRequest, ExportLogsServiceResponse),
}


def check_json(value, name=""):
    """OTLP's rules on top of the JSON mapping: names in lowerCamelCase, 64-bit integers as texts, enums as numbers."""
    if isinstance(value, dict):
        for key, member in value.items():
            assert re.fullmatch("[a-z][A-Za-z]*", key), key
            check_json(member, key)
    elif isinstance(value, list):
        for member in value:
            check_json(member, name)
    elif name.endswith("UnixNano") or name == "intValue":
        assert isinstance(value, str) and value.lstrip("-").isdigit(), f"{name}: {value!r}"
    elif name in ("severityNumber", "aggregationTemporality"):
        assert type(value) is int, f"{name}: {value!r}"


def decode(path, content_type, body):
    request = SIGNALS[path][0]()
    if content_type == JSON:
        check_json(json.loads(body))
        json_format.Parse(body, request)
    else:
        request.ParseFromString(body)
        size = request.ByteSize()
        request.DiscardUnknownFields()
        assert request.ByteSize() == size, "unknown fields"
    return request


class Receiver(LocalServer):
    """`answer` is a function of the path and the request, which returns a status and a message or bytes."""

    def __init__(self):
        self.requests, self.wrong, self.answer = [], [], lambda path, request: (200, SIGNALS[path][1]())
        self.paths = set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                kind = self.headers["Content-Type"]
                signal_path = "/v1/" + self.path.rpartition("/v1/")[2]  # the endpoint may have a path of its own
                receiver.paths.add(self.path)
                try:
                    request = decode(signal_path, kind, body)
                except Exception as error:  # the test's own assertion, on the server's thread
                    receiver.wrong.append(repr(error))
                    self.reply(400, b"", kind)
                    return
                receiver.requests.append((signal_path, dict(self.headers.items()), request, len(body)))
                status, answer = receiver.answer(signal_path, request)
                if not isinstance(answer, bytes):
                    text = json_format.MessageToJson(answer).encode()
                    answer = text if kind == JSON else answer.SerializeToString()
                self.reply(status, answer, kind)

            def reply(self, status, body, kind):
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        super().__init__(Handler)

    def of(self, path):
        return [request for at, _, request, _ in self.requests if at == path]

    def points(self):
        """(metric, sorted attributes) -> point and its metric, of all requests; later ones replace earlier ones."""
        found = {}
        for request in self.of("/v1/metrics"):
            for metric in metrics_in(request):
                for point in points_of(metric):
                    found[metric.name, attributes_of(point)] = (point, metric)
        return found

    def records(self):
        """Each received log record, in order."""
        return [record for request in self.of("/v1/logs") for resource in request.resource_logs
                for scope in resource.scope_logs for record in scope.log_records]  # fmt: skip

    def resource(self, path):
        request = self.of(path)[-1]
        (resource,) = request.resource_metrics if path == "/v1/metrics" else request.resource_logs
        return dict(attributes_of(resource.resource))


def metrics_in(request):
    return [metric for resource in request.resource_metrics for scope in resource.scope_metrics
            for metric in scope.metrics]  # fmt: skip


def points_of(metric):
    return getattr(metric, metric.WhichOneof("data")).data_points


def attributes_of(owner):
    """Sorted pairs; values as texts or integers."""
    return tuple(sorted((a.key, getattr(a.value, a.value.WhichOneof("value"))) for a in owner.attributes))


def sweep(breakwatch, receiver, *more, code=0, **environment):
    return breakwatch.run("sweep", "--quiet", "--exporters.otlp.endpoint", receiver.url + "/", *FAST, *more, code=code,
                          **environment)  # fmt: skip


def breaks(receiver):
    return {(dict(key)["model"], dict(key)["reason"]): point.as_double
            for (name, key), (point, _) in receiver.points().items() if name == "compile_breaks_total"}  # fmt: skip


def stored_breaks(breakwatch):
    found = {}
    for model, result in breakwatch.results().items():
        if result["status"] == "full_graph":
            found[model, "none"] = 0.0
        for site in result["sites"] if result["status"] == "graph_breaks" else []:
            found[model, site["reason"]] = found.get((model, site["reason"]), 0.0) + site["occurrences"]
    return found


def stored_lines(breakwatch):
    return (breakwatch.state / "logs/events.jsonl").read_text().splitlines()


def nanoseconds(text):
    whole, fraction = text.removesuffix("Z").split(".")
    seconds = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.UTC).timestamp()
    return int(seconds) * 1_000_000_000 + int(fraction)


def check_metrics(breakwatch, receiver):
    assert breaks(receiver) == stored_breaks(breakwatch) and len(breaks(receiver)) == 3
    points = receiver.points()
    metrics = {name: metric for (name, _), (_, metric) in points.items()}
    state = metrics["compile_breaks_total"]
    assert state.sum.aggregation_temporality == CUMULATIVE and not state.sum.is_monotonic
    assert not any(point.start_time_unix_nano for point in state.sum.data_points)
    counter = metrics["breakwatch_export_attempts_total"].sum
    assert counter.is_monotonic and all(point.start_time_unix_nano for point in counter.data_points)
    assert metrics["compile_graphs"].WhichOneof("data") == "gauge"
    assert metrics["breakwatch_sweep_duration_seconds"].unit == "s"
    assert all(metric.description for metric in metrics.values())


def check_logs(breakwatch, receiver):
    """Every stored event once and in order, with its bytes, time and level."""
    lines, records = stored_lines(breakwatch), receiver.records()
    assert [record.body.string_value for record in records] == lines
    for line, record in zip(map(json.loads, lines), records, strict=True):
        assert record.time_unix_nano == nanoseconds(line["ts"])
        assert (record.severity_text, record.severity_number) == (line["level"], SEVERITY[line["level"]])
        found = {a.key: a.value.int_value or a.value.string_value for a in record.attributes}
        wanted = {"event_id": line["event_id"], "event.name": line["msg"]}
        assert found == wanted | {key: line[key] for key in ("sweep_id", "model", "commit") if line.get(key)}
        assert record.event_name == line["msg"]
