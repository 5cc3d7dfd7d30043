"""Operations: for who runs breakwatch. Sweeps, workers, captures a minute, delivery, the gateway, the daemon."""

from frame import assemble
from library import joined, log_lines, number, series, unit_of
from queries import JOB, of_exporter, of_group

PROCESS_LOGS = (
    '{service_name="breakwatch"} | json '
    '| msg=~"sweep_started|sweep_resumed|sweep_finished|sweep_failed|delivery_failed|config_reloaded|'
    'config_reload_refused|event_lost"'
)
# What a process counts, by worker: a one-shot sweep exits, so its rate would be 0.
WORKER_COUNTS = ("started", "failed_starts", "lost", "retried_captures", "ignored_results")


def age(name):
    return f"time() - {of_group(name)}"


def sweeps():
    captures = f"breakwatch_model_last_capture_timestamp_seconds{JOB} > (time() - 300)"
    toolchains = f"max by (toolchain, torch, transformers, python) (breakwatch_toolchain_info{JOB})"
    return [
        (
            5,
            4,
            number(
                "Captures a minute",
                "Models with a new capture, over the last five minutes. Results that were reused are not counted.",
                f"(count({captures}) or vector(0)) / 5",
            ),
        ),
        (
            4,
            4,
            number(
                "Depth mismatches",
                "Captures whose reduced and full depth disagreed.",
                f"sum(breakwatch_depth_mismatches_total{JOB})",
            ),
        ),
        (
            5,
            4,
            joined(
                "Sandbox",
                "Sandbox of captures: bubblewrap, landlock, launcher (your own) or none.",
                [(None, f"max by (sandbox) (breakwatch_sandbox_info{JOB})")],
                "sandbox",
            ),
        ),
        (
            4,
            4,
            joined(
                "Versions",
                "Versions of breakwatch that publish.",
                [(None, f"max by (version) (breakwatch_build_info{JOB})")],
                "version",
            ),
        ),
        (6, 4, joined("Toolchains", "Toolchains that capture.", [(None, toolchains)], "toolchain")),
        (
            24,
            5,
            joined(
                "Sweeps by pool",
                "Time since the newest complete and the newest failed or incomplete sweep, and until the next one.",
                [
                    ("complete", age("breakwatch_sweep_last_success_timestamp_seconds")),
                    ("failed", age("breakwatch_sweep_last_failure_timestamp_seconds")),
                    ("interval", of_group("breakwatch_sweep_interval_seconds")),
                    ("next", f"{of_group('breakwatch_sweep_next_due_timestamp_seconds')} - time()"),
                ],
                "complete",
                overrides=unit_of("s", "complete", "failed", "interval", "next"),
            ),
        ),
        (
            8,
            8,
            series(
                "Duration of sweeps",
                "Wall time of the newest finished sweep.",
                [(of_group("breakwatch_sweep_duration_seconds"), "{{job}} {{pool}}")],
                "s",
            ),
        ),
        (
            8,
            8,
            series(
                "Models by status",
                "Models of the newest finished sweep, by status.",
                [(f"sum by (status) (breakwatch_sweep_models{JOB}) > 0", "{{status}}")],
                stack=True,
            ),
        ),
        (
            8,
            8,
            series(
                "Captures a minute over time",
                "Models whose published capture was replaced, over five minutes.",
                [(f"sum(changes(breakwatch_model_last_capture_timestamp_seconds{JOB}[5m])) / 5", "captures a minute")],
            ),
        ),
    ]


def workers():
    expression = "max by (job, pool, toolchain) (breakwatch_workers_{}_total{})"
    return [
        (
            24,
            5,
            joined(
                "Worker processes",
                "Since the program started: workers started, failed to start or were lost; captures tried again.",
                [(count.replace("_", " "), expression.format(count, JOB)) for count in WORKER_COUNTS],
                "lost",
            ),
        ),
    ]


def delivery():
    def rate(name):
        return f"max by (job, pool, exporter) (rate({name}{JOB}[$__rate_interval]))"

    waiting = series(
        "Events waiting",
        "Stored events that an exporter has not sent yet; none is lost.",
        [(of_exporter("breakwatch_events_pending"), "{{exporter}} {{pool}}")],
    )
    oldest = series(
        "Oldest event by exporter",
        "Age of the oldest event waiting, by exporter.",
        [(f"time() - {of_exporter('breakwatch_events_oldest_timestamp_seconds')}", "{{exporter}} {{pool}}")],
        "s",
    )
    attempts = series(
        "Attempts and failures",
        "Per second, of daemons: the process counts these. A one-shot sweep exits, so its rate is 0.",
        [
            (rate("breakwatch_export_attempts_total"), "{{exporter}} {{pool}} attempts"),
            (rate("breakwatch_export_failures_total"), "{{exporter}} {{pool}} failures"),
        ],
        "ops",
    )
    exporters = joined(
        "Exporters",
        "Events that a target refused, exporters paused because it refuses all, last success and failure.",
        [
            ("dead letters", of_exporter("breakwatch_dead_letters")),
            ("paused", of_exporter("breakwatch_export_paused")),
            ("last success", f"time() - {of_exporter('breakwatch_export_last_success_timestamp_seconds')}"),
            ("last failure", f"time() - {of_exporter('breakwatch_export_last_failure_timestamp_seconds')}"),
        ],
        "dead letters",
        overrides=unit_of("s", "last success", "last failure"),
    )
    return [(8, 8, waiting), (8, 8, oldest), (8, 8, attempts), (24, 6, exporters)]


def gateway():
    """The series of the Pushgateway itself about the groups of breakwatch: pushed ones, whatever their job is."""
    ours = f"and on (job, pool) breakwatch_build_info{JOB}"
    return [
        (
            12,
            6,
            joined(
                "Pushgateway",
                "Time since the last accepted and the last refused push of each group. Never: a very long time.",
                [
                    ("accepted", f"time() - max by (job, pool) (push_time_seconds{JOB} {ours})"),
                    ("refused", f"time() - max by (job, pool) (push_failure_time_seconds{JOB} {ours})"),
                ],
                "accepted",
                overrides=unit_of("s", "accepted", "refused"),
            ),
        ),
        (
            12,
            6,
            series(
                "Models published",
                "Models in the series that Prometheus has, by group.",
                [(f"sum by (job, pool) (breakwatch:models_tracked:count{JOB})", "{{job}} {{pool}}")],
            ),
        ),
    ]


def daemon():
    """`GET /metrics` of daemons: without one these panels are empty."""
    return [
        (
            8,
            7,
            joined(
                "Daemons",
                "Version, time since the start, 1 if the newest settings were accepted. Empty: only one-shot sweeps.",
                [
                    (None, f"max by (job, pool, version) (breakwatch_daemon_info{JOB})"),
                    ("running for", f"time() - {of_group('process_start_time_seconds')}"),
                    ("settings accepted", of_group("breakwatch_config_last_reload_successful")),
                ],
                "running for",
                overrides=unit_of("s", "running for"),
            ),
        ),
        (
            8,
            7,
            series(
                "Memory of the daemon",
                "Resident memory, without workers.",
                [(of_group("process_resident_memory_bytes"), "{{job}} {{pool}}")],
                "bytes",
            ),
        ),
        (
            8,
            7,
            series(
                "Processor of the daemon",
                "Cores in use, without workers.",
                [
                    (
                        f"max by (job, pool) (rate(process_cpu_seconds_total{JOB}[$__rate_interval])) "
                        f"and on (job, pool) breakwatch_daemon_info{JOB}",
                        "{{job}} {{pool}}",
                    )
                ],
            ),
        ),
    ]


def build():
    logs = [(24, 10, log_lines("Events", "Sweeps, failed deliveries and settings.", PROCESS_LOGS))]
    return assemble(
        "operations",
        "operations",
        "How breakwatch itself works: sweeps, workers, captures a minute, delivery, Pushgateway, daemons.",
        {"prometheus_datasource", "loki_datasource", "job", "pool"},
        {
            "Sweeps": sweeps(),
            "Workers": workers(),
            "Delivery": delivery(),
            "Pushgateway": gateway(),
            "Daemons": daemon(),
            "Log": logs,
        },
        since="now-24h",
    )
