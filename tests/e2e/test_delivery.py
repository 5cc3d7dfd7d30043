"""Events that Loki rejects: dead letters, and a Loki that rejects everything.

Loki is the stand-in of the unit tests, with Loki's limits, blocks and texts (tests/loki/loki_store.h).
"""

import json
import signal
import subprocess
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
from e2e_support import eventually, get

FAST = ("--delivery.drain_timeout", "5s", "--delivery.first_backoff", "50ms", "--delivery.max_backoff", "100ms")


class Loki:
    def __init__(self, program):
        self.child = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = self.child.stdout.readline().strip()

    def control(self, **orders):
        body = json.dumps(orders).encode()
        return json.load(urllib.request.urlopen(urllib.request.Request(self.url + "/control", body), timeout=10))

    def set(self, **limits):
        self.control(limits=limits)

    def lines(self):
        """What a query returns, oldest first."""
        selector = urllib.parse.quote('{service_name="breakwatch"}')
        status, text = get(f"{self.url}/loki/api/v1/query_range?limit=5000&query={selector}")
        assert status == 200, text
        values = [value for stream in json.loads(text)["data"]["result"] for value in stream["values"]]
        return [json.loads(line) for _, line in sorted(values, key=lambda value: int(value[0]))]

    def ids(self):
        return [line["event_id"] for line in self.lines()]

    def close(self):
        self.child.communicate(timeout=10)


@pytest.fixture
def loki(program):
    path = Path(program).parent / "tests/loki/fake_loki"
    if not path.exists():
        pytest.skip(f"{path} is not built: make test")
    server = Loki(path)
    yield server
    server.close()


def status(breakwatch, *more):
    rows = json.loads(breakwatch.run("events", "status", "--json", *more).stdout)
    return {row["exporter"]: row for row in rows}


def letters(breakwatch, *more):
    return json.loads(breakwatch.run("dead-letters", "list", "--json", *more).stdout)


def assert_all_once(breakwatch, loki):
    """The record of a failed delivery is the last event. It may be left for the next run."""
    ids, newest = loki.ids(), status(breakwatch)["loki"]["newest_event"]
    assert ids == list(range(1, len(ids) + 1)) and len(ids) >= newest - 1


@pytest.fixture
def refused(breakwatch, hub, loki):
    """After a sweep of which Loki rejected two events about models."""
    hub.model("org/one", 2)
    hub.model("org/two", 1)
    loki.set(poison='"msg":"model_captured"')
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
    loki.set(poison="")
    assert "2 delivered" in refused.run(*args).stdout
    assert loki.ids() == list(range(1, row["newest_event"] + 1))
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
    loki.set(poison="")
    child, address = refused.serve("--exporters.loki.url", loki.url, *FAST)
    assert eventually(lambda: 'breakwatch_dead_letters{exporter="loki"} 2' in get(address + "/metrics")[1])
    ids = [row["event_id"] for row in letters(refused)]
    done = refused.run("dead-letters", "retry", str(ids[1]), str(ids[0]))
    assert "2 dead letters queued" in done.stdout
    assert eventually(lambda: letters(refused) == [])
    assert [i for i in loki.ids() if i in ids] == sorted(ids)
    assert eventually(lambda: 'breakwatch_dead_letters{exporter="loki"} 0' in get(address + "/metrics")[1])
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_loki_that_refuses_everything_pauses_its_exporter_and_loses_nothing(breakwatch, hub, loki):
    hub.model("org/one", 2)
    loki.set(allow_metadata=False)
    required = ("--exporters.loki.structured_metadata", "true")
    short = ("--exporters.loki.url", loki.url, "--delivery.drain_timeout", "1s", *required)
    done = breakwatch.run("sweep", "--quiet", *short, code=3)
    assert "loki: paused: the target refuses every event" in done.stderr and "disallowed" in done.stderr
    row = status(breakwatch, "--exporters.loki.url", loki.url)["loki"]
    assert row["state"] == "paused" and row["pending"] > 2 and row["dead_letters"] == 0
    assert "disallowed" in row["detail"] and row["paused_since"] and row["oldest_age_s"] >= 0
    doctor = json.loads(breakwatch.run("doctor", "--json", *short, code=1).stdout)["checks"]
    assert any(c["check"] == "events" and c["state"] == "failed" and "disallowed" in c["found"] for c in doctor)

    child, address = breakwatch.serve("--exporters.loki.url", loki.url, *required, *FAST)
    assert eventually(lambda: 'breakwatch_export_paused{exporter="loki"} 1' in get(address + "/metrics")[1])
    loki.set(allow_metadata=True)
    assert eventually(lambda: 'breakwatch_export_paused{exporter="loki"} 0' in get(address + "/metrics")[1])
    newest = status(breakwatch)["loki"]["newest_event"]
    assert eventually(lambda: loki.ids() and loki.ids()[-1] >= newest)
    assert loki.ids() == list(range(1, newest + 1)) and letters(breakwatch) == []
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_loki_without_structured_metadata_gets_everything_without_it(breakwatch, hub, loki):
    hub.model("org/one", 2)
    loki.set(allow_metadata=False)
    done = breakwatch.run("sweep", "--exporters.loki.url", loki.url, *FAST)
    assert "Loki refuses structured metadata; events are sent without it" in done.stderr
    assert_all_once(breakwatch, loki)
    assert letters(breakwatch) == []


def test_a_lost_answer_leaves_no_duplicate(breakwatch, hub, loki):
    hub.model("org/one", 2)
    loki.control(answer={"hang_up": True}, lose=True)
    breakwatch.run("sweep", "--quiet", "--exporters.loki.url", loki.url, *FAST)
    assert_all_once(breakwatch, loki)
    row = status(breakwatch)["loki"]
    assert "push to Loki" in row["last_error"] and row["last_error_at"]


def test_a_loki_that_is_added_later_starts_with_the_next_event_unless_configured(breakwatch, hub, loki):
    hub.model("org/one", 2)
    breakwatch.run("sweep", "--quiet")
    before = json.loads(breakwatch.run("events", "status", "--json").stdout)[0]["newest_event"]
    done = breakwatch.run("sweep", "--exporters.loki.url", loki.url, *FAST)
    assert f"starts after event {before}; earlier events are not sent (setting start: now)" in done.stderr
    newest = status(breakwatch)["loki"]["newest_event"]
    assert loki.ids() == list(range(before + 1, newest + 1))


def test_dead_letters_are_exported_as_json_lines(refused, tmp_path):
    path = tmp_path / "refused.jsonl"
    assert "2 dead letters written" in refused.run("dead-letters", "export", "--all", "--output", str(path)).stderr
    exported = [json.loads(line) for line in path.read_text().splitlines()]
    assert exported == json.loads(refused.run("dead-letters", "show", "--all", "--json").stdout)
    first = str(exported[0]["event_id"])
    assert [json.loads(refused.run("dead-letters", "export", first).stdout)] == exported[:1]
    refused.run("dead-letters", "export", "--all", "--output", str(tmp_path / "no/x"), code=74)
