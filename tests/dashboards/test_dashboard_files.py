"""The dashboards as files: what their generator writes, a layout that Grafana accepts, and the rules of Grafana's
dashboard-linter, each with the exceptions that are stated here."""

import itertools
import json
import re
import subprocess
import sys

import pytest
from dashboard_support import CHOICES, DASHBOARDS, GRAFANA, LOGQL, NAMES, PANELS, PROMQL, VARIABLES, label, shown

EVERY = list(DASHBOARDS.items())
ANNOTATIONS = [one for dashboard in DASHBOARDS.values() for one in dashboard["annotations"]["list"]]
# Series that are states or, of a process, counts since it started, although their names end in _total.
NOT_RATED = re.compile(r"compile_|breakwatch_depth_mismatches_total|breakwatch_workers_")
SELECTOR = re.compile(r"(?<![\w:$.])([a-zA-Z_][\w:]*)\{([^}]*)\}")


def test_are_what_their_generator_writes(tmp_path):
    command = [sys.executable, GRAFANA / "generate.py", tmp_path]
    subprocess.run(command, check=True, timeout=60)
    for name in NAMES:
        assert (tmp_path / f"{name}.json").read_bytes() == (GRAFANA / f"{name}.json").read_bytes(), name
    assert sorted(path.stem for path in GRAFANA.glob("*.json")) == sorted(NAMES)


@pytest.mark.parametrize(("name", "dashboard"), EVERY, ids=NAMES)
def test_can_be_provisioned_from_a_file(name, dashboard):
    assert dashboard["schemaVersion"] <= 41
    assert dashboard["uid"] == f"breakwatch-{name}" and len(dashboard["uid"]) <= 40
    assert dashboard["title"] and dashboard["description"].endswith(".")
    assert dashboard["editable"] is False
    assert dashboard["refresh"] == "5m"
    assert "id" not in dashboard


@pytest.mark.parametrize(("name", "dashboard"), EVERY, ids=NAMES)
def test_every_panel_and_target_has_an_id_of_its_own(name, dashboard):
    ids = [panel["id"] for panel in dashboard["panels"]]
    titles = [panel["title"] for panel in shown(dashboard)]
    for values in (ids, titles, *([target["refId"] for target in panel["targets"]] for panel in shown(dashboard))):
        assert values and len(set(values)) == len(values), values


@pytest.mark.parametrize(("name", "dashboard"), EVERY, ids=NAMES)
def test_panels_lie_within_the_grid_and_not_on_each_other(name, dashboard):
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        assert place["x"] >= 0 and place["w"] > 0 and place["h"] > 0
        assert place["x"] + place["w"] <= 24, panel["title"]
    for one, other in itertools.combinations(dashboard["panels"], 2):
        a, b = one["gridPos"], other["gridPos"]
        beside = a["x"] + a["w"] <= b["x"] or b["x"] + b["w"] <= a["x"]
        above = a["y"] + a["h"] <= b["y"] or b["y"] + b["h"] <= a["y"]
        assert beside or above, f"{one['title']} lies on {other['title']}"


@pytest.mark.parametrize("one", PANELS, ids=label)
def test_panel_has_a_title_a_description_a_unit_and_a_source(one):
    _, panel = one
    assert panel["title"] and panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    for source in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
        assert source["uid"] == f"${{{source['type']}_datasource}}", "a fixed source exists in one Grafana only"


def test_the_dashboards_link_to_each_other_with_variables_and_time():
    for dashboard in DASHBOARDS.values():
        (menu,) = dashboard["links"]
        assert menu["type"] == "dashboards" and menu["includeVars"] and menu["keepTime"]
        assert set(menu["tags"]) <= set(dashboard["tags"])


def test_all_have_the_same_variables_and_show_those_that_they_use():
    for name, dashboard in DASHBOARDS.items():
        variables = dashboard["templating"]["list"]
        assert [one["name"] for one in variables] == [one["name"] for one in VARIABLES]
        text = json.dumps([[target["expr"] for target in panel["targets"]] for panel in shown(dashboard)])
        for variable in variables:
            if variable["type"] in ("query", "interval") and f"${variable['name']}" in text:
                assert variable.get("hide") != 2, f"{name} uses ${variable['name']} and hides it"


def test_no_variable_is_used_that_does_not_exist():
    defined = {variable["name"] for variable in VARIABLES}
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(EVERY)))
    assert used == defined


def test_data_sources_are_variables():
    sources = {one["name"]: one for one in VARIABLES if one["type"] == "datasource"}
    assert {name: one["query"] for name, one in sources.items()} == {
        "prometheus_datasource": "prometheus",
        "loki_datasource": "loki",
    }
    assert [one["label"] for one in sources.values()] == ["Prometheus data source", "Loki data source"]


@pytest.mark.parametrize("variable", CHOICES, ids=lambda variable: variable["name"])
def test_a_choice_is_of_several_values_and_reloaded_with_the_time(variable):
    assert variable["label"] and variable["multi"] and variable["includeAll"]
    assert variable["refresh"] == 2
    assert variable["datasource"]["uid"] == "${prometheus_datasource}"
    assert re.fullmatch(r"label_values\(\w+(\{.*\})?, \w+\)", variable["query"]["query"])
    # dashboard-linter wants ".+" for jobs: that does not match a label that is absent, and stops at a line break.
    assert re.fullmatch(variable["allValue"], "a\nb") and re.fullmatch(variable["allValue"], "")


@pytest.mark.parametrize("one", PROMQL, ids=label)
def test_every_selector_of_a_query_is_of_the_chosen_job_and_pool(one):
    # dashboard-linter wants the label `instance`, too: what is pushed has none.
    selectors = SELECTOR.findall(one[2]["expr"])
    assert selectors
    for name, matchers in selectors:
        assert {'job=~"$job"', 'pool=~"$pool"'} <= set(re.findall(r'\w+[=!~]+"[^"]*"', matchers)), name


@pytest.mark.parametrize("one", PROMQL, ids=label)
def test_counters_are_rated_over_the_interval_of_grafana(one):
    text = one[2]["expr"]
    for counter in re.findall(r"\b(\w+_total)\{", text):
        rated = re.search(rf"\b(rate|increase)\({counter}\{{[^}}]*\}}\[\$__rate_interval\]\)", text)
        assert bool(rated) != bool(NOT_RATED.match(counter)), counter
    assert not re.search(r"\brate\([^[]*\[(?!\$__rate_interval\])", text)


@pytest.mark.parametrize("one", LOGQL, ids=label)
def test_log_queries_count_over_the_interval_of_grafana(one):
    assert set(re.findall(r"\[(.*?)\]", one[2]["expr"])) <= {"$__auto"}


def test_annotations_mark_sweeps_toolchains_and_reasons_in_all_of_them():
    names = [one["name"] for one in DASHBOARDS["overview"]["annotations"]["list"]]
    assert names == ["Complete sweeps", "New toolchain", "New reason"]
    for one in ANNOTATIONS:
        assert one["enable"] and one["datasource"]["uid"] == "${prometheus_datasource}"
    assert all(dashboard["annotations"] == DASHBOARDS["overview"]["annotations"] for dashboard in DASHBOARDS.values())
