"""Metrics and events by OTLP/HTTP, as a receiver with the protocol's own messages decodes them."""

import json
import signal

import pytest
from e2e_support import eventually, free_port
from otlp_support import FAST, SIGNALS, breaks, check_logs, check_metrics, stored_breaks, stored_lines, sweep


@pytest.mark.parametrize("protocol", ["http/protobuf", "http/json"])
def test_every_number_and_every_event_arrive_once(breakwatch, models, receiver, protocol):
    sweep(breakwatch, receiver, "--exporters.otlp.protocol", protocol, "--exporters.otlp.start", "beginning",
          "--exporters.otlp.resource", "deployment.environment.name=test")  # fmt: skip
    check_metrics(breakwatch, receiver)
    check_logs(breakwatch, receiver)
    instance = (breakwatch.state / "instance-id").read_text().strip()
    for path in SIGNALS:
        resource = receiver.resource(path)
        assert resource.pop("service.version")
        assert resource == {"service.name": "breakwatch", "service.instance.id": instance,
                            "deployment.environment.name": "test"}  # fmt: skip


def test_a_small_limit_splits_the_metrics_and_loses_none(breakwatch, models, receiver):
    sweep(breakwatch, receiver)
    whole = {key: point.as_double for key, (point, _) in receiver.points().items() if key[0].startswith("compile_")}
    receiver.requests.clear()
    sweep(breakwatch, receiver, "--exporters.otlp.max_request_bytes", "16KiB")
    sizes = [size for path, _, _, size in receiver.requests if path == "/v1/metrics"]
    assert len(sizes) > 1 and max(sizes) <= 16 << 10
    assert {key: point.as_double for key, (point, _) in receiver.points().items() if key in whole} == whole


def test_records_that_a_receiver_rejects_become_dead_letters_and_can_be_sent_again(breakwatch, models, receiver):
    def reject(path, request):
        answer = SIGNALS[path][1]()
        if path == "/v1/logs":
            answer.partial_success.rejected_log_records = sum(
                len(scope.log_records) for resource in request.resource_logs for scope in resource.scope_logs
            )
            answer.partial_success.error_message = "the tenant is\nfull"
        return 200, answer

    ordinary, receiver.answer = receiver.answer, reject
    done = sweep(breakwatch, receiver, code=3)
    assert "the tenant is full" in done.stderr
    dead = json.loads(breakwatch.run("dead-letters", "list", "--exporter", "otlp_logs", "--json").stdout)
    assert dead and all("the receiver rejected the record: the tenant is full" in row["reason"] for row in dead)
    receiver.answer = ordinary
    receiver.requests.clear()
    retried = breakwatch.run("dead-letters", "retry", "--all", "--exporters.otlp.endpoint", receiver.url, *FAST)
    assert f"{len(dead)} delivered" in retried.stdout
    sent = [a.value.int_value for record in receiver.records() for a in record.attributes if a.key == "event_id"]
    assert [row["event_id"] for row in dead] == sent[: len(dead)]


def test_rejected_data_points_are_reported_and_not_sent_again(breakwatch, models, receiver):
    def reject(path, request):
        answer = SIGNALS[path][1]()
        if path == "/v1/metrics":
            answer.partial_success.rejected_data_points = 2
            answer.partial_success.error_message = "out of bounds"
        return 200, answer

    receiver.answer = reject
    done = sweep(breakwatch, receiver)
    assert "the receiver rejected 2 of " in done.stderr and "out of bounds" in done.stderr


def test_nothing_is_lost_by_a_wrong_token(breakwatch, models, receiver):
    receiver.answer, ordinary = (lambda path, request: (401, b"")), receiver.answer
    done = sweep(breakwatch, receiver, "--exporters.otlp.start", "beginning", code=3)
    assert done.stderr.count("the receiver rejects the credentials") == 2  # once for each signal
    receiver.requests.clear()
    receiver.answer = ordinary
    sweep(breakwatch, receiver)
    assert [record.body.string_value for record in receiver.records()] == stored_lines(breakwatch)


def test_an_overloaded_receiver_gets_everything_when_it_recovers(breakwatch, models, receiver):
    refused = []

    def overloaded(path, request):
        if len(refused) < 4:
            refused.append(path)
            return 503, b""
        return 200, SIGNALS[path][1]()

    receiver.answer = overloaded
    sweep(breakwatch, receiver)
    assert set(refused) == set(SIGNALS)
    assert breaks(receiver) == stored_breaks(breakwatch)


def test_the_variables_of_opentelemetry_are_enough(breakwatch, models, receiver):
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_EXPORTER_OTLP_HEADERS": "api-key=s3cret%21",
                   "OTEL_SERVICE_NAME": "breaks", "OTEL_RESOURCE_ATTRIBUTES": "team=ml"}  # fmt: skip
    breakwatch.run("sweep", "--quiet", *FAST, **environment)
    assert breaks(receiver) == stored_breaks(breakwatch)
    assert {headers.get("api-key") for _, headers, _, _ in receiver.requests} == {"s3cret!"}
    resource = receiver.resource("/v1/metrics")
    assert (resource["service.name"], resource["team"]) == ("breaks", "ml")
    shown = breakwatch.run("config", "show", **environment).stdout
    assert "environment OTEL_EXPORTER_OTLP_ENDPOINT" in shown and "s3cret" not in shown


def test_a_variable_of_one_signal_says_nothing_of_the_other(breakwatch, models, receiver):
    environment = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json",
                   "OTEL_EXPORTER_OTLP_LOGS_COMPRESSION": "none"}  # fmt: skip
    breakwatch.run("sweep", "--quiet", *FAST, **environment)
    assert breaks(receiver) == stored_breaks(breakwatch)
    sent = {(path, h["Content-Type"], h.get("Content-Encoding")) for path, h, _, _ in receiver.requests}
    assert sent == {("/v1/metrics", "application/json", "gzip"), ("/v1/logs", "application/x-protobuf", None)}


def test_a_sweep_does_not_depend_on_an_endpoint_that_a_variable_names(breakwatch, models):
    breakwatch.run("sweep", "--quiet", *FAST, OTEL_EXPORTER_OTLP_ENDPOINT=f"http://127.0.0.1:{free_port()}")


def test_a_daemon_repeats_the_state_and_keeps_its_identity(breakwatch, models, receiver):
    sweep(breakwatch, receiver)
    first = receiver.resource("/v1/metrics")["service.instance.id"]
    receiver.requests.clear()
    child, _ = breakwatch.serve("--exporters.otlp.endpoint", receiver.url, "--exporters.otlp.interval", "1s")
    assert eventually(lambda: len(receiver.of("/v1/metrics")) >= 3)
    times = [request.resource_metrics[0].scope_metrics[0].metrics[0].gauge.data_points or
             request.resource_metrics[0].scope_metrics[0].metrics[0].sum.data_points
             for request in receiver.of("/v1/metrics")]  # fmt: skip
    assert [points[0].time_unix_nano for points in times] == sorted({points[0].time_unix_nano for points in times})
    assert breaks(receiver) == stored_breaks(breakwatch)
    assert receiver.resource("/v1/metrics")["service.instance.id"] == first
    child.send_signal(signal.SIGTERM)
    assert child.wait(30) == 0


def test_doctor_asks_the_receiver_of_each_signal(breakwatch, receiver):
    found = json.loads(breakwatch.run("doctor", "--json", "--exporters.otlp.endpoint", receiver.url).stdout)
    states = {row["check"]: row["state"] for row in found["checks"] if row["check"].startswith("otlp")}
    assert states == {"otlp metrics": "ok", "otlp logs": "ok"}
    assert receiver.points() == {} and receiver.records() == []
