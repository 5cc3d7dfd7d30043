"""The stream of events of a running sweep, and clients that would hold a daemon up."""

import contextlib
import json
import socket
import time
import urllib.error
import urllib.request

import pytest
from e2e_support import DEADLINE_S, eventually, get
from test_api import TOKEN, ended, post

STREAMS, SLOW_CLIENTS = 16, 64


class Stream:
    """Server-sent events as they arrive, as (id, name, data)."""

    def __init__(self, address, last_id=None):
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": last_id} if last_id else {})
        request = urllib.request.Request(address + "/api/v1/events", headers=headers)
        self.answer = urllib.request.urlopen(request, timeout=DEADLINE_S)

    def next(self):
        event = {}
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream ended"
            if line == "\n" and "event" in event:
                return event["id"], event["event"], json.loads(event["data"])
            name, _, value = line.rstrip("\n").partition(": ")
            event[name] = value

    def until(self, name):
        """The events up to one of this name."""
        events = [self.next()]
        while events[-1][1] != name:
            events.append(self.next())
        return events

    def close(self):
        self.answer.close()


def names(events):
    return [name for _, name, _ in events]


@pytest.fixture
def daemon(breakwatch, hub):
    """A daemon with a model that is captured at once and one that never ends."""
    hub.model("org/quick", 2, sites=[["a reason", "GB0001", 3]])
    hub.model("org/endless", 1, hang=True)
    child, address = breakwatch.serve(BREAKWATCH_WEB_TOKEN=TOKEN)
    yield child, address
    child.kill()
    child.wait()


def test_a_sweep_is_followed_as_it_runs_and_a_lost_stream_continues(daemon):
    _, address = daemon
    stream = Stream(address)
    assert stream.next()[1:] == ("status", {"running": None})
    _, taken, _ = post(address, {"models": ["org/quick"]})
    events = stream.until("finished")
    assert [n for n in names(events) if n != "listing"] == ["planned", "started", "result", "finished"]
    result = events[-2]
    assert (result[2]["model"], result[2]["status"], result[2]["breaks"]) == ("org/quick", "graph_breaks", 3)
    assert events[-1][2]["sweep_id"] == ended(address, taken["request"])["sweep_id"]
    stream.close()
    again = Stream(address, last_id=result[0])
    assert names(again.until("finished")) == ["status", "finished"]
    lost = Stream(address, last_id="20200101T000000-7")
    assert [lost.next()[1], lost.next()[1]] == ["reset", "status"]
    since = address + "/api/v1/events?since=" + result[0]
    request = urllib.request.Request(since, headers={"Accept": "application/json"})
    known = json.loads(urllib.request.urlopen(request, timeout=DEADLINE_S).read())
    assert [event["event"] for event in known["events"]] == ["finished"]
    assert known["next"] == events[-1][0]


def test_a_running_sweep_is_visible_and_can_be_cancelled(daemon):
    _, address = daemon
    stream = Stream(address)
    _, running, _ = post(address, {"models": ["org/quick", "org/endless"]})
    stream.until("result")
    status = json.loads(get(address + "/api/v1/status")[1])["running"]
    assert (status["done"], status["total"], status["statuses"]) == (1, 2, {"graph_breaks": 1})
    _, waiting, _ = post(address, {"models": ["org/quick"]})
    for accepted in (waiting, running):
        assert post(address, {}, path=accepted["request"] + "/cancel")[0] == 202
        assert eventually(lambda a=accepted: json.loads(get(address + a["request"])[1])["state"] == "cancelled")
    assert stream.until("failed")[-1][2]["code"] == "interrupted"
    sweep = json.loads(get(address + "/api/v1/sweeps/" + status["sweep_id"])[1])
    assert sweep["state"] == "interrupted"
    assert post(address, {}, path=running["request"] + "/cancel")[0] == 409


def test_streams_and_slow_clients_hold_up_nothing(daemon):
    child, address = daemon
    host, port = address.removeprefix("http://").split(":")
    post(address, {"models": ["org/endless"]})
    with contextlib.ExitStack() as stack:
        streams = [Stream(address) for _ in range(STREAMS)]
        for stream in streams:
            stack.callback(stream.close)
            assert stream.next()[1] == "status"
        with pytest.raises(urllib.error.HTTPError) as refused:
            Stream(address)
        assert (refused.value.code, refused.value.headers["Retry-After"]) == (503, "30")
        for i in range(SLOW_CLIENTS):
            slow = stack.enter_context(socket.create_connection((host, int(port)), timeout=DEADLINE_S))
            # Half of them never end their request, the others ask and do not read.
            slow.sendall(b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: x\r\n" + (b"" if i % 2 else b"\r\n" * 1))
        took = []
        for _ in range(20):
            began = time.monotonic()
            assert get(address + "/-/healthy")[0] == 200
            took.append(time.monotonic() - began)
        assert sorted(took)[len(took) // 2] < 0.1, took
        assert get(address + "/api/v1/status")[0] == 200
        began = time.monotonic()
        child.terminate()
        assert child.wait(timeout=10) == 0
        assert time.monotonic() - began < 10
        for stream in streams:
            stream.answer.read()  # ends


def test_a_stream_that_ended_makes_room(daemon):
    _, address = daemon
    streams = [Stream(address) for _ in range(STREAMS)]
    streams.pop().close()

    def free():
        try:
            return Stream(address)
        except urllib.error.HTTPError:
            return None

    assert eventually(free).next()[1] == "status"
