"""Trends: folded by sweeps, kept for years, and loaded into a real Prometheus."""

import datetime
import json
import re
import subprocess
import time
import urllib.parse

import pytest
from e2e_support import ROOT, eventually, get, needs
from store_support import SITE, database

DAY_S = 86400
SAMPLE = re.compile(r"([a-z_:]+)\{(.*)\} (\S+) (\d+)")
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def make_older(breakwatch, days):
    """The trends so far become those of a sweep some days ago."""
    day = datetime.datetime.now(datetime.UTC).date() - datetime.timedelta(days=days)
    with database(breakwatch) as sql:
        newest = sql.execute("SELECT MAX(day) FROM trends").fetchone()
        sql.execute("UPDATE trends SET day = ?, at_ns = at_ns - ? WHERE day = ?",
                    (str(day), days * DAY_S * 10**9, *newest))  # fmt: skip
        sql.execute(
            "UPDATE current_meta SET value = json_set(value, '$.day', ?) WHERE key = 'trend_models'", (str(day),)
        )
    return str(day)


@pytest.fixture
def three_days(breakwatch, hub):
    """A store with trends of 400 days ago, 200 days ago and today: a model was fixed, and one came."""
    hub.model("org/a", 300, sites=[SITE, ["print", "", 1]])
    hub.model("org/b", 200)
    breakwatch.run("sweep", "--quiet")
    days = [make_older(breakwatch, 400)]
    hub.model("org/a", 300)
    breakwatch.run("sweep", "--quiet")
    days.append(make_older(breakwatch, 200))
    hub.model("org/c", 100, unlike="b", status="timeout")
    breakwatch.run("sweep", "--quiet")
    breakwatch.days = days
    return breakwatch


def export(breakwatch, path, *flags):
    """The exported samples: (name, labels) -> [(time, value)]."""
    breakwatch.run("store", "export", "--format", "openmetrics", "--output", str(path), *flags)
    series = {}
    for name, labels, value, at in SAMPLE.findall(path.read_text()):
        key = name, tuple(sorted(LABEL.findall(labels)))
        series.setdefault(key, []).append((int(at), float(value)))
    return series


def ask(prometheus, path, **parameters):
    status, text = get(f"{prometheus.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}")
    assert status == 200, text
    return json.loads(text)["data"]["result"]


def series_of(rows):
    """What Prometheus answered, in the form of `export`."""
    found = {}
    for row in rows:
        labels = dict(row["metric"])
        name = labels.pop("__name__", "")
        values = row.get("values", [row.get("value")])
        found[name, tuple(sorted(labels.items()))] = [(int(at), float(value)) for at, value in values]
    return found


def test_trends_are_printed_by_day_and_by_series(three_days):
    days = json.loads(three_days.run("trends", "--json").stdout)
    assert [day["day"] for day in days[:2]] == three_days.days
    assert [day["full_graph"] for day in days] == [1, 2, 2]
    assert [day["models_with_numbers"] for day in days] == [2, 2, 2]
    assert [day["models_tracked"] for day in days] == [2, 2, 3]
    assert [day["fixed"] for day in days] == [0, 1, 0]
    text = three_days.run("trends", "--by", "reason", "--since", three_days.days[0]).stdout
    assert "3 days with a sweep" in text
    (row,) = (line for line in text.splitlines() if "Data-dependent branching" in line)
    assert row.split()[-5:] == ["1", "0", "-1", "0", "0"], "then, now, change, breaks, unblocked: it is gone"
    assert len(json.loads(three_days.run("trends", "--json", "--since", three_days.days[1]).stdout)) == 2


def test_a_real_prometheus_answers_with_the_exported_trends(three_days, start_prometheus, tmp_path):
    exported = export(three_days, tmp_path / "trends.om")
    ratio = exported["breakwatch:full_graph:ratio", (("job", "breakwatch"),)]
    assert [value for _, value in ratio] == [0.5, 1, 1]
    load = [needs("promtool"), "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h"]
    subprocess.run([*load, tmp_path / "trends.om", tmp_path / "tsdb"], check=True, capture_output=True, timeout=120)
    prometheus = start_prometheus("global: {scrape_interval: 1h}\n", "--storage.tsdb.retention.time=10y")

    everything = ask(prometheus, "query", query='{job="breakwatch"}[500d]', time=time.time() + 1)
    assert series_of(everything) == exported, "each sample, and no other"

    first, last = ratio[0][0], ratio[-1][0]
    daily = {"step": DAY_S, "start": first + 60, "end": last + 60}
    drawn = ask(prometheus, "query_range", query="last_over_time(breakwatch:full_graph:ratio[1d])", **daily)
    assert [float(value) for _, value in drawn[0]["values"]] == [0.5, 1, 1]
    now = {"step": 1, "start": first, "end": first}
    (family,) = ask(prometheus, "query_range", query="family:full_graph:ratio", **now)
    assert family["values"] == [[first, "0.5"]]


def test_pools_do_not_mix_in_prometheus(three_days, start_prometheus, tmp_path):
    for pool in ("east", "west"):
        export(three_days, tmp_path / pool, "--exporters.pushgateway.pool", pool)
        load = [needs("promtool"), "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=720h"]
        subprocess.run([*load, tmp_path / pool, tmp_path / "tsdb"], check=True, capture_output=True, timeout=120)
    prometheus = start_prometheus("global: {scrape_interval: 1h}\n", "--storage.tsdb.retention.time=10y")
    samples = 'count by (pool) (count_over_time(breakwatch:full_graph:ratio{job="breakwatch"}[500d]) == 3)'
    pools = ask(prometheus, "query", query=samples, time=time.time() + 1)
    assert {(row["metric"]["pool"], row["value"][1]) for row in pools} == {("east", "1"), ("west", "1")}


def test_trends_stay_when_the_rest_is_trimmed_or_folded_again(three_days):
    def days(*flags):
        return [day["day"] for day in json.loads(three_days.run("trends", "--json", *flags).stdout)]

    before = days()
    three_days.run("sweep", "--quiet", "--retention.sweeps", "1")
    assert days() == before
    three_days.run("store", "rebuild")
    three_days.run("store", "repair")
    assert days() == before
    assert set(days("--by", "reason")) == {before[0]}, "the models have no break any more"
    three_days.run("sweep", "--quiet", "--retention.trend_days", "2")
    assert days() == before[1:]


def test_exports_what_the_recording_rules_record(breakwatch, hub, gateway, start_prometheus, tmp_path):
    hub.model("org/a", 300, sites=[SITE, ["print", "", 1]])
    hub.model("org/b", 200, sites=[SITE])
    hub.model("org/c", 200)
    hub.model("org/slow", 100, status="timeout")
    breakwatch.run("sweep", "--quiet", "--exporters.pushgateway.url", gateway.url)
    exported = export(breakwatch, tmp_path / "trends.om")
    prometheus = start_prometheus(
        f"global: {{scrape_interval: 250ms}}\nrule_files: ['{ROOT}/dashboards/rules/recording.yml']\n"
        "scrape_configs:\n- job_name: gateway\n  honor_labels: true\n"
        f"  static_configs: [{{targets: ['{gateway.url.removeprefix('http://')}']}}]\n"
    )
    assert eventually(lambda: ask(prometheus, "query", query="compile_breaks_total"))

    recorded = {}
    rules = json.loads(get(prometheus.url + "/api/v1/rules")[1])["data"]["groups"]
    for rule in (rule for group in rules for rule in group["rules"]):
        for (_, labels), points in series_of(ask(prometheus, "query", query=rule["query"])).items():
            recorded[rule["name"], labels] = points[0][1]
    recorded = {key: value for key, value in recorded.items() if not key[0].startswith("model:")}
    newest = {key: points[-1][1] for key, points in exported.items() if key[0] != "breakwatch_reason_leverage"}
    assert newest == pytest.approx(recorded), "every rule but those of single models"
