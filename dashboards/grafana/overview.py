"""Overview: for who is on call (what fails, what is stale, what changed) and for who plans (how much is whole, trends).

Its totals are recorded series, which have job, pool and family.
"""

from frame import assemble
from library import bars, joined, number, series, unit_of
from links import FAMILY_CELL, HUB_CELL, HUB_COMMIT_CELL, MODEL_CELL, REASON_CELL, link, to_dashboard
from queries import FAMILY, GROUP, JOB, NO_NUMBERS, before, cohort, of_group, status_change, with_hub

WHOLE = f"model:full_graph:bool{{{FAMILY}}}"
PER_MODEL = f"model:compile_breaks:sum{{{FAMILY}}}"
SITES = f"model:compile_break_sites:sum{{{FAMILY}}}"
TRACKED = f"family:breakwatch_models_tracked:count{{{FAMILY}}}"
WITH_NUMBERS = f"family:breakwatch_models_with_numbers:count{{{FAMILY}}}"
FAMILY_BREAKS = f"family:compile_breaks:sum{{{FAMILY}}}"
FAMILY_SITES = f"family:compile_break_sites:sum{{{FAMILY}}}"
STATUS = f"breakwatch_model_status{{{FAMILY}}}"
OPERATIONS = link("Operations", to_dashboard("operations"))


def share(by=""):
    """Of the models with numbers; 0 and not "No data" where no model has any."""
    return f"avg{by} ({WHOLE}) or 0 * sum{by} ({TRACKED})"


def on_call():
    return [
        (
            5,
            4,
            number(
                "Last complete sweep",
                "Time since the newest complete sweep, of the pool where it is longest ago.",
                f"time() - min(breakwatch_sweep_last_success_timestamp_seconds{JOB})",
                "s",
                link=OPERATIONS,
            ),
        ),
        (
            5,
            4,
            number(
                "Late by",
                "How late the next sweep is, as a share of the interval between sweeps, of the pool that is latest.",
                f"clamp_min(max((time() - {of_group('breakwatch_sweep_last_success_timestamp_seconds')}) "
                f"/ {of_group('breakwatch_sweep_interval_seconds')}) - 1, 0)",
                "percentunit",
                steps=[(0.1, "orange"), (0.5, "red")],
                link=OPERATIONS,
            ),
        ),
        (
            4,
            4,
            number(
                "Models that fail",
                "Models whose last attempt failed. Skipped models are not counted.",
                f"count(breakwatch_model_status{{{FAMILY},{NO_NUMBERS}}} == 1) or vector(0)",
                steps=[(1, "orange")],
            ),
        ),
        (
            5,
            4,
            number(
                "Oldest event waiting",
                "Age of the oldest event that no exporter has sent yet.",
                f"max(time() - breakwatch_events_oldest_timestamp_seconds{JOB}) or vector(0)",
                "s",
                steps=[(1800, "red")],
                link=OPERATIONS,
            ),
        ),
        (
            5,
            4,
            number(
                "Dead letters",
                "Events that a target refused.",
                f"sum(breakwatch_dead_letters{JOB}) or vector(0)",
                steps=[(1, "orange")],
                link=OPERATIONS,
            ),
        ),
        (
            12,
            8,
            joined(
                "Alerts",
                "Alerts of breakwatch that fire; dashboards/rules/RUNBOOKS.md has a section for each.",
                [
                    (
                        None,
                        "max by (alertname, severity, job, pool, model, exporter) "
                        f'(ALERTS{{{GROUP},alertname=~"Breakwatch.*",alertstate="firing"}})',
                    )
                ],
                "severity",
                overrides=[MODEL_CELL],
                ascending=True,
            ),
        ),
        (
            12,
            8,
            joined(
                "Failing models",
                "Models whose last attempt failed, the most downloaded first.",
                [
                    (
                        None,
                        with_hub(
                            "max by (job, pool, family, model, commit, status) "
                            f"(breakwatch_model_status{{{FAMILY},{NO_NUMBERS}}} == 1)"
                        ),
                    ),
                    (
                        "downloads",
                        f"max by (job, pool, family, model) (breakwatch_model_downloads{{{FAMILY}}}) "
                        f"and on (job, pool, model) (breakwatch_model_status{{{FAMILY},{NO_NUMBERS}}} == 1)",
                    ),
                ],
                "downloads",
                hidden=("job", "pool", "commit"),
                overrides=[MODEL_CELL, FAMILY_CELL, HUB_CELL],
            ),
        ),
    ]


def changes():
    by = "by (job, pool, family, model)"
    now, then = f"sum {by} ({SITES})", f"sum {by} ({before(SITES)})"
    breaks = f"compile_breaks_total{{{FAMILY}}}"
    new_commit = f"sum by (job, pool, family, model, commit) ({breaks})"
    new_commit += f" unless on (job, pool, model, commit) {before(breaks)}"
    reasons = f"reason:compile_models:count{{{GROUP}}}"
    new_reason = f"sum by (reason, gb_id) ({reasons}) unless on (reason, gb_id) {before(reasons)}"
    group = ("job", "pool")
    return [
        (
            8,
            8,
            joined(
                "Changed models",
                "Models whose break sites differ from $compare ago. Empty: no numbers at that time.",
                [("now", f"{now} unless {now} == {then}"), ("before", f"{then} unless {then} == {now}")],
                "now",
                hidden=group,
                overrides=[MODEL_CELL, FAMILY_CELL],
            ),
        ),
        (
            8,
            8,
            joined(
                "Changed status",
                "Models whose status differs from $compare ago. Empty: not tracked at that time.",
                [(None, status_change(FAMILY, True)), (None, status_change(FAMILY, False))],
                "model",
                hidden=group,
                overrides=[MODEL_CELL, FAMILY_CELL],
                ascending=True,
            ),
        ),
        (
            8,
            8,
            joined(
                "New commits",
                "Commits captured since $compare ago, with their break events.",
                [("breaks", with_hub(new_commit))],
                "breaks",
                hidden=group,
                overrides=[MODEL_CELL, FAMILY_CELL, HUB_COMMIT_CELL],
            ),
        ),
        (
            24,
            6,
            joined(
                "New reasons",
                "Reasons that no model had $compare ago, and the models that have them now.",
                [("models", new_reason)],
                "models",
                overrides=[REASON_CELL],
            ),
        ),
    ]


def totals():
    cells = [
        ("Full graph", "Share of the models with numbers without a break.", share(), "percentunit"),
        (
            "Breaks for each model",
            "Break events for each model with numbers.",
            f"sum({FAMILY_BREAKS}) / sum({WITH_NUMBERS})",
            "short",
        ),
        ("Break events", "Breaks that Dynamo logged in the current captures.", f"sum({FAMILY_BREAKS})", "short"),
        ("Break sites", "Distinct places in the code behind those events.", f"sum({FAMILY_SITES})", "short"),
        ("Models with numbers", "Models with a capture of their current commit.", f"sum({WITH_NUMBERS})", "short"),
        ("Models tracked", "Members of the tracked set.", f"sum({TRACKED})", "short"),
    ]
    columns = [
        ("full graph", share(" by (family)")),
        ("breaks for each model", f"sum by (family) ({FAMILY_BREAKS}) / sum by (family) ({WITH_NUMBERS}) >= 0"),
        ("breaks", f"sum by (family) ({FAMILY_BREAKS})"),
        ("sites", f"sum by (family) ({FAMILY_SITES})"),
        ("with numbers", f"sum by (family) ({WITH_NUMBERS})"),
        ("tracked", f"sum by (family) ({TRACKED})"),
    ]
    by_family = joined(
        "By family",
        "Totals, and the number of models behind them.",
        columns,
        "tracked",
        overrides=[FAMILY_CELL, *unit_of("percentunit", "full graph")],
    )
    statuses = bars(
        "Status of the last attempt",
        "Models by the status of their last attempt.",
        f"sort_desc(count by (status) ({STATUS} == 1))",
        "{{status}}",
    )
    return [*((4, 4, number(*cell)) for cell in cells), (12, 8, by_family), (12, 8, statuses)]


def trends():
    fixed = "Fixed models: those with numbers all through the time shown. Only they compare like with like."
    return [
        (
            12,
            8,
            series(
                "Share of full graphs",
                fixed,
                [(share(), "all models"), (f"avg({cohort(WHOLE, FAMILY)})", "fixed models")],
                "percentunit",
            ),
        ),
        (
            12,
            8,
            series(
                "Breaks per model",
                "Break events for each model with numbers. " + fixed,
                [(f"avg({PER_MODEL})", "all models"), (f"avg({cohort(PER_MODEL, FAMILY)})", "fixed models")],
            ),
        ),
        (
            12,
            8,
            series(
                "Share of full graphs by family",
                fixed,
                [(f"avg by (family) ({cohort(WHOLE, FAMILY)})", "{{family}}")],
                "percentunit",
            ),
        ),
        (
            12,
            8,
            series(
                "Breaks per model by family",
                fixed,
                [(f"avg by (family) ({cohort(PER_MODEL, FAMILY)})", "{{family}}")],
            ),
        ),
        (
            12,
            8,
            series(
                "Break events over sweeps",
                "The published state over time; a step is a new capture.",
                [(f"sum by (family) ({FAMILY_BREAKS})", "{{family}}")],
                stack=True,
            ),
        ),
        (
            12,
            8,
            series(
                "Models behind the totals",
                "Totals also change with these: check them before you blame a compiler.",
                [
                    (f"sum({TRACKED})", "tracked"),
                    (f"sum({WITH_NUMBERS})", "with numbers"),
                    (f"sum({WHOLE})", "full graph"),
                    (f"count(breakwatch_model_in_ranking{{{FAMILY}}} == 0)", "left the ranking"),
                ],
            ),
        ),
    ]


def build():
    return assemble(
        "overview",
        "overview",
        "What fails, what is late, what changed, and how the share of models without graph breaks develops.",
        {"prometheus_datasource", "job", "pool", "family", "compare", "breakwatch_url"},
        {"On call": on_call(), "What changed": changes(), "Totals": totals(), "Trends": trends()},
    )
