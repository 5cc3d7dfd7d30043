"""The content of the dashboard, row by row.

The queries compare states, now and `$compare` ago. compile_breaks_total is a state, the result of the last capture, so
rate() and increase() of it have no meaning. Pools hold disjoint models and a series is scraped once, so sums over pools
are right. A cell is (width, height, panel).
"""

from panels import LOKI, bars, column_hidden, column_unit, link, panel, series, stat, table, target

GROUP = 'job=~"$job",pool=~"$pool"'
MODEL = GROUP + ',family=~"$family",model=~"$model"'
REASON = MODEL + ',reason=~"$reason"'
BREAKS = f"compile_breaks_total{{{REASON}}}"
SITES = f"compile_break_sites{{{REASON}}}"
BROKEN = f'compile_breaks_total{{{REASON},reason!="none"}}'
BROKEN_SITES = f'compile_break_sites{{{REASON},reason!="none"}}'
STATUS = f"breakwatch_model_status{{{MODEL}}}"
TRACKED = f"{STATUS} == 1"
WITH_NUMBERS = f"compile_graphs{{{MODEL}}}"
WHOLE = f"model:full_graph:bool{{{MODEL}}}"  # recorded: 1 for a model with a full graph, else 0
PER_MODEL = f"model:compile_breaks:sum{{{MODEL}}}"
JOB = f"{{{GROUP}}}"


def before(selector):
    return f"{selector} offset $compare"


def share(by=""):
    """Of the models with numbers; 0 and not "No data" where no model has any."""
    return f"avg{by} ({WHOLE}) or 0 * count{by} ({TRACKED})"


def cohort(series):
    """Only the models that had numbers all through the time shown: a change of this series is not one of the models."""
    samples = f"count_over_time({WHOLE}[$__range] @ end())"
    return f"{series} and on (job, pool, model) ({samples} >= 0.99 * scalar(max({samples})))"


MODEL_LINKS = (
    link(
        "model",
        ("Show only this model", "/d/breakwatch?var-model=${__value.raw}&${__url_time_range}"),
        ("Its graphs and breaks on breakwatch's page", "$page/#/models/${__value.raw}"),
    ),
    link("commit", ("This commit on the Hub", "https://huggingface.co/${__data.fields.model}/tree/${__value.raw}")),
)


def now_row():
    return [
        (5, 4, stat("Break events", "Breaks that Dynamo logged in the models' current captures.", f"sum({BREAKS})")),
        (5, 4, stat("Break sites", "Distinct places in the code behind those events.", f"sum({SITES})")),
        (4, 4, stat("Full graph", "Share of the models with numbers without a break.", share(), "percentunit")),
        (
            5,
            4,
            stat("Models with numbers", "Models with a capture of their current commit.", f"count({WITH_NUMBERS})"),
        ),
        (5, 4, stat("Models tracked", "Members of the tracked set.", f"count({TRACKED})")),
        (
            12,
            8,
            table(
                "By family",
                "Totals, and the number of tracked models behind them.",
                [
                    ("breaks", f"sum by (family) ({BREAKS})"),
                    ("sites", f"sum by (family) ({SITES})"),
                    ("full graph", share(" by (family)")),
                    ("with numbers", f"count by (family) ({WITH_NUMBERS}) or 0 * count by (family) ({TRACKED})"),
                    ("tracked", f"count by (family) ({TRACKED})"),
                ],
                "breaks",
                overrides=[column_unit("full graph", "percentunit")],
            ),
        ),
        (
            12,
            8,
            bars(
                "Status of the last attempt",
                "Models by the status of their last attempt.",
                f"sort_desc(count by (status) ({TRACKED}))",
                "{{status}}",
            ),
        ),
    ]


def time_row():
    return [
        (
            12,
            8,
            series(
                "Break events over sweeps",
                "The published state over time; a step is a new capture.",
                [target(f"sum by (family) ({BREAKS})", "{{family}}")],
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
                    target(f"count({TRACKED})", "tracked"),
                    target(f"count({WITH_NUMBERS})", "with numbers"),
                    target(f"sum({WHOLE})", "full graph"),
                    target(f"count(breakwatch_model_in_ranking{{{MODEL}}} == 0)", "left the ranking"),
                ],
            ),
        ),
        (
            12,
            8,
            series(
                "Share of full graphs",
                "Fixed models: those with numbers all through the time shown. Only they compare like with like.",
                [target(share(), "all models"), target(f"avg({cohort(WHOLE)})", "fixed models")],
                "percentunit",
            ),
        ),
        (
            12,
            8,
            series(
                "Breaks per model",
                "Break events for each model with numbers. Fixed models: with numbers all through the time shown.",
                [target(f"avg({PER_MODEL})", "all models"), target(f"avg({cohort(PER_MODEL)})", "fixed models")],
            ),
        ),
        (
            24,
            7,
            series(
                "Four counts",
                "Break events, break sites, and the counts of PyTorch's tools.",
                [
                    target(f"sum({BREAKS})", "events"),
                    target(f"sum({SITES})", "sites"),
                    target(f"sum(compile_dynamo_counter_breaks{{{MODEL}}})", "Dynamo's counters"),
                    target(f"sum(compile_explain_breaks{{{MODEL}}})", "torch._dynamo.explain"),
                ],
            ),
        ),
    ]


def why_row():
    leverage = f'breakwatch_reason_leverage{{{GROUP},reason=~"$reason"}}'
    info = f'breakwatch_reason_info{{{GROUP},reason=~"$reason"}}'
    return [
        (
            16,
            10,
            table(
                "Top reasons",
                "Models: at least one such break. Leverage: no other break, so one fix unblocks at most these.",
                [
                    ("breaks", f"sum by (reason, gb_id) ({BROKEN})"),
                    ("sites", f"sum by (reason, gb_id) ({BROKEN_SITES})"),
                    ("models", f"count by (reason, gb_id) ({BROKEN} > 0)"),
                    ("leverage", f"sum by (reason, gb_id) ({leverage})"),
                    ("known", f"max by (reason, gb_id, fixability, url) ({info})"),
                ],
                "breaks",
                hidden=("Value #E",),
                overrides=[link("gb_id", ("About this reason", "${__data.fields.url}")), column_hidden("url")],
            ),
        ),
        (
            8,
            10,
            bars(
                "Leverage",
                "Models whose breaks all have this reason.",
                f"topk(10, max by (reason, gb_id) ({leverage}))",
                "{{gb_id}} {{reason}}",
            ),
        ),
    ]


def where_row():
    labels = "family, model, commit"
    captured = f"breakwatch_model_last_capture_timestamp_seconds{{{MODEL}}}"
    return [
        (
            24,
            10,
            table(
                "Top models",
                "The models with the most break events, at the commit that was captured.",
                [
                    ("breaks", f"sum by ({labels}) ({BREAKS})"),
                    ("sites", f"sum by ({labels}) ({SITES})"),
                    ("graphs", f"max by ({labels}) (compile_graphs{{{MODEL}}})"),
                    ("operations", f"max by ({labels}) (compile_ops_captured{{{MODEL}}})"),
                    ("frames given up", f"max by ({labels}) (compile_frames_fallback{{{MODEL}}})"),
                    ("recompiles", f"max by ({labels}) (compile_recompiles{{{MODEL}}})"),
                    ("captured", f"time() - max by ({labels}) ({captured})"),
                    ("rank", f"max by ({labels}) (breakwatch_model_rank{{{MODEL}}})"),
                    ("downloads", f"max by ({labels}) (breakwatch_model_downloads{{{MODEL}}})"),
                ],
                "breaks",
                overrides=[*MODEL_LINKS, column_unit("captured", "s")],
            ),
        )
    ]


def cost_row():
    labels = "family, model, commit, backend"

    def latency(quantile):
        return f'max by ({labels}) (breakwatch_latency_seconds{{{MODEL},quantile="{quantile}"}})'

    return [
        (
            16,
            8,
            table(
                "Time of a call",
                "The newest profile or benchmark of each model, by backend.",
                [
                    ("median", latency("0.5")),
                    ("p95", latency("0.95")),
                    ("compile", f"max by ({labels}) (breakwatch_compile_seconds{{{MODEL}}})"),
                ],
                "median",
                overrides=[*MODEL_LINKS, *(column_unit(name, "s") for name in ("median", "p95", "compile"))],
            ),
        ),
        (
            8,
            8,
            bars(
                "Time between graphs",
                "Share of a call that runs in Python between graphs, in the newest profile.",
                f'topk(10, max by (model) (breakwatch_profile_share{{{MODEL},segment="breaks"}}))',
                "{{model}}",
                "percentunit",
            ),
        ),
    ]


def status_change(now):
    """Models that have a status on one side only; the label `status` becomes a column named after the side."""
    sides = [f"max by (job, pool, family, model, status) ({side})" for side in (STATUS, before(STATUS))]
    one, other = sides if now else reversed(sides)
    name = "now" if now else "before"
    changed = f"{one} unless on (job, pool, model, status) {other}"
    return f'max by (job, pool, family, model, {name}) (label_replace({changed}, "{name}", "$1", "status", "(.*)"))'


def change_row():
    by = "by (job, pool, family, model)"
    now, then = f"sum {by} ({SITES})", f"sum {by} ({before(SITES)})"
    new_commit = f"sum by (job, pool, family, model, commit) ({BREAKS})"
    new_commit += f" unless on (job, pool, model, commit) {before(BREAKS)}"
    new_reason = f"count by (reason, gb_id) ({BROKEN} > 0) unless on (reason, gb_id) ({before(BROKEN)} > 0)"
    one_side = ("job", "pool")
    return [
        (
            8,
            8,
            table(
                "Changed models",
                "Models whose break sites differ from $compare ago. Empty: no numbers at that time.",
                [("now", f"{now} unless {now} == {then}"), ("before", f"{then} unless {then} == {now}")],
                "now",
                hidden=one_side,
                overrides=MODEL_LINKS[:1],
            ),
        ),
        (
            8,
            8,
            table(
                "Changed status",
                "Models whose status differs from $compare ago. Empty: not tracked at that time.",
                [("now", status_change(True)), ("before", status_change(False))],
                "model",
                hidden=(*one_side, "Value #A", "Value #B"),
                overrides=MODEL_LINKS[:1],
            ),
        ),
        (
            8,
            8,
            table(
                "New commits",
                "Commits captured since $compare ago, with their break events.",
                [("breaks", new_commit)],
                "breaks",
                hidden=one_side,
                overrides=MODEL_LINKS,
            ),
        ),
        (
            24,
            6,
            table(
                "New reasons",
                "Reasons that no model had $compare ago, and the models that have them now.",
                [("models", new_reason)],
                "models",
            ),
        ),
    ]


def workers():
    counts = ("started", "failed_starts", "lost", "retried_captures", "ignored_results")
    expression = "max by (job, pool, toolchain) (breakwatch_workers_{}_total{})"
    return table(
        "Worker processes",
        "Since the program started: workers started, failed before they were ready and lost; captures tried again.",
        [(count.replace("_", " "), expression.format(count, JOB)) for count in counts],
        "lost",
    )


def sweep_row():
    def each(name):
        return f"max by (job, pool) ({name}{JOB})"

    toolchains = f"max by (toolchain, torch, transformers, python) (breakwatch_toolchain_info{JOB})"
    return [
        (
            5,
            4,
            stat(
                "Last complete sweep",
                "Time since the newest complete sweep, of the pool where it is longest ago.",
                f"time() - min(breakwatch_sweep_last_success_timestamp_seconds{JOB})",
                "s",
            ),
        ),
        (
            5,
            4,
            stat(
                "Depth mismatches",
                "Captures whose reduced and full depth disagreed.",
                f"sum(breakwatch_depth_mismatches_total{JOB})",
            ),
        ),
        (
            5,
            4,
            table(
                "Sandbox",
                "Sandbox of captures: bubblewrap, landlock, launcher (your own) or none.",
                [("sandbox", f"max by (sandbox) (breakwatch_sandbox_info{JOB})")],
                "sandbox",
                hidden=("Value",),
            ),
        ),
        (
            9,
            4,
            table(
                "Versions",
                "Versions of breakwatch and of the toolchains.",
                [("toolchains", toolchains)],
                "toolchain",
                hidden=("Value",),
            ),
        ),
        (
            24,
            5,
            table(
                "Sweeps by pool",
                "Time since the newest complete and the newest failed or incomplete sweep, and until the next one.",
                [
                    ("complete", f"time() - {each('breakwatch_sweep_last_success_timestamp_seconds')}"),
                    ("failed", f"time() - {each('breakwatch_sweep_last_failure_timestamp_seconds')}"),
                    ("interval", each("breakwatch_sweep_interval_seconds")),
                    ("next", f"{each('breakwatch_sweep_next_due_timestamp_seconds')} - time()"),
                ],
                "complete",
                overrides=[column_unit(name, "s") for name in ("complete", "failed", "interval", "next")],
            ),
        ),
        (
            8,
            8,
            series(
                "Duration",
                "Wall time of the newest finished sweep.",
                [target(each("breakwatch_sweep_duration_seconds"), "{{job}} {{pool}}")],
                "s",
            ),
        ),
        (
            8,
            8,
            series(
                "Models by status",
                "Models of the newest finished sweep, by status.",
                [target(f"sum by (status) (breakwatch_sweep_models{JOB}) > 0", "{{status}}")],
                stack=True,
            ),
        ),
        (
            8,
            8,
            series(
                "Time inside captures",
                "Sum over the models' current captures, by phase.",
                [target(f"sum by (phase) (breakwatch_model_capture_duration_seconds{{{MODEL}}})", "{{phase}}")],
                "s",
                stack=True,
            ),
        ),
        (24, 5, workers()),
    ]


def delivery_row():
    def of(name):
        return f"max by (job, pool, exporter) ({name}{JOB})"

    def rate(name):
        return f"max by (job, pool, exporter) (rate({name}{JOB}[$__rate_interval]))"

    return [
        (
            6,
            7,
            series(
                "Events waiting",
                "Stored events that an exporter has not sent yet; none is lost.",
                [target(of("breakwatch_events_pending"), "{{exporter}} {{pool}}")],
            ),
        ),
        (
            6,
            7,
            series(
                "Oldest event waiting",
                "Age of the oldest event waiting, by exporter.",
                [target(f"time() - {of('breakwatch_events_oldest_timestamp_seconds')}", "{{exporter}} {{pool}}")],
                "s",
            ),
        ),
        (
            6,
            7,
            series(
                "Attempts and failures",
                "Per second, of daemons: the process counts these. A one-shot sweep exits, so its rate is 0.",
                [
                    target(rate("breakwatch_export_attempts_total"), "{{exporter}} {{pool}} attempts"),
                    target(rate("breakwatch_export_failures_total"), "{{exporter}} {{pool}} failures"),
                ],
                "ops",
            ),
        ),
        (
            6,
            7,
            table(
                "Exporters",
                "Events that a target refused, exporters paused because it refuses all, last success and failure.",
                [
                    ("dead letters", of("breakwatch_dead_letters")),
                    ("paused", of("breakwatch_export_paused")),
                    ("last success", f"time() - {of('breakwatch_export_last_success_timestamp_seconds')}"),
                    ("last failure", f"time() - {of('breakwatch_export_last_failure_timestamp_seconds')}"),
                ],
                "dead letters",
                overrides=[column_unit("last success", "s"), column_unit("last failure", "s")],
            ),
        ),
    ]


LOG_QUERY = (
    '{service_name="breakwatch"} | model=~"$model" | json '
    '| msg=~"graph_break|model_failed|reason_new|reason_fixed|sweep_started|sweep_finished|delivery_failed" '
    '| reason=~"$reason"'
)


def log_row():
    options = {"showTime": True, "wrapLogMessage": True, "enableLogDetails": True, "sortOrder": "Descending"}
    query = {"datasource": LOKI, "expr": LOG_QUERY, "queryType": "range"}
    return [
        (
            24,
            10,
            panel(
                "logs", "Events", "Breaks and failures as they are found.", [query], options=options, datasource=LOKI
            ),
        )
    ]


ROWS = {
    "Now": now_row,
    "Over time": time_row,
    "Why": why_row,
    "Where": where_row,
    "Cost": cost_row,
    "What changed": change_row,
    "Sweeps": sweep_row,
    "Delivery": delivery_row,
    "Log": log_row,
}
