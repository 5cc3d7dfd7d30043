"""The files that compose mounts into Prometheus, Loki and Grafana."""

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


def test_prometheus_scrapes_services_that_exist(root, load_yaml):
    services = load_yaml(root / "docker/compose.yaml")["services"]
    for job in load_yaml(root / "docker/provisioning/prometheus.yml")["scrape_configs"]:
        for config in job["static_configs"]:
            for target in config["targets"]:
                assert target.split(":")[0] in {*services, "127.0.0.1"}, target


def test_loki_accepts_structured_metadata_and_sends_no_usage_report(root, load_yaml):
    config = load_yaml(root / "docker/provisioning/loki.yaml")
    assert config["limits_config"]["allow_structured_metadata"] is True
    assert config["schema_config"]["configs"][-1]["schema"] == "v13"
    assert config["analytics"]["reporting_enabled"] is False


def test_grafana_reads_the_dashboards_that_are_mounted(root, load_yaml):
    grafana = load_yaml(root / "docker/compose.yaml")["services"]["grafana"]
    mounted = [mount.split(":")[1] for mount in grafana["volumes"]]
    (provider,) = load_yaml(root / "docker/provisioning/grafana/dashboards/breakwatch.yaml")["providers"]
    assert provider["options"]["path"] in mounted
    home = grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"]
    assert (root / "dashboards/grafana" / home.rsplit("/", 1)[1]).exists()


def test_grafana_has_a_source_of_each_kind_that_a_dashboard_uses(root, load_yaml):
    sources = load_yaml(root / "docker/provisioning/grafana/datasources/breakwatch.yaml")["datasources"]
    services = load_yaml(root / "docker/compose.yaml")["services"]
    for source in sources:
        host = re.match(r"http://([a-z]+):\d+$", source["url"])
        assert host and host[1] in services
        assert source["editable"] is False
    asked = set()
    for dashboard in (root / "dashboards/grafana").glob("*.json"):
        asked |= set(re.findall(r'"type": "(prometheus|loki)"', dashboard.read_text()))
    assert asked <= {source["type"] for source in sources}
