"""Paths, names and the dashboards for all tests of this folder."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
JOB, POOL = "breakwatch", "eu"  # of the group to which the exporter pushes
RULES = sorted((ROOT / "dashboards" / "rules").glob("*.yml"))
RECORDED = {
    rule["record"]: rule["expr"]
    for path in RULES
    for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
    if "record" in rule
}

GRAFANA = ROOT / "dashboards" / "grafana"
NAMES = ("overview", "reasons", "model", "operations")
DASHBOARDS = {name: json.loads((GRAFANA / f"{name}.json").read_text(encoding="utf-8")) for name in NAMES}


def shown(dashboard):
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


PANELS = [(name, panel) for name, dashboard in DASHBOARDS.items() for panel in shown(dashboard)]
TARGETS = [(name, panel, target) for name, panel in PANELS for target in panel["targets"]]
PROMQL = [one for one in TARGETS if one[2]["datasource"]["type"] == "prometheus"]
LOGQL = [one for one in TARGETS if one[2]["datasource"]["type"] == "loki"]
ANNOTATIONS = DASHBOARDS["overview"]["annotations"]["list"]
VARIABLES = DASHBOARDS["overview"]["templating"]["list"]
CHOICES = [variable for variable in VARIABLES if variable["type"] == "query"]

# The values of Grafana for "All" and for its own intervals. The history is two hours, so the queries compare with one
# hour ago.
VALUES = {f"${variable['name']}": variable["allValue"] for variable in CHOICES}
VALUES |= {"$compare": "1h", "$__rate_interval": "5m", "$__range": "2h", "$__interval": "1m", "$__auto": "2h"}


def substituted(expression, **chosen):
    values = VALUES | {f"${name}": value for name, value in chosen.items()}
    return re.sub(r"\$[a-z_]\w*", lambda match: values[match.group()], expression)


def label(one):
    name, panel, *target = one
    return f"{name}: {panel['title']}" + (f" {target[0]['refId']}" if target else "")


def is_instant(target):
    return target.get("instant", False)


def program(name):
    """The one of the tests' Python environment, or else of the machine."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found
