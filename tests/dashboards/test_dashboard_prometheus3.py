"""Every query of the dashboards, run by the engine and parser of Prometheus 3 as well: on the series that the real,
older server has, with the same result."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from conftest import STEP
from dashboard_support import ANNOTATIONS, PROMQL, is_instant, label, program, substituted

SOURCE = Path(__file__).parent / "engine3"
QUERIES = {label(one): (one[2]["expr"], is_instant(one[2])) for one in PROMQL}
QUERIES |= {f"annotation: {one['name']}": (one["expr"], False) for one in ANNOTATIONS}


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    """Runs queries on series: a small program with Prometheus 3 as a library."""
    built = tmp_path_factory.mktemp("engine3") / "engine3"
    environment = os.environ | {"GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0"}
    build = [program("go"), "build", "-o", built, "."]
    subprocess.run(build, cwd=SOURCE, env=environment, check=True, timeout=550)

    def ask(series, queries):
        question = json.dumps({"series": series, "queries": queries})
        done = subprocess.run([built], input=question, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask


@pytest.fixture(scope="session")
def answers(engine, prometheus):
    every = prometheus.query('{__name__!=""}[4h]')
    times = {"start": prometheus.end - 2 * 3600, "end": prometheus.end}
    asked = [
        {"query": substituted(text), **times, "step": 0 if instant else STEP} for text, instant in QUERIES.values()
    ]
    return dict(zip(QUERIES, engine(every, asked), strict=True))


def by_labels(rows):
    """Labels -> the last value."""
    return {frozenset(row["metric"].items()): float((row.get("values") or [row["value"]])[-1][1]) for row in rows}


@pytest.mark.parametrize("name", QUERIES)
def test_prometheus_3_answers_what_the_older_server_answers(answers, prometheus, name):
    text, instant = QUERIES[name]
    assert answers[name]["error"] == ""
    found = by_labels(answers[name]["result"])
    expected = by_labels((prometheus.query if instant else prometheus.query_range)(substituted(text)))
    assert found and found.keys() == expected.keys()
    # Since 3.0 a range does not include its start: counts over one differ.
    if "[" not in text:
        assert list(found.values()) == pytest.approx([expected[labels] for labels in found], nan_ok=True)


def test_the_engine_refuses_what_is_no_query(engine):
    (refused,) = engine([], [{"query": "sum(", "start": 0, "end": 0, "step": 0}])
    assert "parse error" in refused["error"]
