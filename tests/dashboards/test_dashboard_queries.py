"""Every query of the dashboards is run by a real Prometheus with series of breakwatch."""

import re

import promql
import pytest
from dashboard_support import (
    ANNOTATIONS,
    CHOICES,
    DASHBOARDS,
    JOB,
    LOGQL,
    POOL,
    PROMQL,
    RECORDED,
    is_instant,
    label,
    substituted,
)

# Kept for readers outside this repository; a process that has exited publishes an age that does not grow.
NOT_SHOWN = {"breakwatch_events_oldest_age_seconds"}
# Of the Pushgateway, of a daemon's own /metrics, of Prometheus.
FOREIGN = {
    "ALERTS",
    "push_time_seconds",
    "push_failure_time_seconds",
    "breakwatch_daemon_info",
    "breakwatch_config_last_reload_successful",
    "process_start_time_seconds",
    "process_resident_memory_bytes",
    "process_cpu_seconds_total",
}


@pytest.mark.parametrize("one", PROMQL, ids=label)
def test_query_returns_rows(prometheus, one):
    _, _, target = one
    ask = prometheus.query if is_instant(target) else prometheus.query_range
    assert ask(substituted(target["expr"])), target["expr"]


@pytest.mark.parametrize("annotation", ANNOTATIONS, ids=lambda annotation: annotation["name"])
def test_annotation_returns_rows(prometheus, annotation):
    assert prometheus.query_range(substituted(annotation["expr"]))


@pytest.mark.parametrize("variable", CHOICES, ids=lambda variable: variable["name"])
def test_variable_has_values(prometheus, variable):
    selector, name = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"]["query"]).groups()
    assert any(name in series for series in prometheus.series(substituted(selector)))


def expression(dashboard, title, ref="A"):
    (target,) = [
        target for name, panel, target in PROMQL if (name, panel["title"], target["refId"]) == (dashboard, title, ref)
    ]
    return target["expr"]


def rows_of(prometheus, dashboard, title, ref="A", **chosen):
    return prometheus.query(substituted(expression(dashboard, title, ref), **chosen))


def answer(prometheus, *where, by=(), **chosen):
    """Values of the labels `by` -> value, for one query of a panel."""
    rows = rows_of(prometheus, *where, **chosen)
    found = {tuple(row["metric"].get(name, "") for name in by): float(row["value"][1]) for row in rows}
    assert len(found) == len(rows), "the labels do not tell the rows apart"
    return {key[0] if len(by) == 1 else key: value for key, value in found.items()}


def exposed(exposition, name):
    return [float(value) for series, value in promql.samples(exposition["after"]) if series.split("{")[0] == name]


def test_totals_are_those_of_the_exposition(prometheus, exposition):
    expected = sum(exposed(exposition, "compile_breaks_total"))
    assert expected > 0
    assert answer(prometheus, "overview", "Break events") == {(): expected}
    tracked = len(exposed(exposition, "breakwatch_model_status"))
    assert answer(prometheus, "overview", "Models tracked") == {(): tracked}


def test_shows_what_changed_since_the_time_compared_with(prometheus):
    now, before = (answer(prometheus, "overview", "Changed models", ref, by=["model"]) for ref in "AB")
    changed = {"org/audio-new-reason": (5, 4), "org/nlp-fixed": (0, 1), "org/nlp-new-commit": (5, 1)}
    assert now == {model: sites for model, (sites, _) in changed.items()} | {"org/nlp-new-and-broken": 4}
    assert before == {model: sites for model, (_, sites) in changed.items()} | {"org/nlp-left": 1}
    commits = answer(prometheus, "overview", "New commits", by=["model"])
    assert set(commits) == {"org/nlp-new-commit", "org/nlp-new-and-broken"}
    assert answer(prometheus, "overview", "New reasons", by=["reason"]) == {"a reason without an id": 1}


def test_shows_models_that_start_to_fail_leave_or_are_new(prometheus):
    now = answer(prometheus, "overview", "Changed status", "A", by=["model", "now"])
    assert set(now) == {
        ("org/nlp-fixed", "full_graph"),
        ("org/nlp-new-and-broken", "graph_breaks"),
        ("org/other-started-to-fail", "failed_eager"),
    }
    before = answer(prometheus, "overview", "Changed status", "B", by=["model", "before"])
    assert set(before) == {
        ("org/nlp-fixed", "graph_breaks"),
        ("org/nlp-left", "graph_breaks"),
        ("org/other-started-to-fail", "full_graph"),
    }


def test_lists_the_models_that_fail_and_no_skipped_or_captured_one(prometheus):
    failing = answer(prometheus, "overview", "Failing models", by=["model"])
    assert set(failing) == {"org/multimodal-failing", "org/other-started-to-fail", "org/vision-unresolved"}
    assert answer(prometheus, "overview", "Models that fail") == {(): len(failing)}
    assert answer(prometheus, "overview", "Models that fail", family="nlp") == {(): 0}


def test_a_family_without_a_whole_model_has_a_share_of_0(prometheus):
    shares = answer(prometheus, "overview", "By family", by=["family"])
    assert shares["audio"] == 0, "it has numbers, and every model breaks"
    assert shares["multimodal"] == 0, "no model has numbers"
    assert shares["other"] == 1
    assert 0 < answer(prometheus, "overview", "Full graph")[()] < 1
    assert answer(prometheus, "overview", "Full graph", family="multimodal") == {(): 0}


def test_fixed_models_are_those_with_numbers_all_through_the_time_shown(prometheus):
    every, fixed = (expression("overview", "Breaks per model", ref) for ref in "AB")
    (row,) = prometheus.query_range(substituted(fixed.replace("avg(", "count(", 1)))
    assert {value for _, value in row["values"]} == {"8"}, "of 9, one left and one came"
    (row,) = prometheus.query_range(substituted(every.replace("avg(", "count(", 1)))
    assert (row["values"][0][1], row["values"][-1][1]) == ("9", "9")
    members = prometheus.query_range(substituted(re.fullmatch(r"avg\((.*)\)", fixed).group(1)))
    names = {row["metric"]["model"] for row in members}
    assert "org/nlp-new-commit" in names, "a new commit does not end a series"
    assert not names & {"org/nlp-left", "org/nlp-new-and-broken"}


def test_a_single_model_and_reason_can_be_selected(prometheus):
    chosen = {"model": "org/nlp-new-commit", "reason": "Data-dependent branching"}
    assert list(answer(prometheus, "model", "Models", by=["model"], **chosen).values()) == [6]
    assert set(answer(prometheus, "reasons", "Top reasons", "D", by=["reason"], **chosen)) == {chosen["reason"]}


def test_only_ids_of_the_hub_lead_to_the_hub(prometheus):
    rows = rows_of(prometheus, "model", "Models")
    hub = {row["metric"]["model"]: row["metric"].get("hub") for row in rows}
    own = {model for model in hub if model.startswith("python:")}
    assert len(own) == 1
    assert all(hub[model] == (None if model in own else model) for model in hub)


def test_downloads_of_a_reason_are_those_of_its_models(prometheus):
    models = answer(prometheus, "reasons", "Top reasons", "B", by=["reason"])
    downloads = answer(prometheus, "reasons", "Top reasons", "C", by=["reason"])
    assert downloads == {reason: 1000 * count for reason, count in models.items()}


def test_history_has_the_commits_of_the_time_shown(prometheus):
    breaks = answer(prometheus, "model", "History by commit", by=["commit"], model="org/nlp-new-commit")
    assert breaks == {"e" * 40: 2, "f" * 40: 8}
    first = answer(prometheus, "model", "History by commit", "D", by=["commit"], model="org/nlp-new-commit")
    assert first["e" * 40] < first["f" * 40]


def test_a_toolchain_and_mode_is_a_cell_of_the_matrix(prometheus):
    shares = answer(prometheus, "model", "Full graphs by toolchain and mode", by=["toolchain", "mode"])
    assert set(shares) == {("default", "train"), ("old", "eval")}
    assert shares["old", "eval"] == 0, "every model breaks there"
    assert 0 < shares["default", "train"] < 1


def test_new_toolchains_and_reasons_are_marked_once_they_appear(prometheus):
    marked = {one["name"]: prometheus.query_range(substituted(one["expr"])) for one in ANNOTATIONS}
    assert [row["metric"]["toolchain"] for row in marked["New toolchain"]] == ["old"]
    assert [row["metric"]["reason"] for row in marked["New reason"]] == ["a reason without an id"]


def names_in(expressions):
    return set().union(*(promql.metric_names(expression) for expression in expressions))


def test_names_only_series_that_exist_and_leaves_none_out(exposition):
    published = promql.families(exposition["after"])
    expressions = [target["expr"] for _, _, target in PROMQL] + [one["expr"] for one in ANNOTATIONS]
    choices = [re.sub(r"^label_values\((.*), \w+\)$", r"\1", one["query"]["query"]) for one in CHOICES]
    used = names_in(expressions + choices)
    assert used <= published.keys() | RECORDED.keys() | FOREIGN
    read = names_in([RECORDED[name] for name in used & RECORDED.keys()])
    assert published.keys() - used - read == NOT_SHOWN, "published, and nowhere to be seen"


def test_never_rates_what_is_a_state():
    for _, _, target in PROMQL:
        assert not re.search(r"\b(i?rate|i?delta|increase)\(\s*compile_", target["expr"]), target["expr"]


def test_totals_are_shown_with_their_number_of_models():
    lines = {}
    for panel in DASHBOARDS["overview"]["panels"]:
        lines.setdefault(panel["gridPos"]["y"], set()).add(panel["title"])
    (totals,) = [titles for titles in lines.values() if "Break events" in titles]
    assert {"Models with numbers", "Models tracked"} <= totals
    (over_time,) = [titles for titles in lines.values() if "Break events over sweeps" in titles]
    assert "Models behind the totals" in over_time


def test_overview_reads_recorded_series_wherever_one_has_the_labels():
    for name, panel, target in PROMQL:
        if name == "overview" and not is_instant(target):
            used = promql.metric_names(target["expr"])
            assert used <= RECORDED.keys() | {"breakwatch_model_in_ranking"}, panel["title"]


@pytest.mark.parametrize("one", LOGQL, ids=label)
def test_log_query_selects_bounded_labels_and_known_fields(one):
    text = one[2]["expr"]
    selector, pipeline = re.search(r"\{([^}]*)\}(.*)", text).groups()
    labels = set(re.findall(r"(\w+)\s*(?:=~|!~|!=|=)", selector))
    assert labels and labels <= {"service_name", "environment", "pool"}
    fields = set(re.findall(r"\|\s*(\w+)\s*(?:=~|!~|!=|=)", pipeline))
    assert fields <= {"model", "msg", "reason", "sweep_id"}
    before_parsing = pipeline.partition("| json")[0]
    assert "msg" not in before_parsing, "a field of the line exists only once it is parsed"


def test_job_is_the_one_the_gateway_gets(prometheus):
    assert {(series["job"], series["pool"]) for series in prometheus.series("breakwatch_build_info")} == {(JOB, POOL)}
