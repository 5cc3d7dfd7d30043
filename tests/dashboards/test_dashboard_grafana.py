"""The dashboards in the hands of Grafana's own libraries: they parse the queries, know the units, build the tables from
what Prometheus answers, and expand the links of the cells. Grafana itself cannot be started here."""

import json
import re
import subprocess
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from dashboard_support import ANNOTATIONS, DASHBOARDS, LOGQL, PANELS, PROMQL, label, program, substituted

PACKAGE = Path(__file__).parent / "grafana_js"
HOSTILE = "a b/../c&var-model=x?y#z%2F\"'<>\\\n=é"
PAGE = "http://127.0.0.1:9723"
# As Grafana has them when a person chose several models.
CHOSEN = {
    "prometheus_datasource": "prometheus",
    "loki_datasource": "loki & co",
    "job": ["$__all"],
    "pool": ["eu", "us/1"],
    "family": ["$__all"],
    "model": ["org/name", HOSTILE],
    "reason": [HOSTILE],
    "compare": "1h",
    "breakwatch_url": PAGE,
}
IN_URL = {f"var-{name}": value if isinstance(value, list) else [value] for name, value in CHOSEN.items()}
TABLES = [(name, panel) for name, panel in PANELS if panel["type"] == "table"]
COLUMNS = {
    "Alerts": ["severity", "alertname", "exporter", "job", "pool"],
    "Failing models": ["model", "family", "hub", "status", "downloads"],
    "Changed models": ["model", "family", "now", "before"],
    "Changed status": ["model", "family", "now", "before"],
    "New commits": ["model", "family", "commit", "hub", "breaks"],
    "New reasons": ["reason", "models"],  # the new one has no id
    "By family": ["family", "full graph", "breaks for each model", "breaks", "sites", "with numbers", "tracked"],
    "Top reasons": [
        *("reason", "gb_id", "fixability"),
        *("unblocked", "models", "downloads", "breaks", "sites", "first seen"),
    ],
    "Models of the reason": [
        *("model", "reason", "gb_id", "family", "commit", "hub"),
        *("breaks", "sites", "before", "downloads"),
    ],
    "Sites of the reason": ["reason", "file", "line", "function", "events"],
    "Reasons by toolchain": ["reason", "gb_id", "toolchain", "this toolchain", "primary", "models"],
    "Models by reason and toolchain": ["reason", "old"],
    "Reasons removed by a fix": ["reason", "capture_scalar_outputs"],
    "Models by fix and outcome": ["fix", "whole", "better"],
    "Models": [
        *("model", "family", "commit", "hub", "breaks", "sites", "graphs", "operations", "frames given up"),
        *("recompiles", "captured", "rank", "downloads", "in ranking"),
    ],
    "Status": ["model", "family", "commit", "status"],
    "Reasons of the models": ["model", "reason", "gb_id", "breaks", "sites", "breaks before", "sites before"],
    "About the reasons": ["reason", "gb_id", "fixability"],
    "History by commit": ["model", "family", "commit", "hub", "breaks", "sites", "graphs", "first seen", "last seen"],
    "Full graphs by toolchain and mode": ["toolchain", "eval", "train"],
    "Break events by toolchain and mode": ["toolchain", "eval", "train"],
    "Status by toolchain and mode": ["model", "status", "toolchain", "mode", "breaks"],
    "Time of a call": ["model", "family", "commit", "hub", "backend", "median", "p95", "compile"],
    "Sites of the models": ["model", "reason", "file", "line", "function", "breaks"],
    "Sandbox": ["sandbox"],
    "Versions": ["version"],
    "Toolchains": ["toolchain", "python", "torch", "transformers"],
    "Sweeps by pool": ["job", "pool", "complete", "failed", "interval", "next"],
    "Worker processes": [
        *("toolchain", "job", "pool"),
        *("started", "failed starts", "lost", "retried captures", "ignored results"),
    ],
    "Exporters": ["exporter", "job", "pool", "dead letters", "paused", "last success", "last failure"],
    "Pushgateway": ["job", "pool", "accepted", "refused"],
    "Daemons": ["job", "pool", "version", "running for", "settings accepted"],
}
# Their columns come in the order of the data.
MATRICES = {
    "Models by reason and toolchain",
    "Full graphs by toolchain and mode",
    "Break events by toolchain and mode",
}


@pytest.fixture(scope="session")
def grafana(tmp_path_factory):
    """What check.mjs answers."""
    if not (PACKAGE / "node_modules").exists():
        pytest.skip("Grafana's libraries are not installed: make test-venv")
    node = program("node")
    script = tmp_path_factory.mktemp("grafana") / "check.cjs"
    bundle = [node, PACKAGE / "node_modules/esbuild/bin/esbuild", "check.mjs", "--bundle", "--platform=node"]
    subprocess.run([*bundle, f"--outfile={script}", "--log-level=warning"], cwd=PACKAGE, check=True, timeout=120)

    def ask(**question):
        done = subprocess.run(
            [node, script], input=json.dumps(question), capture_output=True, text=True, timeout=120, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


def sites(panel):
    """What Loki answers to the query of a table of break sites."""
    values = {"file": "a/b.py", "function": "forward", "line": "1042", "reason": HOSTILE, "model": HOSTILE}
    names = re.match(r"sum by \((.*?)\)", panel["targets"][0]["expr"]).group(1).split(", ")
    return [{"metric": {name: values[name] for name in names}, "value": [0, "3"]}]


@pytest.fixture(scope="session")
def tables(grafana, prometheus):
    """Title -> {frames, columns, rows} of every table."""

    def results(panel):
        for target in panel["targets"]:
            ours = target["datasource"]["type"] == "prometheus"
            yield target["refId"], prometheus.query(substituted(target["expr"])) if ours else sites(panel)

    asked = [{"panel": panel, "results": dict(results(panel)), "variables": CHOSEN} for _, panel in TABLES]
    return dict(zip((panel["title"] for _, panel in TABLES), grafana(tables=asked)["tables"], strict=True))


def test_every_query_can_be_parsed(grafana):
    queries = [(label(one), "promql", one[2]["expr"]) for one in PROMQL]
    queries += [(label(one), "logql", one[2]["expr"]) for one in LOGQL]
    queries += [(one["name"], "promql", one["expr"]) for one in ANNOTATIONS]
    asked = [{"language": language, "text": substituted(text)} for _, language, text in queries]
    errors = grafana(queries=asked)["syntaxErrors"]
    assert not [(query, at) for query, at in zip(queries, errors, strict=True) if at is not None]


def test_a_damaged_query_cannot_be_parsed(grafana):
    languages = {"promql": PROMQL, "logql": LOGQL}
    damaged = {language: targets[0][2]["expr"].replace(")", "", 1) for language, targets in languages.items()}
    asked = [{"language": language, "text": substituted(text)} for language, text in damaged.items()]
    assert all(at is not None for at in grafana(queries=asked)["syntaxErrors"])


def units():
    for _, panel in PANELS:
        yield panel["fieldConfig"]["defaults"]["unit"]
        for override in panel["fieldConfig"]["overrides"]:
            yield from (one["value"] for one in override["properties"] if one["id"] == "unit")


def test_every_unit_is_one_of_grafana(grafana):
    assert grafana(units=[*units(), "no such unit"])["unknownUnits"] == ["no such unit"]


def test_every_table_is_expected_here():
    assert sorted(panel["title"] for _, panel in TABLES) == sorted(COLUMNS)


@pytest.mark.parametrize("title", COLUMNS)
def test_a_table_has_its_columns_and_rows(tables, title):
    assert tables[title]["frames"] == 1, "the queries are joined into one table"
    columns = tables[title]["columns"]
    assert (columns[:1] + sorted(columns[1:]) if title in MATRICES else columns) == COLUMNS[title]
    assert tables[title]["rows"]


def records(table):
    return [dict(zip(table["columns"], (cell["value"] for cell in row), strict=True)) for row in table["rows"]]


def test_queries_are_joined_row_by_row(tables):
    changed = {row["model"]: (row["now"], row["before"]) for row in records(tables["Changed models"])}
    assert changed["org/nlp-fixed"] == (0, 1)
    assert changed["org/nlp-left"] == (None, 1)
    assert changed["org/nlp-new-and-broken"] == (4, None)
    models = [row["model"] for row in records(tables["Models"])]
    assert len(set(models)) == len(models), "a model is one row"
    breaks = [row["breaks"] for row in records(tables["Models"])]
    known = [value for value in breaks if value is not None]
    assert known == sorted(known, reverse=True) == breaks[: len(known)], "the most first, models without numbers last"


def test_a_label_is_shown_as_it_is(tables):
    for title, table in tables.items():
        for cells in table["rows"]:
            for column, cell in zip(table["columns"], cells, strict=True):
                if isinstance(cell["value"], str):
                    assert cell["text"] == cell["value"], f"{title}: {column}"


def test_a_matrix_has_a_row_for_each_toolchain(tables):
    shares = {row["toolchain"]: row for row in records(tables["Full graphs by toolchain and mode"])}
    assert set(shares) == {"default", "old"}
    assert shares["old"]["eval"] == 0 and shares["old"]["train"] is None
    assert 0 < shares["default"]["train"] < 1 and shares["default"]["eval"] is None


def links(tables):
    """(column, row, URL) of every link of every cell."""
    for table in tables.values():
        for row, cells in zip(records(table), table["rows"], strict=True):
            for column, cell in zip(table["columns"], cells, strict=True):
                for url in cell["links"]:
                    yield column, row, url


def test_every_model_and_reason_leads_to_the_other_dashboards_and_to_the_page(tables):
    for title, table in tables.items():
        for column, kind in (("model", "models"), ("reason", "reasons"), ("family", None)):
            if column in table["columns"]:
                cell = table["rows"][0][table["columns"].index(column)]
                assert any(url.startswith("/d/breakwatch-") for url in cell["links"]), f"{title}: {column}"
                assert kind is None or any(url.startswith(f"{PAGE}/#/{kind}/") for url in cell["links"]), title


def test_a_link_to_a_dashboard_keeps_all_variables_and_the_time_and_sets_one(tables):
    seen = set()
    for column, row, url in links(tables):
        if not url.startswith("/d/"):
            continue
        assert column in ("model", "reason", "family")
        parts = urlsplit(url)
        assert parts.path.removeprefix("/d/breakwatch-") in DASHBOARDS
        assert not parts.fragment
        given = parse_qs(parts.query, keep_blank_values=True, strict_parsing=True)
        assert given == IN_URL | {f"var-{column}": [row[column]], "from": ["now-30d"], "to": ["now"]}
        seen.add(row[column])
    assert HOSTILE in seen and any(name.startswith("python:own:net & ") for name in seen)


def test_a_link_to_the_page_has_the_name_as_one_part(tables):
    seen = set()
    for column, row, url in links(tables):
        if url.startswith(PAGE):
            kind, name = re.fullmatch(rf"{PAGE}/#/(models|reasons)/([A-Za-z0-9._~%-]+)", url).groups()
            assert (kind, unquote(name)) == (column + "s", row[column])
            seen.add(row[column])
    assert HOSTILE in seen


def test_only_models_of_the_hub_lead_there(tables):
    pattern = r"https://huggingface\.co/(org/[a-z-]+)(/tree/[0-9a-f]{40})?"
    seen = set()
    for column, row, url in links(tables):
        if "huggingface" not in url or not row[column]:
            continue  # an empty cell has nothing to click on
        assert column == "hub" and re.fullmatch(pattern, url).group(1) == row["hub"] == row["model"]
        seen.add(row["model"])
    assert len(seen) > 5
    assert not any(name.startswith("python:") for name in seen)


def test_a_known_reason_leads_to_its_description(tables):
    about = {row["gb_id"]: url for column, row, url in links(tables) if column == "gb_id" and row["gb_id"]}
    assert about["GB0170"] == "https://example.org/GB0170"
