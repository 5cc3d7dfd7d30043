"""The signals that alerts read: each series in one place, and none that freezes when a one-shot sweep exits."""

import json
import re
import shutil
import signal
import time
import urllib.parse

from e2e_support import ROOT, eventually, get

OURS = "(?:compile|breakwatch)_.+"


def pushed(gateway, name, labels=""):
    """The values of a series in the Pushgateway, or none."""
    text = get(gateway.url + "/metrics")[1]
    found = re.findall(rf"^{name}\{{(.*)\}} (\S+)$", text, re.MULTILINE)
    return [float(value) for series, value in found if labels in series]


def ask(prometheus, expression):
    status, text = get(f"{prometheus.url}/api/v1/query?query={urllib.parse.quote(expression)}")
    return json.loads(text)["data"]["result"] if status == 200 else []


def shipped_configuration(tmp_path, gateway, address):
    """The scrape configuration of docker/, with the rules, for these addresses and the pool of the test."""
    text = (ROOT / "docker/provisioning/prometheus.yml").read_text()
    rules = shutil.copytree(ROOT / "dashboards/rules", tmp_path / "rules")
    # A group is evaluated first at an offset within its interval that depends on its path: up to a minute here.
    for file in rules.glob("*.yml"):
        file.write_text(re.sub(r"^    interval: 1m$", "    interval: 250ms", file.read_text(), flags=re.MULTILINE))
    text = re.sub(r"(scrape_interval|scrape_timeout|evaluation_interval): \S+", r"\1: 250ms", text)
    text = text.replace("pushgateway:9091", gateway.url.removeprefix("http://"))
    text = text.replace('["breakwatch:9723"]', f'["{address.removeprefix("http://")}"]\n        labels: {{pool: eu}}')
    return text.partition("  - job_name: prometheus\n")[0]


def test_each_series_of_a_daemon_is_scraped_from_one_place(breakwatch, hub, gateway, start_prometheus, tmp_path):
    hub.model("org/broken", 2, sites=[["branching", "GB0170", 4]])
    push = ("--exporters.pushgateway.url", gateway.url, "--exporters.pushgateway.pool", "eu")
    breakwatch.run("sweep", "--quiet", *push)
    assert pushed(gateway, "breakwatch_export_attempts_total"), "a one-shot sweep has no /metrics"
    assert pushed(gateway, "breakwatch_workers_started_total")
    child, address = breakwatch.serve(*push, "--sweep.interval", "24h")
    prometheus = start_prometheus(shipped_configuration(tmp_path, gateway, address))

    def places():
        found = {}
        for row in ask(prometheus, f'group by (__name__, job, pool, instance) ({{__name__=~"{OURS}"}})'):
            labels = row["metric"]
            found.setdefault(labels["__name__"], set()).add(labels.get("instance", "the Pushgateway"))
            assert (labels["job"], labels["pool"]) == ("breakwatch", "eu"), labels
        return found

    both = {"compile_breaks_total", "breakwatch_daemon_info", "breakwatch_sweep_next_due_timestamp_seconds"}
    # What the one-shot sweep had pushed goes with the first push of the daemon.
    assert eventually(lambda: both <= places().keys() and all(len(of) == 1 for of in places().values())), places()
    assert places()["breakwatch_export_attempts_total"] == {address.removeprefix("http://")}
    assert places()["breakwatch_workers_started_total"] == {address.removeprefix("http://")}
    assert places()["breakwatch_build_info"] == {"the Pushgateway"}
    assert eventually(lambda: ask(prometheus, "breakwatch:full_graph:ratio")), "the rules are recorded"

    def alerts():
        return {row["metric"]["alertname"] for row in ask(prometheus, "ALERTS")}

    assert eventually(lambda: "BreakwatchDaemonNotScraped" not in alerts()), "pending only until it is scraped"
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0
    assert eventually(lambda: "BreakwatchDaemonNotScraped" in alerts()), "pending, until it lasted for 15 min"


def test_a_one_shot_sweep_leaves_the_state_of_delivery_as_it_is_at_its_end(breakwatch, hub, gateway):
    hub.model("org/one", 2)
    breakwatch.run("sweep", "--quiet", "--exporters.pushgateway.url", gateway.url, "--sweep.interval", "24h")
    assert pushed(gateway, "breakwatch_events_pending", 'exporter="file"') == [0.0]
    assert pushed(gateway, "breakwatch_events_oldest_timestamp_seconds") == []
    assert pushed(gateway, "breakwatch_export_last_failure_timestamp_seconds") == []
    assert pushed(gateway, "breakwatch_sweep_interval_seconds") == [86400.0]
    assert pushed(gateway, "breakwatch_sweep_next_due_timestamp_seconds") == []

    down = ("--exporters.loki.url", "http://127.0.0.1:1", "--delivery.drain_timeout", "1s",
            "--exporters.loki.start", "beginning")  # fmt: skip
    before = time.time()
    breakwatch.run("sweep", "--quiet", "--exporters.pushgateway.url", gateway.url, *down, code=3)
    (oldest,) = pushed(gateway, "breakwatch_events_oldest_timestamp_seconds", 'exporter="loki"')
    assert oldest < before, "the oldest event is one of the first sweep: nothing was sent to Loki yet"
    (failed,) = pushed(gateway, "breakwatch_export_last_failure_timestamp_seconds", 'exporter="loki"')
    assert before <= failed <= time.time()


def test_a_one_shot_sweep_that_fails_publishes_when(breakwatch, hub, gateway):
    hub.model("org/one", 2)
    push = ("--exporters.pushgateway.url", gateway.url)
    breakwatch.run("sweep", "--quiet", *push)
    assert pushed(gateway, "breakwatch_sweep_last_failure_timestamp_seconds") == []
    (succeeded,) = pushed(gateway, "breakwatch_sweep_last_success_timestamp_seconds")
    no_hub = ("--hub.source", "live", "--hub.endpoint", "http://127.0.0.1:1", "--hub.retries", "0")
    breakwatch.run("sweep", "--quiet", *push, *no_hub, code=69)
    (failed,) = pushed(gateway, "breakwatch_sweep_last_failure_timestamp_seconds")
    assert failed > succeeded
    breakwatch.run("sweep", "--quiet", *push)
    assert pushed(gateway, "breakwatch_sweep_last_failure_timestamp_seconds") == [failed], "the store keeps it"
    (succeeded,) = pushed(gateway, "breakwatch_sweep_last_success_timestamp_seconds")
    assert succeeded > failed
