"""Metrics by remote write, from the program to the packaged Prometheus with its receiver, and to VictoriaMetrics.

`make test-victoriametrics` compiles the latter."""

import json
import signal
import urllib.parse
from types import SimpleNamespace

import pytest
import yaml
from e2e_support import ROOT, Process, breaks_by_series, eventually, free_port, get
from store_support import SITE
from test_metrics import expected, three_models

RULES = [rule for file in sorted((ROOT / "dashboards/rules").glob("*.yml"))
         for group in yaml.safe_load(file.read_text())["groups"] for rule in group["rules"]]  # fmt: skip
RECORDED = {rule["record"]: rule["expr"] for rule in RULES if "record" in rule}
VICTORIA = ROOT / ".cache/victoriametrics/victoria-metrics"
ALERTS = {rule["alert"]: rule["expr"] for rule in RULES if "alert" in rule}


def start_victoria(tmp_path, processes):
    if not VICTORIA.exists():
        pytest.skip(f"no {VICTORIA.name}: `make test-victoriametrics` provides it")
    port = free_port()
    argv = [str(VICTORIA), f"-httpListenAddr=127.0.0.1:{port}", f"-storageDataPath={tmp_path / 'victoria'}",
            "-search.latencyOffset=0s", "-search.disableCache"]  # fmt: skip
    process = Process(argv, f"http://127.0.0.1:{port}/health", tmp_path / "victoria.log")
    process.url = f"http://127.0.0.1:{port}"
    processes.append(process)
    return process.start()


@pytest.fixture(params=["prometheus", "victoriametrics"])
def receiver(request, start_prometheus, tmp_path, processes):
    if request.param == "victoriametrics":
        process = start_victoria(tmp_path, processes)
    else:
        process = start_prometheus("global: {}\n", "--web.enable-remote-write-receiver")
    process.write_url = process.url + "/api/v1/write"
    return process


def settings(receiver, **more):
    keys = {"url": receiver.write_url, "interval": "500ms"} | more
    return [text for key, value in keys.items() for text in (f"--exporters.remote_write.{key}", value)]


def shows(receiver, wanted):
    """VictoriaMetrics finds a sample about a second after it has stored it."""
    return eventually(lambda: breaks_by_series(receiver.url) == wanted)


def test_a_one_shot_sweep_writes_what_the_store_has(breakwatch, hub, receiver):
    three_models(hub)
    breakwatch.run("sweep", *settings(receiver, pool="gpu-a"))
    assert shows(receiver, expected(breakwatch)), breaks_by_series(receiver.url)
    labels = get(receiver.url + "/api/v1/series?match[]=compile_breaks_total")[1]
    assert '"job":"breakwatch"' in labels and '"pool":"gpu-a"' in labels


def test_a_model_that_leaves_is_gone_at_once(breakwatch, hub, receiver):
    three_models(hub)
    child, address = breakwatch.serve(*settings(receiver), "--retention.unranked_sweeps", "0")
    breakwatch.run("sweep")
    assert eventually(lambda: any(model == "org/clean" for model, _, _ in breaks_by_series(receiver.url)))
    hub.remove("org/clean")
    breakwatch.run("sweep")
    assert shows(receiver, expected(breakwatch)), breaks_by_series(receiver.url)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_daemon_repeats_its_metrics_also_after_a_restart_of_prometheus(breakwatch, hub, receiver):
    three_models(hub)
    child, _ = breakwatch.serve(*settings(receiver), "--delivery.max_backoff", "500ms")
    breakwatch.run("sweep")
    wanted = expected(breakwatch)
    assert shows(receiver, wanted), breaks_by_series(receiver.url)
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
    assert shows(receiver, expected(breakwatch)), breaks_by_series(receiver.url)


def rows(prometheus, query):
    status, text = get(f"{prometheus.url}/api/v1/query?query={urllib.parse.quote(query)}")
    assert status == 200, text
    return json.loads(text)["data"]["result"]


def test_the_series_are_those_that_come_through_a_pushgateway(breakwatch, hub, gateway, start_prometheus):
    three_models(hub)
    prometheus = start_prometheus(
        "global: {scrape_interval: 250ms}\nscrape_configs:\n- job_name: gateway\n  honor_labels: true\n"
        f"  static_configs: [{{targets: ['{gateway.url.removeprefix('http://')}']}}]\n",
        "--web.enable-remote-write-receiver",
    )
    breakwatch.run("sweep", "--exporters.pushgateway.url", gateway.url, "--exporters.pushgateway.pool", "pushed",
                   "--exporters.remote_write.url", prometheus.url + "/api/v1/write",
                   "--exporters.remote_write.pool", "written")  # fmt: skip

    def of(pool):
        # Without the state of delivery, which differs from exporter to exporter.
        names = "compile_.*|breakwatch_(model|reason|sweep|build|toolchain)_.*"
        return {
            frozenset((k, v) for k, v in row["metric"].items() if k != "pool"): row["value"][1]
            for row in rows(prometheus, f'{{job="breakwatch", pool="{pool}", __name__=~"{names}"}}')
        }

    assert eventually(lambda: of("pushed"))
    assert len(of("written")) > 30
    assert of("written") == of("pushed")


def test_recording_rules_find_their_series_and_no_alert_fires(breakwatch, hub, start_prometheus):
    hub.model("org/broken", 300, sites=[SITE])
    hub.model("org/clean", 200)
    port = free_port()
    prometheus = start_prometheus(
        "global: {scrape_interval: 250ms}\nscrape_configs:\n- job_name: breakwatch\n"
        f"  static_configs: [{{targets: ['127.0.0.1:{port}'], labels: {{pool: gpu-a}}}}]\n",
        "--web.enable-remote-write-receiver",
    )
    write = ["--exporters.remote_write.url", prometheus.url + "/api/v1/write", "--exporters.remote_write.pool", "gpu-a"]
    child = breakwatch.start("serve", "--web.listen_address", f"127.0.0.1:{port}", "--sweep.interval", "1h", *write)
    assert eventually(lambda: rows(prometheus, RECORDED["model:compile_breaks:sum"]))
    assert eventually(lambda: rows(prometheus, "breakwatch_daemon_info"))
    assert eventually(lambda: not rows(prometheus, ALERTS["BreakwatchExportsFail"]))
    assert {name for name, rule in RECORDED.items() if not rows(prometheus, rule)} == set()
    firing = {name: found for name, rule in ALERTS.items() if (found := rows(prometheus, rule))}
    assert firing == {}
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_settings_that_contradict_are_refused(breakwatch):
    receiver = SimpleNamespace(write_url="http://127.0.0.1:9/api/v1/write")
    token = breakwatch.tmp_path / "token"
    token.write_text("secret\n")
    both = settings(receiver, bearer_token_file=str(token), username="me")
    done = breakwatch.run("config", "check", *both, code=78)
    assert "exporters.remote_write.username" in done.stderr and "bearer token" in done.stderr
    done = breakwatch.run("config", "check", *settings(receiver, headers="Authorization: x"), code=78)
    assert "headers" in done.stderr and "Authorization" in done.stderr
