"""Reasons: for a developer of the compiler. Which reason matters most, who has it and where, and since when."""

from frame import assemble
from library import bars, counted_lines, hidden_column, joined, matrix, series, unit_of
from links import ABOUT_CELL, FAMILY_CELL, HUB_COMMIT_CELL, MODEL_CELL, REASON_CELL, VARIABLES
from queries import BROKEN, BROKEN_SITES, JOB, KNOWN_REASON, MODEL, REASON, before, first_seen, with_hub

LEVERAGE = f"breakwatch_reason_leverage{{{KNOWN_REASON}}}"
MODELS = f"reason:compile_models:count{{{KNOWN_REASON}}}"
EXTRA = f'breakwatch_breaks{{{REASON},reason!="none",mode="eval"}}'
DOWNLOADS = (
    f"sum by (reason, gb_id) (({BROKEN} > bool 0) * on (job, pool, model) group_left () "
    f"max by (job, pool, model) (breakwatch_model_downloads{{{MODEL}}}))"
)
SITES_OF_LOKI = (
    'sum by (reason, file, line, function) (count_over_time({service_name="breakwatch"} | json | msg="graph_break" '
    '| reason=~"$reason" | model=~"$model" [$__auto]))'
)


def ranking():
    """By leverage: what one fix makes whole. By downloads: whom it helps."""
    info = f"max by (reason, gb_id, fixability, url) (breakwatch_reason_info{{{KNOWN_REASON}}})"
    first = f"min by (reason, gb_id) ({first_seen(MODELS)})"
    return [
        (
            24,
            11,
            joined(
                "Top reasons",
                "Models: at least one such break. Unblocked: no other break, so one fix makes at most these whole. "
                "Downloads: of its models, in 30 days. First seen: within the time shown.",
                [
                    ("unblocked", f"sum by (reason, gb_id) ({LEVERAGE})"),
                    ("models", f"count by (reason, gb_id) ({BROKEN} > 0)"),
                    ("downloads", DOWNLOADS),
                    ("breaks", f"sum by (reason, gb_id) ({BROKEN})"),
                    ("sites", f"sum by (reason, gb_id) ({BROKEN_SITES})"),
                    ("first seen", first),
                    (None, info),
                ],
                "unblocked",
                overrides=[REASON_CELL, ABOUT_CELL, hidden_column("url"), *unit_of("dateTimeFromNow", "first seen")],
            ),
        ),
        (
            12,
            8,
            bars(
                "Unblocked by one fix",
                "Models whose breaks all have this reason.",
                f"topk(10, sum by (reason, gb_id) ({LEVERAGE}))",
                "{{gb_id}} {{reason}}",
            ),
        ),
        (
            12,
            8,
            bars(
                "Downloads behind a reason",
                "Downloads in 30 days of the models that have it.",
                f"topk(10, {DOWNLOADS})",
                "{{gb_id}} {{reason}}",
            ),
        ),
        (
            12,
            8,
            series(
                "Models by reason",
                "Models with at least one such break.",
                [(f"topk(10, sum by (reason, gb_id) ({MODELS}))", "{{gb_id}} {{reason}}")],
            ),
        ),
        (
            12,
            8,
            series(
                "Break events by reason",
                "The published state over time; a step is a new capture.",
                [
                    (
                        f"topk(10, sum by (reason, gb_id) (reason:compile_breaks:sum{{{KNOWN_REASON}}}))",
                        "{{gb_id}} {{reason}}",
                    )
                ],
            ),
        ),
    ]


def one_reason():
    labels = "family, model, commit, reason, gb_id"
    downloads = f"max by (family, model, commit) (breakwatch_model_downloads{{{MODEL}}})"
    return [
        (
            14,
            10,
            joined(
                "Models of the reason",
                "The models that have the chosen reasons, with the break events of $compare ago.",
                [
                    ("breaks", with_hub(f"sum by ({labels}) ({BROKEN} > 0)")),
                    ("sites", f"sum by ({labels}) ({BROKEN_SITES} > 0)"),
                    ("before", f"sum by ({labels}) ({before(BROKEN)}) and on (model, reason) ({BROKEN} > 0)"),
                    (
                        "downloads",
                        f"sum by ({labels}) (0 * ({BROKEN} > 0)) + on (family, model, commit) group_left () "
                        + downloads,
                    ),
                ],
                "breaks",
                overrides=[MODEL_CELL, REASON_CELL, FAMILY_CELL, HUB_COMMIT_CELL],
            ),
        ),
        (
            10,
            10,
            counted_lines(
                "Sites of the reason",
                "Places in the code, from the events of the time shown: models that got a new result with this site.",
                SITES_OF_LOKI,
                "events",
                overrides=[REASON_CELL],
            ),
        ),
    ]


def fixes():
    """What the fixes did that were tried (sweep --fix): on which reasons, and with which outcome."""
    return [
        (
            14,
            8,
            matrix(
                "Reasons removed by a fix",
                "Models in which the fix, alone, removed every break of the reason. Empty: not tried, or not removed.",
                f"sum by (reason, fix) (breakwatch_reason_fixed_by{{{KNOWN_REASON}}})",
                "reason",
                "fix",
                overrides=[REASON_CELL],
            ),
        ),
        (
            10,
            8,
            matrix(
                "Models by fix and outcome",
                "Models on which the fix was tried, alone or as the recommended combination. whole: one graph, with "
                "the same results.",
                f"sum by (fix, outcome) (breakwatch_fix_models{JOB})",
                "fix",
                "outcome",
            ),
        ),
    ]


def by_toolchain():
    """breakwatch_breaks holds the toolchains of metrics.extra; compile_breaks_total the primary one."""
    by = "by (reason, gb_id, toolchain)"
    extra = f"sum {by} ({EXTRA})"
    primary = f"0 * {extra} + on (reason, gb_id) group_left () sum by (reason, gb_id) ({BROKEN})"
    return [
        (
            14,
            8,
            joined(
                "Reasons by toolchain",
                "Break events by another toolchain (metrics.extra) and by the primary one. Empty: not such a break.",
                [("this toolchain", extra), ("primary", primary), ("models", f"count {by} ({EXTRA} > 0)")],
                "this toolchain",
                overrides=[REASON_CELL],
            ),
        ),
        (
            10,
            8,
            matrix(
                "Models by reason and toolchain",
                "Models that have the reason, by toolchain.",
                f"count by (reason, toolchain) ({EXTRA} > 0)",
                "reason",
                "toolchain",
                overrides=[REASON_CELL],
            ),
        ),
    ]


def build():
    return assemble(
        "reasons",
        "reasons",
        "Which reasons for graph breaks matter most, which models have them, where, since when, by which toolchain.",
        set(VARIABLES),
        {"Ranking": ranking(), "Fixes": fixes(), "Chosen reasons": one_reason(), "Toolchains": by_toolchain()},
    )
