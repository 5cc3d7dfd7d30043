"""Events that Loki rejects: dead letters, and a Loki that rejects everything."""

import gzip
import json
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from e2e_support import eventually, get

FAST = ("--delivery.drain_timeout", "5s", "--delivery.first_backoff", "50ms", "--delivery.max_backoff", "100ms")


class Loki:
    """Responds with 400 to pushes with a line that `refuses` selects, otherwise stores their lines."""

    def __init__(self):
        self.lines, self.answer, self.refuses = [], "entry too far behind", lambda line: False
        loki = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                lines = [json.loads(v[1]) for s in json.loads(body)["streams"] for v in s["values"]]
                refused = any(loki.refuses(line) for line in lines)
                if not refused:
                    loki.lines += lines
                self.send_response(400 if refused else 204)
                answer = loki.answer.encode() if refused else b""
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def ids(self):
        return [line["event_id"] for line in self.lines]


@pytest.fixture
def loki():
    server = Loki()
    yield server
    server.server.shutdown()


def status(breakwatch, *more):
    rows = json.loads(breakwatch.run("events", "status", "--json", *more).stdout)
    return {row["exporter"]: row for row in rows}


def letters(breakwatch, *more):
    return json.loads(breakwatch.run("dead-letters", "list", "--json", *more).stdout)


@pytest.fixture
def refused(breakwatch, hub, loki):
    """After a sweep of which Loki rejected two events about models."""
    hub.model("org/one", 2)
    hub.model("org/two", 1)
    loki.refuses = lambda line: line["msg"] == "model_captured"
    done = breakwatch.run("sweep", "--quiet", "--exporters.loki.url", loki.url, *FAST, code=3)
    assert "breakwatch dead-letters list" in done.stderr
    return breakwatch


def test_dead_letters_are_listed_shown_and_sent_again_in_order_with_their_ids(refused, loki):
    dead = letters(refused)
    assert [row["event"] for row in dead] == ["model_captured"] * 2
    assert {row["model"] for row in dead} == {"org/one", "org/two"}
    assert all("400" in row["reason"] and row["state"] == "dead" for row in dead)
    assert len(letters(refused, "--limit", "1")) == 1 and letters(refused, "--exporter", "file") == []
    (shown,) = json.loads(refused.run("dead-letters", "show", str(dead[0]["event_id"]), "--json").stdout)
    assert shown["event"]["model"] == dead[0]["model"] and shown["event"]["event_id"] == dead[0]["event_id"]
    assert dead[0]["model"] in refused.run("dead-letters", "show", str(dead[0]["event_id"])).stdout
    row = status(refused, "--exporters.loki.url", loki.url)["loki"]
    assert (row["dead_letters"], row["pending"], row["state"]) == (2, 0, "ok") and row["cursor"] == row["newest_event"]

    # Still rejected: they stay, and the exit code reports it.
    args = ("dead-letters", "retry", "--all", "--exporters.loki.url", loki.url, *FAST)
    assert "2 refused again" in refused.run(*args, code=3).stdout
    assert len(letters(refused)) == 2
    loki.refuses = lambda line: False
    before = len(loki.lines)
    assert "2 delivered" in refused.run(*args).stdout
    assert loki.ids()[before:] == sorted(row["event_id"] for row in dead)
    assert letters(refused) == [] and status(refused)["loki"]["dead_letters"] == 0


def test_dead_letters_can_be_dropped_one_by_one_and_all(refused):
    first, second = (row["event_id"] for row in letters(refused))
    assert "expected event ids or --all" in refused.run("dead-letters", "drop", code=64).stderr
    assert "not a dead letter" in refused.run("dead-letters", "drop", "999999", code=1).stderr
    assert json.loads(refused.run("dead-letters", "drop", str(first), "--json").stdout) == {"dropped": 1}
    assert [row["event_id"] for row in letters(refused)] == [second]
    assert "1 dead letter dropped" in refused.run("dead-letters", "drop", "--exporter", "loki", "--all").stdout
    assert "no dead letters" in refused.run("dead-letters", "list").stdout


def test_a_daemon_sends_what_is_queued_beside_it(refused, loki):
    loki.refuses = lambda line: False
    child, address = refused.serve("--exporters.loki.url", loki.url, *FAST)
    assert eventually(lambda: 'breakwatch_dead_letters{exporter="loki"} 2' in get(address + "/metrics")[1])
    ids = [row["event_id"] for row in letters(refused)]
    before = len(loki.lines)
    done = refused.run("dead-letters", "retry", str(ids[1]), str(ids[0]))
    assert "2 dead letters queued" in done.stdout
    assert eventually(lambda: letters(refused) == [])
    assert [i for i in loki.ids()[before:] if i in ids] == sorted(ids)
    assert eventually(lambda: 'breakwatch_dead_letters{exporter="loki"} 0' in get(address + "/metrics")[1])
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_loki_that_refuses_everything_pauses_its_exporter_and_loses_nothing(breakwatch, hub, loki):
    hub.model("org/one", 2)
    loki.answer, loki.refuses = "stream includes structured metadata, but this feature is disallowed", lambda line: True
    short = ("--exporters.loki.url", loki.url, "--delivery.drain_timeout", "1s")
    done = breakwatch.run("sweep", "--quiet", *short, code=3)
    assert "loki: paused: the target refuses every event" in done.stderr and "disallowed" in done.stderr
    row = status(breakwatch, "--exporters.loki.url", loki.url)["loki"]
    assert row["state"] == "paused" and row["pending"] > 2 and row["dead_letters"] == 0
    assert "disallowed" in row["detail"] and row["paused_since"] and row["oldest_age_s"] >= 0
    doctor = json.loads(breakwatch.run("doctor", "--json", *short, code=1).stdout)["checks"]
    assert any(c["check"] == "events" and c["state"] == "failed" and "disallowed" in c["found"] for c in doctor)

    child, address = breakwatch.serve("--exporters.loki.url", loki.url, *FAST)
    assert eventually(lambda: 'breakwatch_export_paused{exporter="loki"} 1' in get(address + "/metrics")[1])
    loki.refuses = lambda line: False
    assert eventually(lambda: 'breakwatch_export_paused{exporter="loki"} 0' in get(address + "/metrics")[1])
    newest = status(breakwatch)["loki"]["newest_event"]
    assert eventually(lambda: loki.ids() and loki.ids()[-1] >= newest)
    # One event may have been sent again: between two attempts, a later event can be the first that is accepted.
    assert set(range(1, newest + 1)) <= set(loki.ids()) and letters(breakwatch) == []
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0
