"""compose.yaml: pinned, hardened, not reachable from the network, and with files and settings that exist."""

import re
import subprocess
import sys

import pytest

PINNED = re.compile(r"^[a-z0-9./-]+:v?\d+\.\d+(\.\d+)?[a-z0-9.-]*(@sha256:[0-9a-f]{64})?$")


@pytest.fixture
def compose(root, load_yaml):
    return load_yaml(root / "docker/compose.yaml")


@pytest.fixture
def services(compose):
    return compose["services"]


def test_has_every_service(services):
    assert set(services) == {"breakwatch", "pushgateway", "prometheus", "loki", "alloy", "grafana"}


def test_pins_every_image_to_a_version(services):
    for name, service in services.items():
        assert PINNED.match(service["image"]), f"{name}: {service['image']}"


def test_hardens_every_service(services):
    for name, service in services.items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert not service.get("privileged") and "cap_add" not in service and "network_mode" not in service, name
        assert service["pids_limit"] > 0 and service["mem_limit"], name
        assert service["logging"]["options"]["max-size"], name


def test_runs_nothing_as_root(services):
    for name, service in services.items():
        user = service.get("user", "")
        # The image of breakwatch names its own user, which the test of the Dockerfile checks.
        assert name == "breakwatch" or (user and user.split(":")[0] not in ("0", "root")), name


def test_publishes_ports_on_loopback_only(services):
    for name, service in services.items():
        for port in service.get("ports", []):
            assert port.startswith("127.0.0.1:"), f"{name}: {port}"


def test_checks_the_health_of_every_service(services):
    for name, service in services.items():
        test = service["healthcheck"]["test"]
        assert test[0] == "CMD" and len(test) > 1, name
        assert service["healthcheck"]["timeout"], name


def test_waits_only_for_services_that_exist_and_are_started(services):
    for name, service in services.items():
        for other in service.get("depends_on", {}):
            assert other in services, f"{name} waits for {other}"
            assert set(services[other].get("profiles", [])) <= set(service.get("profiles", [])), name


def test_mounts_only_what_is_in_the_tree_or_declared(root, compose, services):
    for name, service in services.items():
        for mount in service.get("volumes", []):
            source, *_ = mount.split(":")
            if source.startswith("."):
                assert (root / "docker" / source).resolve().exists(), f"{name}: {mount}"
                assert mount.endswith(":ro"), f"{name}: {mount} is writable"
            else:
                assert source in compose["volumes"], f"{name}: {mount}"


def test_names_only_settings_that_exist(services, setting_variables):
    for variable in services["breakwatch"]["environment"]:
        assert not variable.startswith("BREAKWATCH_") or variable in setting_variables, variable


def test_passes_the_token_as_a_file(services, compose):
    service = services["breakwatch"]
    assert "HF_TOKEN" not in service["environment"]
    assert service["environment"]["HF_TOKEN_PATH"] == "/run/secrets/hf_token"
    assert compose["secrets"]["hf_token"]["file"].endswith(":-/dev/null}")


def test_conforms_to_the_compose_specification(root):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec"]
    checked = subprocess.run([*command, str(root / "docker/compose.yaml")], capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout
