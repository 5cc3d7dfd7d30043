"""Shared by the tests of docker/ and the Jenkinsfile."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def go_build(tmp_path_factory):
    """Compiles a package of a module in this folder. Go is in the tests' Python environment, so nothing is skipped."""
    go = shutil.which("go", path=str(Path(sys.executable).parent)) or shutil.which("go")
    assert go, "go is not installed: make test-venv"

    def build(module, package="."):
        program = tmp_path_factory.mktemp("go") / module
        environment = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0"}
        command = [go, "build", "-o", program, package]
        subprocess.run(command, cwd=ROOT / "tests/docker" / module, env=environment, check=True, timeout=550)
        return program

    return build


@pytest.fixture(scope="session")
def docker_library(go_build):
    """Asks Docker's own libraries (tools/main.go): the parsed answer."""
    program = go_build("tools")

    def ask(*arguments, **env):
        done = subprocess.run(
            [program, *arguments], env=os.environ | env, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def project(docker_library, tmp_path_factory):
    """compose.yaml as Docker resolves it, with all profiles."""
    cloud = tmp_path_factory.mktemp("compose") / "grafana-cloud.env"
    cloud.write_text("LOKI_URL=https://logs.example.org\nLOKI_GRAFANA_CLOUD_API_KEY=key\n")
    return docker_library("compose", ROOT / "docker/compose.yaml", COMPOSE_PROFILES="*", GRAFANA_CLOUD_FILE=str(cloud))


@pytest.fixture(scope="session")
def services(project):
    return project["services"]


@pytest.fixture
def load_yaml():
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")

    class UniqueKeys(yaml.SafeLoader):
        """Rejects a duplicate key, which YAML readers accept silently."""

    def mapping(loader, node):
        names = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        twice = {name for name in names if names.count(name) > 1}
        assert not twice, f"{node.start_mark}: stands twice: {twice}"
        loader.flatten_mapping(node)
        return dict(loader.construct_pairs(node, deep=True))

    UniqueKeys.add_constructor("tag:yaml.org,2002:map", mapping)
    return lambda path: yaml.load(Path(path).read_text(), UniqueKeys)


@pytest.fixture
def setting_variables(load_yaml) -> set[str]:
    """The environment variable of every setting, from the example file, which lists them all."""

    def names(node, prefix):
        for key, value in node.items():
            if isinstance(value, dict):
                yield from names(value, f"{prefix}_{key}")
            else:
                yield f"{prefix}_{key}".upper()

    return set(names(load_yaml(ROOT / "config/breakwatch.example.yaml"), "BREAKWATCH"))
