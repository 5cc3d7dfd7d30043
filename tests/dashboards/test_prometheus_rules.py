"""Prometheus rules: promtool accepts and runs them, each has a test, and they use series that exist."""

import re
import subprocess

import promql
from dashboard_support import ROOT, program

RULES = sorted((ROOT / "dashboards" / "rules").glob("*.yml"))
TESTS = ROOT / "tests" / "dashboards" / "rules_test.yml"
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in RULES)
# Series of the Pushgateway itself about our group, and of the daemon's own /metrics only.
FOREIGN = {"push_time_seconds", "push_failure_time_seconds", "breakwatch_config_last_reload_successful"}


def names(kind):
    return re.findall(rf"^\s*- {kind}: (\S+)$", TEXT, re.MULTILINE)


def expressions():
    """Both forms: `expr: ...` on one line, and `expr: |` with an indented block."""
    for match in re.finditer(r"^( *)expr: (?:\|\n((?:\1 +.*\n|\n)+)|(.+)\n)", TEXT, re.MULTILINE):
        yield match.group(2) or match.group(3)


def test_promtool_accepts_the_rules():
    subprocess.run([program("promtool"), "check", "rules", *RULES], check=True, timeout=60, stdout=subprocess.DEVNULL)


def test_promtool_runs_their_tests():
    answer = subprocess.run([program("promtool"), "test", "rules", TESTS], capture_output=True, text=True, timeout=120)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_every_rule_is_tested_and_every_alert_also_when_it_must_not_fire():
    tests = TESTS.read_text(encoding="utf-8")
    for record in names("record"):
        assert f"expr: {record}\n" in tests
    for alert in names("alert"):
        fires = rf"alertname: {alert}\n\s+exp_alerts:\n\s+- exp_labels"
        assert re.search(fires, tests), f"{alert} never fires in a test"
        assert re.search(rf"alertname: {alert}, exp_alerts: \[\]", tests), f"{alert} is never silent in a test"


def test_every_alert_has_a_severity_a_summary_and_a_description():
    for block in re.split(r"^\s*- alert: ", TEXT, flags=re.MULTILINE)[1:]:
        assert re.search(r"labels: \{severity: (page|ticket|info)\}", block), block
        assert "summary: " in block and "description: " in block


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
        conditional = re.search(r"absent|[<>]=? ", expression)
        if not conditional and not promql.metric_names(expression) & (FOREIGN | recorded):
            assert answer, expression
