"""Prometheus rules: promtool accepts and runs them, each has a test, and they use series that exist."""

import re
import subprocess

import promql
import pytest
from dashboard_support import ROOT, RULES, program

TESTS = sorted((ROOT / "tests" / "dashboards").glob("rules_*_test.yml"))
RUNBOOKS = ROOT / "dashboards" / "rules" / "RUNBOOKS.md"
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in RULES)
# Series of the Pushgateway itself about our group, and of the daemon's own /metrics only.
FOREIGN = {
    "push_time_seconds",
    "push_failure_time_seconds",
    "breakwatch_config_last_reload_successful",
    "breakwatch_daemon_info",
}


def names(kind):
    return re.findall(rf"^\s*- {kind}: (\S+)$", TEXT, re.MULTILINE)


def expressions():
    """Both forms: `expr: ...` on one line, and `expr: |` with an indented block."""
    for match in re.finditer(r"^( *)expr: (?:\|\n((?:\1 +.*\n|\n)+)|(.+)\n)", TEXT, re.MULTILINE):
        yield match.group(2) or match.group(3)


def test_promtool_accepts_the_rules():
    subprocess.run([program("promtool"), "check", "rules", *RULES], check=True, timeout=60, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("tests", TESTS, ids=lambda path: path.stem)
def test_promtool_runs_their_tests(tests):
    answer = subprocess.run([program("promtool"), "test", "rules", tests], capture_output=True, text=True, timeout=400)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_every_rule_is_tested_and_every_alert_also_when_it_must_not_fire():
    tests = "\n".join(path.read_text(encoding="utf-8") for path in TESTS)
    for record in names("record"):
        cases = re.findall(rf"expr: {record}\n.*\n\s+exp_samples:(.*)", tests)
        assert any(case.strip() != "[]" for case in cases), f"{record} never has a value in a test"
        assert any(case.strip() == "[]" for case in cases), f"{record} is never absent in a test"
    for alert in names("alert"):
        fires = rf"alertname: {alert}\n\s+exp_alerts:\n\s+- exp_labels"
        assert re.search(fires, tests), f"{alert} never fires in a test"
        assert re.search(rf"alertname: {alert}, exp_alerts: \[\]", tests), f"{alert} is never silent in a test"


def test_every_alert_has_a_severity_a_summary_and_a_description():
    for block in re.split(r"^\s*- alert: ", TEXT, flags=re.MULTILINE)[1:]:
        assert re.search(r"labels: \{severity: (critical|warning|info)\}", block), block
        assert "summary: " in block and "description: " in block


def test_every_alert_has_a_runbook_and_every_runbook_an_alert():
    urls = dict(zip(names("alert"), re.findall(r"runbook_url: (\S+)$", TEXT, re.MULTILINE), strict=True))
    for alert, url in urls.items():
        assert url == f"{RUNBOOKS.relative_to(ROOT)}#{alert.lower()}"
    sections = re.split(r"^## ", RUNBOOKS.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    assert [section.split("\n")[0] for section in sections] == names("alert")
    for section in sections:
        for part in ("**What it means.**", "**How to check.**", "**How to fix.**"):
            assert section.count(part) == 1, section
        assert re.search(r"severity: (\w+)", section).group(1) == severity_of(section.split("\n")[0])


def severity_of(alert):
    block = TEXT.partition(f"- alert: {alert}\n")[2]
    return re.search(r"severity: (\w+)", block).group(1)


def test_no_rule_names_a_job_or_reads_what_freezes_when_a_process_exits():
    for expression in expressions():
        assert not re.search(r"\bjob\s*=", expression), expression
        assert "increase(" not in expression and "oldest_age" not in expression, expression


def test_every_aggregation_keeps_job_and_pool():
    for expression in expressions():
        for labels in re.findall(r"\bby\s*\(([^)]*)\)", expression):
            kept = {label.strip() for label in labels.split(",")}
            assert {"job", "pool"} <= kept or kept == {"job", "reason", "gb_id"}, expression


def test_rules_name_series_that_exist(exposition):
    known = promql.families(exposition["after"]).keys() | FOREIGN | set(names("record"))
    found = list(expressions())
    assert len(found) == len(names("record")) + len(names("alert"))
    for expression in found:
        assert promql.metric_names(expression) <= known, expression


def test_rules_never_rate_what_is_a_state():
    assert not re.search(r"\b(i?rate|i?delta|increase)\(\s*compile_", TEXT)


def test_a_real_server_runs_every_rule(prometheus):
    recorded = set(names("record"))
    for expression in expressions():
        answer = prometheus.query(expression)  # an expression that it cannot run raises
        conditional = re.search(r"absent|unless|offset 1d|[<>]=? ", expression)
        if not conditional and not promql.metric_names(expression) & (FOREIGN | recorded):
            assert answer, expression
