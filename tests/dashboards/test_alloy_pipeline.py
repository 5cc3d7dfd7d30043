"""The Alloy pipeline, as far as it can be checked without Alloy: structure, references, and what it extracts."""

import re

import pytest
from dashboard_support import ROOT

TEXT = (ROOT / "dashboards" / "alloy" / "breakwatch.alloy").read_text(encoding="utf-8")
CODE = re.sub(r'"(?:[^"\\\n]|\\.)*"|//.*', lambda match: match.group() if match.group().startswith('"') else "", TEXT)
BARE = re.sub(r'"[^"\n]*"', '""', CODE)


def test_braces_and_quotes_close():
    depth = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for character in BARE:
        if character in "([{":
            depth.append(character)
        elif character in pairs:
            assert depth and depth.pop() == pairs[character]
    assert not depth
    assert CODE.count('"') % 2 == 0


def test_every_component_referred_to_is_defined():
    defined = {f"{kind}.{label}" for kind, label in re.findall(r'^([\w.]+) "(\w+)" \{', CODE, re.MULTILINE)}
    used = {name for name, _ in re.findall(r"\b((?:loki|local|prometheus)\.\w+\.\w+)\.(receiver|targets)\b", BARE)}
    assert used and used <= defined
    sinks = {name for name in defined if ".write." in name or ".remote_write." in name}
    assert sinks <= used


def test_stream_labels_are_bounded():
    (targets,) = re.findall(r"path_targets = \[\{(.*?)\}\]", CODE, re.DOTALL)
    labels = set(re.findall(r"^\s*(\w+)\s*=", targets, re.MULTILINE)) - {"__path__"}
    assert labels == {"service_name", "environment", "pool"}
    assert "stage.labels" not in CODE
    assert re.search(r'stage\.label_drop \{\s*values = \["filename"\]', CODE)


def test_metadata_and_time_are_those_of_the_line():
    (extracted,) = re.findall(r"expressions = \{(.*?)\}", CODE, re.DOTALL)
    (kept,) = re.findall(r"stage\.structured_metadata \{\s*values = \{(.*?)\}", CODE, re.DOTALL)
    fields = set(re.findall(r"(\w+)\s*=", extracted))
    assert fields == {"ts", "sweep_id", "model", "commit"}
    assert set(re.findall(r"(\w+)\s*=", kept)) == fields - {"ts"}
    assert re.search(r'source = "ts"\s*format = "RFC3339Nano"', CODE)


def test_follows_the_live_file_alone_and_keeps_the_gateways_labels():
    assert not re.search(r"\.jsonl[*?]", CODE), "rotated files would be read twice"
    gateway = CODE.partition('prometheus.scrape "pushgateway"')[2].partition("\n}")[0]
    assert re.search(r"honor_labels\s*= true", gateway)


def test_environment_is_read_by_the_function_that_exists():
    assert not re.search(r"(?<![\w.])env\(", BARE)


class Functions:
    """The functions of Alloy that the addresses are made with. Their calls are valid Python."""

    trim_suffix = staticmethod(str.removesuffix)
    replace = staticmethod(str.replace)


def address(component, **environment):
    """Where the component sends to."""
    block = CODE.partition(f"{component} {{")[2].partition("\n}")[0]
    (expression,) = re.findall(r"url\s*= (.*)", block)
    known = {"sys": Functions(), "string": Functions, "coalesce": lambda *values: next(filter(None, values))}
    known["sys"].env = lambda name: environment.get(name, "")
    return eval(expression, {"__builtins__": {}}, known)  # of a file of this repository


LOKI, PROMETHEUS = 'loki.write "default"', 'prometheus.remote_write "default"'
CLOUD = "https://prometheus-prod-1.grafana.net/api/prom/push"


@pytest.mark.parametrize("given", ["http://loki:3100", "http://loki:3100/", "http://loki:3100/loki/api/v1/push"])
def test_loki_may_be_given_with_and_without_its_path(given):
    assert address(LOKI, LOKI_URL=given) == address(LOKI) == "http://loki:3100/loki/api/v1/push"


@pytest.mark.parametrize("given", ["http://prometheus:9090", "http://prometheus:9090/api/v1/write"])
def test_prometheus_may_be_given_with_and_without_its_path(given):
    assert address(PROMETHEUS, PROM_URL=given) == address(PROMETHEUS) == "http://prometheus:9090/api/v1/write"
    assert address(PROMETHEUS, PROM_URL=CLOUD) == CLOUD


def test_grafana_cloud_gets_a_user_and_a_key_for_both():
    for component, prefix in ((LOKI, "LOKI"), (PROMETHEUS, "PROM")):
        block = CODE.partition(f"{component} {{")[2].partition("\n}")[0]
        credentials = re.search(r"basic_auth \{(.*?)\}", block, re.DOTALL).group(1)
        assert re.findall(r'(\w+)\s*= sys\.env\("(\w+)"\)', credentials) == [
            ("username", f"{prefix}_USERNAME"),
            ("password", f"{prefix}_GRAFANA_CLOUD_API_KEY"),
        ]
