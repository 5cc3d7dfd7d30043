"""Metrics by remote write, from the program to the packaged Prometheus with its receiver."""

import signal

import pytest
from e2e_support import breaks_by_series, eventually, get
from test_metrics import expected, three_models


@pytest.fixture
def receiver(start_prometheus):
    process = start_prometheus("global: {}\n", "--web.enable-remote-write-receiver")
    process.write_url = process.url + "/api/v1/write"
    return process


def settings(receiver, **more):
    keys = {"url": receiver.write_url, "interval": "500ms"} | more
    return [text for key, value in keys.items() for text in (f"--exporters.remote_write.{key}", value)]


def test_a_one_shot_sweep_writes_what_the_store_has(breakwatch, hub, receiver):
    three_models(hub)
    breakwatch.run("sweep", *settings(receiver, pool="gpu-a"))
    assert breaks_by_series(receiver.url) == expected(breakwatch)
    labels = get(receiver.url + "/api/v1/series?match[]=compile_breaks_total")[1]
    assert '"job":"breakwatch"' in labels and '"pool":"gpu-a"' in labels


def test_a_model_that_leaves_is_gone_at_once(breakwatch, hub, receiver):
    three_models(hub)
    child, address = breakwatch.serve(*settings(receiver), "--retention.unranked_sweeps", "0")
    breakwatch.run("sweep")
    assert eventually(lambda: any(model == "org/clean" for model, _, _ in breaks_by_series(receiver.url)))
    hub.remove("org/clean")
    breakwatch.run("sweep")
    assert eventually(lambda: breaks_by_series(receiver.url) == expected(breakwatch)), breaks_by_series(receiver.url)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_daemon_repeats_its_metrics_also_after_a_restart_of_prometheus(breakwatch, hub, receiver):
    three_models(hub)
    child, _ = breakwatch.serve(*settings(receiver), "--delivery.max_backoff", "500ms")
    breakwatch.run("sweep")
    wanted = expected(breakwatch)
    assert eventually(lambda: breaks_by_series(receiver.url) == wanted)
    receiver.kill()
    assert eventually(lambda: "remote_write: failed" in (breakwatch.tmp_path / "serve.log").read_text())
    receiver.start()
    count = "count_over_time(compile_graphs[20s])"
    first = eventually(lambda: samples(receiver, count))
    assert eventually(lambda: samples(receiver, count) > first), "no further samples"
    assert breaks_by_series(receiver.url) == wanted
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def samples(receiver, query):
    """The value of the first series, or 0."""
    text = get(f"{receiver.url}/api/v1/query?query={query}")[1]
    return int(text.split('"value":[')[1].split('"')[1]) if '"value":[' in text else 0


def test_a_receiver_that_is_away_leads_to_exit_code_3_and_the_next_run_delivers(breakwatch, hub, receiver):
    three_models(hub)
    receiver.kill()
    arguments = ("sweep", *settings(receiver), "--delivery.drain_timeout", "1s")
    done = breakwatch.run(*arguments, code=3)
    assert "remote_write" in done.stderr
    receiver.start()
    breakwatch.run(*arguments)
    assert breaks_by_series(receiver.url) == expected(breakwatch)


def test_settings_that_contradict_are_refused(breakwatch, receiver):
    token = breakwatch.tmp_path / "token"
    token.write_text("secret\n")
    done = breakwatch.run("config", "check", *settings(receiver, bearer_token_file=str(token), username="me",
                                                       external_labels="cluster=a", headers="Authorization: x"), code=78)  # fmt: skip
    assert "headers" in done.stderr and "Authorization" in done.stderr
    done = breakwatch.run("config", "check", *settings(receiver, bearer_token_file=str(token), username="me"), code=78)
    assert "exporters.remote_write.username" in done.stderr and "bearer token" in done.stderr
