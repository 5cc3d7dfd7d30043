"""What compose.yaml starts for alerts, with Debian's Prometheus and Alertmanager: how an alert gets to a receiver, and
the commands that check the health of the servers."""

import http.server
import json
import queue
import re
import subprocess

import pytest
import yaml
from e2e_support import ROOT, LocalServer, Process, free_port, needs

SERVICES = yaml.safe_load((ROOT / "docker/compose.yaml").read_text())["services"]


@pytest.fixture
def receiver():
    """An HTTP server: its address, and what was posted to it."""
    posted = queue.Queue()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            posted.put((self.path, json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = LocalServer(Handler)
    yield server.url, posted
    server.close()


@pytest.fixture
def alertmanager(tmp_path, processes, receiver):
    """The shipped configuration, without its waits, and with an address for each receiver."""
    config = yaml.safe_load((ROOT / "docker/provisioning/alertmanager.yml").read_text())
    config["route"] |= {"group_wait": "0s"}
    for one in config["receivers"]:
        one["webhook_configs"] = [{"url": f"{receiver[0]}/{one['name']}"}]
    path = tmp_path / "alertmanager.yml"
    path.write_text(yaml.safe_dump(config))
    port = free_port()
    flags = [flag for flag in SERVICES["alertmanager"]["command"] if not flag.startswith(("--config", "--storage"))]
    argv = [needs("prometheus-alertmanager"), f"--config.file={path}", f"--storage.path={tmp_path / 'alertmanager'}",
            f"--web.listen-address=127.0.0.1:{port}", *flags]  # fmt: skip
    process = Process(argv, f"http://127.0.0.1:{port}/-/ready", tmp_path / "alertmanager.log")
    process.url = f"http://127.0.0.1:{port}"
    processes.append(process)
    return process.start()


@pytest.fixture
def alerting_prometheus(tmp_path, start_prometheus, alertmanager):
    """The shipped alerts, without their waits; it scrapes nothing."""
    rules = (ROOT / "dashboards/rules/alerts.yml").read_text()
    (tmp_path / "alerts.yml").write_text(re.sub(r"^ +for: .*\n", "", rules, flags=re.MULTILINE))
    target = alertmanager.url.removeprefix("http://")
    return start_prometheus(
        "global: {evaluation_interval: 250ms}\nrule_files: [alerts.yml]\n"
        f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{target}']}}]}}]}}\n",
        # The first try is before Prometheus knows its Alertmanager.
        "--rules.alert.resend-delay=1s",
        *[flag for flag in SERVICES["prometheus"]["command"] if "retention" in flag and "${" not in flag],
    )


def test_an_alert_of_the_shipped_rules_reaches_the_receiver_of_its_severity(alerting_prometheus, receiver):
    path, message = receiver[1].get(timeout=60)
    assert path == "/page" and message["status"] == "firing"
    (alert,) = message["alerts"]
    assert alert["labels"]["alertname"] == "BreakwatchGone", "without any metric of breakwatch"
    assert alert["annotations"]["runbook_url"].startswith("dashboards/rules/RUNBOOKS.md#")


def healthy(service, url):
    """Whether the health check of compose.yaml succeeds on a server at another address."""
    kind, *command = SERVICES[service]["healthcheck"]["test"]
    assert kind == "CMD"
    needs(command[0])
    command = [re.sub(r"http://127\.0\.0\.1:\d+", url, word) for word in command]
    assert any(url in word for word in command), "the check asks this server"
    return subprocess.run(command, capture_output=True, timeout=30, check=False).returncode == 0


def test_health_checks_succeed_on_a_server_and_fail_without(gateway, alertmanager):
    nothing = f"http://127.0.0.1:{free_port()}"
    for service, server in {
        "pushgateway": gateway,
        "alertmanager": alertmanager,  # Debian's promtool is too old for the check of Prometheus
    }.items():
        assert healthy(service, server.url), service
        assert not healthy(service, nothing), service
