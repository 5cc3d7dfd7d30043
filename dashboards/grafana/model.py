"""Model: for the owner of models. Their state and history, by commit, mode and toolchain; sites and logs from Loki."""

from frame import assemble
from library import bars, counted_lines, hidden_column, joined, log_lines, matrix, series, unit_of
from links import ABOUT_CELL, FAMILY_CELL, HUB_COMMIT_CELL, MODEL_CELL, REASON_CELL, VARIABLES
from queries import (
    BREAKS,
    BROKEN,
    BROKEN_SITES,
    KNOWN_REASON,
    MODEL,
    REASON,
    SITES,
    STATUS,
    before,
    first_seen,
    last_seen,
    with_hub,
)

COMMIT = "family, model, commit"
LOGS = (
    '{service_name="breakwatch"} | model=~"$model" | json '
    '| msg=~"graph_break|model_captured|model_failed|model_skipped|reason_new|reason_fixed" | reason=~"$reason"'
)
SITES_OF_LOKI = (
    'sum by (model, reason, file, line, function) (sum_over_time({service_name="breakwatch"} | model=~"$model" | json '
    '| msg="graph_break" | reason=~"$reason" | unwrap occurrences [$__auto]))'
)
EXTRA = f"breakwatch_breaks{{{REASON}}}"
ATTEMPTS = f"breakwatch_mode_status{{{MODEL}}}"
WHOLE_ATTEMPTS = f'breakwatch_mode_status{{{MODEL},status="full_graph"}}'


def state():
    """One row for each model, with every count that is published."""
    captured = f"breakwatch_model_last_capture_timestamp_seconds{{{MODEL}}}"

    def of(name):
        return f"max by ({COMMIT}) ({name}{{{MODEL}}})"

    columns = [
        ("breaks", with_hub(f"sum by ({COMMIT}) ({BREAKS})")),
        ("sites", f"sum by ({COMMIT}) ({SITES})"),
        ("graphs", of("compile_graphs")),
        ("operations", of("compile_ops_captured")),
        ("frames given up", of("compile_frames_fallback")),
        ("recompiles", of("compile_recompiles")),
        ("captured", f"time() - max by ({COMMIT}) ({captured})"),
        ("rank", f"max by ({COMMIT}) (breakwatch_model_rank{{{MODEL}}})"),
        ("downloads", f"max by ({COMMIT}) (breakwatch_model_downloads{{{MODEL}}})"),
        ("in ranking", f"max by ({COMMIT}) (breakwatch_model_in_ranking{{{MODEL}}})"),
    ]
    cells = [MODEL_CELL, FAMILY_CELL, HUB_COMMIT_CELL, *unit_of("s", "captured")]
    statuses = f"max by ({COMMIT}, status) ({STATUS} == 1)"
    return [
        (
            24,
            9,
            joined("Models", "The newest successful capture of each model.", columns, "breaks", overrides=cells),
        ),
        (
            10,
            8,
            joined(
                "Status",
                "How the last attempt of each model ended; an empty commit could not be resolved.",
                [(None, statuses)],
                "status",
                overrides=[MODEL_CELL, FAMILY_CELL],
            ),
        ),
        (
            14,
            8,
            joined(
                "Reasons of the models",
                "Break events and sites by reason, now and $compare ago.",
                [
                    ("breaks", f"sum by (model, reason, gb_id) ({BROKEN})"),
                    ("sites", f"sum by (model, reason, gb_id) ({BROKEN_SITES})"),
                    ("breaks before", f"sum by (model, reason, gb_id) ({before(BROKEN)})"),
                    ("sites before", f"sum by (model, reason, gb_id) ({before(BROKEN_SITES)})"),
                ],
                "breaks",
                overrides=[MODEL_CELL, REASON_CELL],
            ),
        ),
        (
            24,
            7,
            joined(
                "About the reasons",
                "What is known about each reason; the id links to its description.",
                [(None, f"max by (reason, gb_id, fixability, url) (breakwatch_reason_info{{{KNOWN_REASON}}})")],
                "reason",
                overrides=[REASON_CELL, ABOUT_CELL, hidden_column("url")],
                ascending=True,
            ),
        ),
    ]


def history():
    last = f"last_over_time(compile_breaks_total{{{REASON}}}[$__range])"
    graphs = f"compile_graphs{{{MODEL}}}"
    by_commit = [
        ("breaks", with_hub(f"sum by ({COMMIT}) ({last})")),
        ("sites", f"sum by ({COMMIT}) (last_over_time(compile_break_sites{{{REASON}}}[$__range]))"),
        ("graphs", f"max by ({COMMIT}) (last_over_time({graphs}[$__range]))"),
        ("first seen", f"min by ({COMMIT}) ({first_seen(graphs)})"),
        ("last seen", f"max by ({COMMIT}) ({last_seen(graphs)})"),
    ]
    cells = [MODEL_CELL, FAMILY_CELL, HUB_COMMIT_CELL, *unit_of("dateTimeFromNow", "first seen", "last seen")]
    counts = [
        (f"sum({BREAKS})", "events"),
        (f"sum({SITES})", "sites"),
        (f"sum(compile_dynamo_counter_breaks{{{MODEL}}})", "Dynamo's counters"),
        (f"sum(compile_explain_breaks{{{MODEL}}})", "torch._dynamo.explain"),
    ]
    return [
        (
            24,
            8,
            joined(
                "History by commit",
                "Each commit in the time shown, with the last numbers of it. The newest commit is first.",
                by_commit,
                "last seen",
                overrides=cells,
            ),
        ),
        (
            12,
            8,
            series(
                "Break sites by commit",
                "Each commit is a line: the line of an old commit ends where that of the new one begins.",
                [(f"sum by (model, commit) ({SITES})", "{{model}} {{commit}}")],
            ),
        ),
        (
            12,
            8,
            series("Four counts", "Break events, break sites, and the counts of PyTorch's tools.", counts),
        ),
    ]


def toolchains():
    count = f"count by (toolchain, mode) ({ATTEMPTS})"
    full = f"count by (toolchain, mode) ({WHOLE_ATTEMPTS}) or 0 * {count}"
    detail = "max by (model, toolchain, mode, status)"
    return [
        (
            12,
            6,
            matrix(
                "Full graphs by toolchain and mode",
                "Share of the attempts without a break. Toolchains and modes: those of metrics.extra.",
                f"({full}) / {count}",
                "toolchain",
                "mode",
                "percentunit",
            ),
        ),
        (
            12,
            6,
            matrix(
                "Break events by toolchain and mode",
                "Break events of the chosen models. Toolchains and modes: those of metrics.extra.",
                f"sum by (toolchain, mode) ({EXTRA})",
                "toolchain",
                "mode",
            ),
        ),
        (
            14,
            8,
            joined(
                "Status by toolchain and mode",
                "The last attempt of each model by the toolchains and modes in metrics.extra.",
                [
                    (None, f"{detail} ({ATTEMPTS} == 1)"),
                    ("breaks", f"sum by (model, toolchain, mode) ({EXTRA})"),
                ],
                "model",
                overrides=[MODEL_CELL],
                ascending=True,
            ),
        ),
        (
            10,
            8,
            series(
                "Break events by toolchain and mode over time",
                "History by toolchain; annotations mark new toolchains.",
                [(f"sum by (toolchain, mode) ({EXTRA})", "{{toolchain}} {{mode}}")],
            ),
        ),
    ]


def cost():
    labels = f"{COMMIT}, backend"

    def latency(quantile):
        return f'max by ({labels}) (breakwatch_latency_seconds{{{MODEL},quantile="{quantile}"}})'

    columns = [
        ("median", with_hub(latency("0.5"))),
        ("p95", latency("0.95")),
        ("compile", f"max by ({labels}) (breakwatch_compile_seconds{{{MODEL}}})"),
    ]
    times = joined(
        "Time of a call",
        "The newest profile or benchmark of each model, by backend.",
        columns,
        "median",
        overrides=[MODEL_CELL, FAMILY_CELL, HUB_COMMIT_CELL, *unit_of("s", "median", "p95", "compile")],
    )
    between = bars(
        "Time between graphs",
        "Share of a call that runs in Python between graphs, in the newest profile.",
        f'topk(10, max by (model) (breakwatch_profile_share{{{MODEL},segment="breaks"}}))',
        "{{model}}",
        "percentunit",
    )
    phases = series(
        "Time inside captures",
        "Sum over the models' current captures, by phase.",
        [(f"sum by (phase) (breakwatch_model_capture_duration_seconds{{{MODEL}}})", "{{phase}}")],
        "s",
        stack=True,
    )
    return [(12, 8, times), (6, 8, between), (6, 8, phases)]


def from_logs():
    sites = counted_lines(
        "Sites of the models",
        "Places in the code, from the events of the time shown: break events of the new results.",
        SITES_OF_LOKI,
        "breaks",
        overrides=[MODEL_CELL, REASON_CELL],
    )
    lines = log_lines("Events", "Captures, breaks and failures of the chosen models.", LOGS)
    return [(24, 9, sites), (24, 12, lines)]


def build():
    return assemble(
        "model",
        "models",
        "Chosen models: state, history by commit, modes and toolchains, measured times, break sites and logs.",
        set(VARIABLES),
        {
            "State": state(),
            "History": history(),
            "Modes and toolchains": toolchains(),
            "Cost": cost(),
            "Sites and logs": from_logs(),
        },
    )
