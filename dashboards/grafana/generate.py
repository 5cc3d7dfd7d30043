#!/usr/bin/env python3
"""Writes breakwatch.json, the Grafana dashboard, beside this file. Run it after a change; a test compares the two.

The classic JSON format is used, because not every Grafana can provision the newer schema from files.
"""

import json
import sys
from pathlib import Path

from panels import LOKI, PROMETHEUS, lay_out
from rows import GROUP, MODEL, ROWS

# A plain ".*" stops at a line break, and a label may hold one. It also matches series without the label: no pool.
EVERYTHING = "(?s).*"


def source_variable(name, label, kind):
    return {
        "name": name,
        "label": label,
        "type": "datasource",
        "query": kind,
        "refresh": 1,
        "hide": 0,
        "current": {},
        "options": [],
    }


def query_variable(name, label, query):
    return {
        "name": name,
        "label": label,
        "type": "query",
        "datasource": PROMETHEUS,
        "query": {"query": query, "refId": name},
        "definition": query,
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": EVERYTHING,
        "current": {"text": ["All"], "value": ["$__all"], "selected": True},
        "options": [],
        "hide": 0,
    }


def compare_variable():
    choices = ("1h", "6h", "1d", "7d", "30d")
    options = [{"text": choice, "value": choice, "selected": choice == "1d"} for choice in choices]
    return {
        "name": "compare",
        "label": "Compare with",
        "type": "interval",
        "query": ",".join(choices),
        "auto": False,
        "current": options[2],
        "options": options,
        "refresh": 2,
        "hide": 0,
    }


def text_variable(name, label, text):
    option = {"text": text, "value": text, "selected": True}
    head = {"name": name, "label": label, "type": "textbox", "query": text}
    return head | {"current": option, "options": [option], "hide": 0}


def dashboard():
    variables = [
        source_variable("datasource", "Data source", "prometheus"),
        source_variable("loki", "Logs", "loki"),
        query_variable("job", "Job", "label_values(breakwatch_build_info, job)"),
        query_variable("pool", "Pool", 'label_values(breakwatch_build_info{job=~"$job"}, pool)'),
        query_variable("family", "Family", f"label_values(breakwatch_model_status{{{GROUP}}}, family)"),
        query_variable("model", "Model", f'label_values(breakwatch_model_status{{{GROUP},family=~"$family"}}, model)'),
        query_variable("reason", "Reason", f"label_values(compile_breaks_total{{{MODEL}}}, reason)"),
        compare_variable(),
        text_variable("page", "breakwatch's page", "http://127.0.0.1:9723"),
    ]
    sweeps = {
        "name": "Sweeps",
        "datasource": LOKI,
        "enable": True,
        "iconColor": "blue",
        "expr": '{service_name="breakwatch"} | json | msg="sweep_finished"',
        "titleFormat": "Sweep finished",
        "textFormat": "{{sweep_id}}",
    }
    return {
        "uid": "breakwatch",
        "title": "breakwatch: graph breaks",
        "description": "Graph breaks of torch.compile: in which model, for which reason, since which commit.",
        "tags": ["breakwatch", "pytorch"],
        "schemaVersion": 39,
        "version": 1,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "1m",
        "time": {"from": "now-7d", "to": "now"},
        "timezone": "browser",
        "templating": {"list": variables},
        "annotations": {"list": [sweeps]},
        "links": [],
        "panels": lay_out([(title, row()) for title, row in ROWS.items()]),
    }


def render():
    return json.dumps(dashboard(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--print"]:
        sys.stdout.write(render())
    else:
        Path(__file__).with_name("breakwatch.json").write_text(render(), encoding="utf-8")
