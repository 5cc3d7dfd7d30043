"""Shared by the tests of docker/ and the Jenkinsfile."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def root() -> Path:
    return ROOT


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
