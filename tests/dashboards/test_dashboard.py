"""The dashboard: a valid file, whose every query is run by a real Prometheus with series of breakwatch."""

import itertools
import json
import re
import subprocess
import sys

import promql
import pytest
from dashboard_support import JOB, POOL, ROOT, RULES

GRAFANA = ROOT / "dashboards" / "grafana"
DASHBOARD = json.loads((GRAFANA / "breakwatch.json").read_text(encoding="utf-8"))
PANELS = DASHBOARD["panels"]
SHOWN = [panel for panel in PANELS if panel["type"] != "row"]
TARGETS = [(panel, target) for panel in SHOWN for target in panel["targets"]]
PROMQL = [(panel, target) for panel, target in TARGETS if target["datasource"]["type"] == "prometheus"]
LOGQL = [target["expr"] for _, target in TARGETS if target["datasource"]["type"] == "loki"]
LOGQL += [annotation["expr"] for annotation in DASHBOARD["annotations"]["list"]]
VARIABLES = DASHBOARD["templating"]["list"]
QUERIES = [variable for variable in VARIABLES if variable["type"] == "query"]

# The values of Grafana for "All" and for its own intervals. The history is two hours, so the queries compare with one
# hour ago.
VALUES = {f"${variable['name']}": variable["allValue"] for variable in QUERIES}
VALUES |= {"$compare": "1h", "$__rate_interval": "5m", "$__range": "2h"}
RECORDED = set(re.findall(r"^\s*- record: (\S+)$", "".join(path.read_text() for path in RULES), re.MULTILINE))
# Kept for readers outside this repository; a process that has exited publishes an age that does not grow.
NOT_SHOWN = {"breakwatch_events_oldest_age_seconds"}


def substituted(expression):
    return re.sub(r"\$[a-z_]\w*", lambda match: VALUES[match.group()], expression)


def names_of(panels):
    return [f"{panel['title']} {target['refId']}" for panel, target in panels]


def test_is_what_its_generator_writes():
    command = [sys.executable, GRAFANA / "generate.py", "--print"]
    written = subprocess.run(command, check=True, capture_output=True, text=True, timeout=30).stdout
    assert (GRAFANA / "breakwatch.json").read_text(encoding="utf-8") == written


def test_can_be_provisioned_from_a_file():
    assert DASHBOARD["schemaVersion"] <= 41
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", DASHBOARD["uid"])
    assert DASHBOARD["title"]
    assert DASHBOARD["editable"] is False
    assert "id" not in DASHBOARD


def test_every_panel_and_target_has_an_id_of_its_own():
    ids = [panel["id"] for panel in PANELS]
    assert len(set(ids)) == len(ids)
    titles = [panel["title"] for panel in SHOWN]
    assert len(set(titles)) == len(titles)
    for panel in SHOWN:
        refs = [target["refId"] for target in panel["targets"]]
        assert refs
        assert len(set(refs)) == len(refs), panel["title"]


def test_panels_lie_within_the_grid_and_not_on_each_other():
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["x"] >= 0 and place["w"] > 0 and place["h"] > 0
        assert place["x"] + place["w"] <= 24, panel["title"]
    for one, other in itertools.combinations(PANELS, 2):
        a, b = one["gridPos"], other["gridPos"]
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        assert apart, f"{one['title']} lies on {other['title']}"


@pytest.mark.parametrize("panel", SHOWN, ids=lambda panel: panel["title"])
def test_panel_has_a_description_a_unit_and_a_source(panel):
    assert panel["title"] and panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]
    for one in (panel, *panel["targets"]):
        assert one["datasource"]["uid"] in ("${datasource}", "${loki}"), "a fixed source exists in one Grafana only"


def test_uses_every_variable_that_it_defines_and_no_other():
    defined = {variable["name"] for variable in VARIABLES}
    text = json.dumps([PANELS, DASHBOARD["annotations"], [variable.get("query") for variable in VARIABLES]])
    used = {name for name in re.findall(r"\$\{?([a-z_]\w*)", text) if not name.startswith("__")}
    assert used == defined
    for variable in QUERIES:
        assert variable["refresh"] == 2 and variable["includeAll"]
        assert re.fullmatch(variable["allValue"], "a\nb") and re.fullmatch(variable["allValue"], "")


@pytest.mark.parametrize(("panel", "target"), PROMQL, ids=names_of(PROMQL))
def test_query_returns_series(prometheus, panel, target):
    ask = prometheus.query if target["instant"] else prometheus.query_range
    assert ask(substituted(target["expr"])), target["expr"]


@pytest.mark.parametrize("variable", QUERIES, ids=lambda variable: variable["name"])
def test_variable_has_values(prometheus, variable):
    match = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"])
    selector, label = match.groups()
    assert any(label in series for series in prometheus.series(substituted(selector)))


def test_totals_are_those_of_the_exposition(prometheus, exposition):
    expected = sum(
        float(value)
        for series, value in promql.samples(exposition["after"])
        if series.startswith("compile_breaks_total{")
    )
    assert expected > 0
    assert answer(prometheus, "Break events") == {(): expected}
    names = [series.partition("{")[0] for series, _ in promql.samples(exposition["after"])]
    assert answer(prometheus, "Models tracked") == {(): names.count("breakwatch_model_status")}


def answer(prometheus, title, ref="A"):
    """Labels' values (in the order of their names) -> value, for one panel's query."""
    rows = rows_of(prometheus, title, ref)
    return {tuple(value for _, value in sorted(row["metric"].items())): float(row["value"][1]) for row in rows}


def rows_of(prometheus, title, ref):
    (target,) = [target for panel, target in PROMQL if panel["title"] == title and target["refId"] == ref]
    return prometheus.query(substituted(target["expr"]))


def test_shows_what_changed_since_the_time_compared_with(prometheus):
    now, before = (models_of(answer(prometheus, "Changed models", ref)) for ref in "AB")
    changed = {"org/audio-new-reason": (5, 4), "org/nlp-fixed": (0, 1), "org/nlp-new-commit": (5, 1)}
    assert now == {model: sites for model, (sites, _) in changed.items()} | {"org/nlp-new-and-broken": 4}
    assert before == {model: sites for model, (_, sites) in changed.items()} | {"org/nlp-left": 1}
    commits = {labels[3] for labels in answer(prometheus, "New commits")}
    assert commits == {"org/nlp-new-commit", "org/nlp-new-and-broken"}
    assert answer(prometheus, "New reasons") == {("a reason without an id",): 1}


def models_of(rows):
    """Model -> value; the labels are family, job, model, pool."""
    return {labels[2]: value for labels, value in rows.items()}


def test_shows_models_that_start_to_fail_leave_or_are_new(prometheus):
    now = {(row["metric"]["model"], row["metric"]["now"]) for row in rows_of(prometheus, "Changed status", "A")}
    assert now == {
        ("org/nlp-fixed", "full_graph"),
        ("org/nlp-new-and-broken", "graph_breaks"),
        ("org/other-started-to-fail", "failed_eager"),
    }
    before = {(row["metric"]["model"], row["metric"]["before"]) for row in rows_of(prometheus, "Changed status", "B")}
    assert before == {
        ("org/nlp-fixed", "graph_breaks"),
        ("org/nlp-left", "graph_breaks"),
        ("org/other-started-to-fail", "full_graph"),
    }


def test_a_family_without_a_whole_model_has_a_share_of_0(prometheus):
    shares = answer(prometheus, "By family", "C")
    assert shares[("audio",)] == 0, "it has numbers, and every model breaks"
    assert shares[("multimodal",)] == 0, "no model has numbers"
    assert shares[("other",)] == 1
    whole = sum(answer(prometheus, "Full graph").values())
    assert 0 < whole < 1
    nothing = next(target["expr"] for panel, target in PROMQL if panel["title"] == "Full graph")
    nothing = substituted(nothing.replace("$family", "multimodal"))
    assert [row["value"][1] for row in prometheus.query(nothing)] == ["0"]


def test_fixed_models_are_those_with_numbers_all_through_the_time_shown(prometheus):
    title = "Breaks per model"
    every, fixed = [target["expr"] for panel, target in PROMQL if panel["title"] == title]
    (row,) = prometheus.query_range(substituted(fixed.replace("avg(", "count(", 1)))
    assert {value for _, value in row["values"]} == {"7"}, "of 8, one left and one came"
    (row,) = prometheus.query_range(substituted(every.replace("avg(", "count(", 1)))
    assert (row["values"][0][1], row["values"][-1][1]) == ("8", "8")
    members = prometheus.query_range(substituted(re.fullmatch(r"avg\((.*)\)", fixed).group(1)))
    names = {row["metric"]["model"] for row in members}
    assert "org/nlp-new-commit" in names, "a new commit does not end a series"
    assert not names & {"org/nlp-left", "org/nlp-new-and-broken"}


def test_a_single_model_and_reason_can_be_selected(prometheus):
    expression = next(target["expr"] for panel, target in PROMQL if panel["title"] == "Break events")
    chosen = expression.replace("$model", "org/nlp-new-commit").replace("$reason", "Data-dependent branching")
    assert [row["value"][1] for row in prometheus.query(substituted(chosen))] == ["6"]


def test_names_only_series_that_we_publish_and_leaves_none_out(exposition):
    published = promql.families(exposition["after"])
    expressions = [target["expr"] for _, target in PROMQL]
    expressions += [re.sub(r"^label_values\((.*), \w+\)$", r"\1", variable["definition"]) for variable in QUERIES]
    shown = set().union(*(promql.metric_names(expression) for expression in expressions))
    assert shown <= published.keys() | RECORDED
    assert published.keys() - shown == NOT_SHOWN, "published, and nowhere to be seen"


def test_never_rates_what_is_a_state():
    for _, target in PROMQL:
        assert not re.search(r"\b(i?rate|i?delta|increase)\(\s*compile_", target["expr"]), target["expr"]


def test_totals_are_shown_with_their_number_of_models():
    rows = {panel["gridPos"]["y"]: [] for panel in SHOWN}
    for panel in SHOWN:
        rows[panel["gridPos"]["y"]].append(panel["title"])
    (stats,) = [titles for titles in rows.values() if "Break events" in titles]
    assert {"Models with numbers", "Models tracked"} <= set(stats)
    (over_time,) = [titles for titles in rows.values() if "Break events over sweeps" in titles]
    assert "Models behind the totals" in over_time


@pytest.mark.parametrize("expression", LOGQL)
def test_log_query_selects_bounded_labels_and_known_fields(expression):
    selector, _, pipeline = expression.partition("}")
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
    assert labels and labels <= {"service_name", "environment", "pool"}
    fields = set(re.findall(r"\|\s*(\w+)\s*(?:=~|!~|!=|=)", pipeline))
    assert fields <= {"model", "msg", "reason", "sweep_id"}
    before_parsing = pipeline.partition("| json")[0]
    assert "msg" not in before_parsing, "a field of the line exists only once it is parsed"


def test_job_is_the_one_the_gateway_gets(prometheus):
    assert {(series["job"], series["pool"]) for series in prometheus.series("breakwatch_build_info")} == {(JOB, POOL)}
