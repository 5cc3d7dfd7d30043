"""compose.yaml as Docker's own library resolves it: pinned, hardened, not reachable from the network, with files and
settings that exist."""

import re
from pathlib import Path

PINNED = re.compile(r"^[a-z0-9./-]+:v?\d+\.\d+(\.\d+)?[a-z0-9.-]*(@sha256:[0-9a-f]{64})?$")
ON_DEMAND = {"alloy": "alloy", "jenkins": "jenkins"}  # service: profile
OWN_IMAGES = {"breakwatch", "jenkins"}  # the tests of their Dockerfiles check the users


def test_has_every_service(services):
    always = {"breakwatch", "pushgateway", "prometheus", "alertmanager", "loki", "grafana"}
    assert services.keys() == always | ON_DEMAND.keys()
    assert {name: service["profiles"][0] for name, service in services.items() if "profiles" in service} == ON_DEMAND


def test_starts_from_a_clone_without_any_other_file(docker_library, root):
    project = docker_library("compose", root / "docker/compose.yaml", COMPOSE_PROFILES="")
    assert not ON_DEMAND.keys() & project["services"].keys()


def test_pins_every_image_to_a_version(services):
    for name, service in services.items():
        assert PINNED.match(service["image"]), f"{name}: {service['image']}"


def test_hardens_every_service(services):
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.get("privileged") and "cap_add" not in service and "network_mode" not in service, name
        assert service["pids_limit"] > 0 and int(service["mem_limit"]) > 0, name
        assert service["logging"]["options"]["max-size"], name


def test_relaxes_only_what_the_sandbox_of_captures_needs(services, root):
    for name, service in services.items():
        relaxed = set(service["security_opt"]) - {"no-new-privileges:true"}
        if name in OWN_IMAGES:  # captures run there
            assert relaxed == {"seccomp=seccomp.json", "apparmor=unconfined", "systempaths=unconfined"}
            assert (root / "docker/seccomp.json").exists(), "it is found beside the compose file"
        else:
            assert not relaxed, name


def test_runs_nothing_as_root(services):
    for name, service in services.items():
        user = service.get("user", "")
        assert name in OWN_IMAGES or (user and user.split(":")[0] not in ("0", "root")), name


def test_publishes_ports_on_loopback_only(services):
    published = {name: service["ports"] for name, service in services.items() if service.get("ports")}
    assert {"breakwatch", "grafana", "prometheus", "pushgateway", "alertmanager"} <= published.keys()
    for name, ports in published.items():
        assert [port["host_ip"] for port in ports] == ["127.0.0.1"], name


def test_checks_the_health_of_every_service(services):
    for name, service in services.items():
        test = service["healthcheck"]["test"]
        assert test[0] == "CMD" and len(test) > 1, name
        assert service["healthcheck"]["timeout"], name


def test_waits_only_for_services_that_are_started_with_it(services):
    for name, service in services.items():
        for other in service.get("depends_on", {}):
            assert set(services[other].get("profiles", [])) <= set(service.get("profiles", [])), name


def test_mounts_only_what_is_in_the_tree_or_declared(root, project, services):
    for name, service in services.items():
        for mount in service.get("volumes", []):
            if mount["type"] == "bind":
                source = Path(mount["source"])
                assert source.is_relative_to(root), f"{name}: {source}"
                # A worktree of git has a file in its place.
                assert source.exists() or source == root / ".git", f"{name}: {source}"
                assert mount["read_only"], f"{name}: {source} is writable"
            else:
                assert mount["source"] in project["volumes"], f"{name}: {mount}"


def test_keeps_what_a_service_stores_on_a_volume(services):
    for name, folder in {
        "breakwatch": "/var/lib/breakwatch",
        "prometheus": "/prometheus",
        "alertmanager": "/alertmanager",
        "loki": "/loki",
        "grafana": "/var/lib/grafana",
        "jenkins": "/var/jenkins_home",
    }.items():
        kept = [mount["target"] for mount in services[name]["volumes"] if mount["type"] == "volume"]
        assert kept == [folder], name


def test_names_only_settings_that_exist(services, setting_variables):
    for variable in services["breakwatch"]["environment"]:
        assert not variable.startswith("BREAKWATCH_") or variable in setting_variables, variable


def test_passes_secrets_as_files(services, project):
    service = services["breakwatch"]
    assert "HF_TOKEN" not in service["environment"]
    assert service["environment"]["HF_TOKEN_PATH"] == "/run/secrets/hf_token"
    assert [secret["target"] for secret in service["secrets"]] == ["/run/secrets/hf_token"]
    assert project["secrets"]["hf_token"]["file"] == "/dev/null", "without a file, without a token"
    password = project["secrets"]["jenkins_admin_password"]["file"]
    assert password.endswith("docker/secrets/jenkins_admin_password"), "without a file, Jenkins does not start"
    assert services["alloy"]["environment"]["LOKI_GRAFANA_CLOUD_API_KEY"] == "key", "from the file of Grafana Cloud"
    for name, other in services.items():
        for variable in (other.get("environment") or {}).keys() - {"LOKI_GRAFANA_CLOUD_API_KEY"}:
            assert not re.search("PASSWORD|TOKEN$|SECRET|API_KEY", variable), f"{name}: {variable}"


def test_bounds_what_prometheus_keeps_by_time_and_by_size(services):
    flags = dict(flag.removeprefix("--").split("=", 1) for flag in services["prometheus"]["command"])
    assert flags["storage.tsdb.retention.time"] == "180d"
    assert re.fullmatch(r"\d+GB", flags["storage.tsdb.retention.size"])


def test_everyone_on_loopback_may_explore_and_nobody_may_save(services):
    environment = services["grafana"]["environment"]
    assert environment["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert environment["GF_USERS_VIEWERS_CAN_EDIT"] == "true", "Explore, and edits that cannot be saved"
