"""The files that compose mounts into Prometheus, Alertmanager, Loki and Grafana."""

import re
import shutil
import subprocess

import pytest


def test_prometheus_accepts_its_configuration(root, tmp_path):
    if not shutil.which("promtool"):
        pytest.skip("promtool is not installed")
    # As compose mounts them: the rules beside the configuration.
    shutil.copy(root / "docker/provisioning/prometheus.yml", tmp_path)
    shutil.copytree(root / "dashboards/rules", tmp_path / "rules")
    checked = subprocess.run(
        ["promtool", "check", "config", tmp_path / "prometheus.yml"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert "rule file" in checked.stdout


def test_prometheus_keeps_the_job_that_was_pushed(root, load_yaml):
    jobs = {job["job_name"]: job for job in load_yaml(root / "docker/provisioning/prometheus.yml")["scrape_configs"]}
    assert jobs["pushgateway"]["honor_labels"] is True


def prometheus_config(root, load_yaml):
    return load_yaml(root / "docker/provisioning/prometheus.yml")


def test_prometheus_scrapes_often_enough_for_its_queries_and_no_more(root, load_yaml):
    config = prometheus_config(root, load_yaml)
    assert config["global"]["scrape_interval"] == "2m", "a query looks back 5 minutes: two scrapes"
    assert all("scrape_interval" not in job for job in config["scrape_configs"])
    sources = load_yaml(root / "docker/provisioning/grafana/datasources/breakwatch.yaml")["datasources"]
    assert sources[0]["jsonData"]["timeInterval"] == config["global"]["scrape_interval"], "the least $__rate_interval"


def test_prometheus_scrapes_and_alerts_services_that_exist(root, load_yaml, services):
    config = prometheus_config(root, load_yaml)
    static = [one for job in config["scrape_configs"] for one in job["static_configs"]]
    static += [one for manager in config["alerting"]["alertmanagers"] for one in manager["static_configs"]]
    for target in (target for one in static for target in one["targets"]):
        host, port = target.split(":")
        assert host == "127.0.0.1" or host in services, target
        published = [one["target"] for one in services.get(host, {}).get("ports", [])]
        assert host == "127.0.0.1" or int(port) in published, target


def test_alertmanager_accepts_its_configuration(root):
    checked = subprocess.run(
        ["amtool", "check-config", root / "docker/provisioning/alertmanager.yml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [("severity=critical", "page"), ("severity=warning", "page"), ("severity=info", "changes"), ("other=x", "page")],
)
def test_alerts_about_models_are_apart_from_those_that_need_someone(root, labels, receiver):
    command = ["amtool", "config", "routes", "test", f"--config.file={root / 'docker/provisioning/alertmanager.yml'}"]
    done = subprocess.run([*command, labels], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == receiver


def test_alertmanager_names_alerts_and_labels_that_the_rules_have(root, load_yaml):
    rules = [rule for group in load_yaml(root / "dashboards/rules/alerts.yml")["groups"] for rule in group["rules"]]
    alerts = {rule["alert"] for rule in rules}
    text = (root / "docker/provisioning/alertmanager.yml").read_text()
    named = set(re.findall(r'alertname!?="(\w+)"', text))
    assert named and named <= alerts
    severities = {rule["labels"]["severity"] for rule in rules}
    assert set(re.findall(r'severity="(\w+)"', text)) <= severities


def test_loki_accepts_structured_metadata_and_sends_no_usage_report(root, load_yaml):
    config = load_yaml(root / "docker/provisioning/loki.yaml")
    assert config["limits_config"]["allow_structured_metadata"] is True
    assert config["schema_config"]["configs"][-1]["schema"] == "v13"
    assert config["analytics"]["reporting_enabled"] is False


def test_grafana_reads_the_dashboards_that_are_mounted(root, load_yaml, services):
    grafana = services["grafana"]
    mounted = [mount["target"] for mount in grafana["volumes"]]
    (provider,) = load_yaml(root / "docker/provisioning/grafana/dashboards/breakwatch.yaml")["providers"]
    assert provider["options"]["path"] in mounted
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (root / "dashboards/grafana" / home.rsplit("/", 1)[1]).exists()


def test_grafana_has_a_source_of_each_kind_that_a_dashboard_uses(root, load_yaml, services):
    sources = load_yaml(root / "docker/provisioning/grafana/datasources/breakwatch.yaml")["datasources"]
    for source in sources:
        host = re.match(r"http://([a-z]+):\d+$", source["url"])
        assert host and host[1] in services
        assert source["editable"] is False
    asked = set()
    for dashboard in (root / "dashboards/grafana").glob("*.json"):
        asked |= set(re.findall(r'"type": "(prometheus|loki)"', dashboard.read_text()))
    assert asked <= {source["type"] for source in sources}
