"""`make bench-start`: time until a daemon is ready on a large store. Exit code 1 if a goal is missed.

    python3 tests/benchmarks/bench_start.py [--models 10000] [--mib 1024] [--keep DIR] [--program FILE]

A list of `--models` models is swept by the real program with a worker that answers at once (scale_worker.py). The rows
of this sweep are then copied under new names, as further sweeps with captures of their own, until the database has
`--mib` MiB. `breakwatch store check` must accept it.

First start: the stored state is of an older version, so the history has to be folded again, and no sweep has its
report. The daemon must be ready while it does that. Before each start the database is dropped from the page cache.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from bench_scale import MIB, ROOT, Bench, Gateway, peak_mib, record_hub, reset_peak

READY_S = 2
HEALED_S = 600
DAY_NS = 24 * 3600 * 10**9


def columns(connection, table):
    return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def copy_rows(connection, table, changes, where, values):
    """Copies rows with some columns changed: SQL by column."""
    names = columns(connection, table)
    chosen = ", ".join(changes.get(name, name) for name in names)
    connection.execute(f"INSERT INTO {table} ({', '.join(names)}) SELECT {chosen} FROM {table} WHERE {where}", values)


def copy_sweep(connection, old, number):
    """The same sweep once more, a day later, with captures of its own."""
    (last_seq,) = connection.execute("SELECT MAX(seq) FROM steps").fetchone()
    (last_event,) = connection.execute(
        "SELECT MAX(id) FROM (SELECT id FROM events UNION ALL SELECT id + events - 1 FROM event_runs)").fetchone()
    first_seq = connection.execute("SELECT MIN(seq) FROM steps WHERE sweep_id = ?", [old]).fetchone()[0]
    (first_event,) = connection.execute(
        "SELECT MIN(id) FROM (SELECT id, sweep_id FROM events UNION ALL SELECT id, sweep_id FROM event_runs)"
        " WHERE sweep_id = ?", [old]).fetchone()  # fmt: skip
    new = f"{old[:-6]}{number:06}"
    values = {"old": old, "new": new, "shift": last_seq + 1 - first_seq, "events": last_event + 1 - first_event,
              "ns": number * DAY_NS, "copy": f"-{number}"}  # fmt: skip
    renamed = "replace({}, :old, :new)".format
    of_sweep = "sweep_id = :old"
    captures = "SELECT capture_id FROM results WHERE sweep_id = :old"
    time_columns = {"started_ns": "started_ns + :ns", "finished_ns": "finished_ns + :ns"}
    copy_rows(connection, "sweeps", time_columns | {
        "id": ":new", "document": renamed("document"), "plan_document": renamed("plan_document"),
        "seq": "seq + :shift", "finished_seq": "finished_seq + :shift"}, "id = :old", values)  # fmt: skip
    copy_rows(connection, "plans", {"sweep_id": ":new", "document": renamed("document")}, of_sweep, values)
    copy_rows(connection, "captures", time_columns | {"id": "id || :copy", "seq": "seq + :shift"},
              f"id IN ({captures})", values)  # fmt: skip
    copy_rows(connection, "sites", {"capture_id": "capture_id || :copy"}, f"capture_id IN ({captures})", values)
    copy_rows(connection, "results", time_columns | {
        "sweep_id": ":new", "seq": "seq + :shift", "capture_id": "capture_id || :copy",
        "document": renamed("document")}, of_sweep, values)  # fmt: skip
    copy_rows(connection, "steps", {"seq": "seq + :shift", "sweep_id": ":new", "document": renamed("document")},
              of_sweep, values)  # fmt: skip
    copy_rows(connection, "events", {"id": "id + :events", "ts_ns": "ts_ns + :ns", "sweep_id": ":new",
                                     "line": renamed("line")}, of_sweep, values)  # fmt: skip
    copy_rows(connection, "event_runs", {"id": "id + :events", "ts_ns": "ts_ns + :ns", "sweep_id": ":new"}, of_sweep,
              values)  # fmt: skip
    copy_rows(connection, "plan_runs", {"sweep_id": ":new", "of_sweep": ":new"}, of_sweep, values)
    copy_rows(connection, "result_runs", {"sweep_id": ":new", "seq": "seq + :shift", "of_seq": "of_seq + :shift"},
              of_sweep, values)  # fmt: skip


def grow(database, mib):
    """Returns the number of sweeps."""
    with sqlite3.connect(database) as connection:
        (old,) = connection.execute("SELECT id FROM sweeps").fetchone()
        number = 1
        while database.stat().st_size < mib * MIB:
            number += 1
            copy_sweep(connection, old, number)
            connection.commit()
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return number


def drop_from_cache(folder):
    for path in folder.glob("breakwatch.db*"):
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def tracked(url):
    return json.load(urllib.request.urlopen(url + "/api/v1/status", timeout=10))["models_tracked"]


def until(what, condition, began, child):
    while not condition():
        if child.poll() is not None or time.monotonic() - began > HEALED_S:
            sys.exit(f"{what}: not within {HEALED_S} s")
        time.sleep(0.05)
    return time.monotonic() - began


def measure_start(bench, state, hub, gateway, models, heals):
    name = "first start" if heals else "next start"
    log = bench.folder / "log"
    log.write_bytes(b"")
    drop_from_cache(state)
    began = time.monotonic()
    child, url, ready_s = bench.serve(state, hub, gateway)
    try:
        bench.row(f"{name}: seconds until it is ready", ready_s, "s", READY_S)
        bench.row(f"{name}: models that it does not show then", models - tracked(url), "", 0)
        if heals:
            reset_peak(child.pid)
            computed = "the current state is computed"
            bench.row(
                "history folded again after", until(computed, lambda: computed in log.read_text(), began, child), "s"
            )
            bench.row("largest memory meanwhile", peak_mib(child.pid), "MiB")
        reported = (state / "latest").exists
        bench.row(f"{name}: newest report there after", until("latest", reported, began, child), "s")
        bench.row(f"{name}: models that it does not show at the end", models - tracked(url), "", 0)
    finally:
        child.send_signal(signal.SIGTERM)
        began = time.monotonic()
        child.wait(60)
        bench.row(f"{name}: seconds until it ended", time.monotonic() - began, "s", 10)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=int, default=10_000)
    parser.add_argument("--mib", type=int, default=1024)
    parser.add_argument("--program", type=Path, default=ROOT / "build/release/breakwatch")
    parser.add_argument("--keep", type=Path, help="keep the store in this folder, and use the one in it")
    arguments = parser.parse_args()
    folder = arguments.keep or Path(tempfile.mkdtemp(prefix="breakwatch-start-"))
    folder.mkdir(parents=True, exist_ok=True)
    bench, gateway = Bench(arguments, folder), Gateway()
    hub, state = folder / "hub", folder / "state"
    try:
        if not state.exists():
            record_hub(hub, arguments.models)
            bench.run(bench.argv(state, hub, "sweep"))
            print(f"  {grow(state / 'breakwatch.db', arguments.mib)} sweeps")
            bench.run(bench.argv(state, hub, "store", "rebuild"))
            bench.run(bench.argv(state, hub, "store", "check"))
        print(f"| figure, {arguments.models:,} models | value | goal | |\n| --- | --- | --- | --- |")
        bench.row("database", (state / "breakwatch.db").stat().st_size / MIB, "MiB")
        with sqlite3.connect(state / "breakwatch.db") as connection:
            connection.execute("UPDATE current_meta SET value = '1' WHERE key = 'fold_version'")
        connection.close()
        shutil.rmtree(state / "sweeps", ignore_errors=True)
        (state / "latest").unlink(missing_ok=True)
        measure_start(bench, state, hub, gateway, arguments.models, heals=True)
        measure_start(bench, state, hub, gateway, arguments.models, heals=False)
    finally:
        if not arguments.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print("bench-start: " + ("a goal is missed" if bench.missed else "all goals met"))
    sys.exit(1 if bench.missed else 0)


if __name__ == "__main__":
    main()
