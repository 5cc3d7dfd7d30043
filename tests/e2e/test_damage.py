"""Damaged rows and pages are named, stop nothing else and are repaired."""

import http.server
import json
import threading

import pytest
from store_support import SITE, STORE, Html, database, html_server


def test_damaged_rows_are_reported_and_skipped_and_repaired(swept, hub):
    with database(swept) as sql:
        old = sql.execute("SELECT id FROM sweeps ORDER BY seq LIMIT 1").fetchone()[0]
        sql.execute("UPDATE results SET document = '{' WHERE sweep_id = ? AND model = 'org/b'", (old,))
        damaged = sql.execute("SELECT capture_id FROM results WHERE model = 'org/c' ORDER BY seq DESC").fetchone()[0]
        sql.execute("UPDATE captures SET document = 'x' WHERE id = ?", (damaged,))
        sql.execute("UPDATE current SET document = '' WHERE model = 'org/a'")
        event = sql.execute("SELECT MIN(id) FROM events WHERE id > 3").fetchone()[0]  # with a line of its own
        sql.execute("UPDATE events SET line = 'gone' WHERE id = ?", (event,))
    lines = swept.run("store", "check", code=STORE)
    for expected in (f"table results, row sweep {old}, mode eval, model org/b: ",
                     f"table captures, row {damaged}, model org/c: ", "table current, row org/a, model org/a: ",
                     f"table events, row {event}"):  # fmt: skip
        assert expected in lines.stdout
    assert "`breakwatch store repair`" in lines.stderr
    named = json.loads(swept.run("store", "check", "--json", code=STORE).stdout)["damage"]
    assert {(d["table"], d["model"]) for d in named} >= {("results", "org/b"), ("captures", "org/c")}

    assert "org/a" in swept.run("show", "org/a").stdout
    done = swept.run("report", "--format", "csv", code=STORE)
    assert "org/a," in done.stdout and "org/b," in done.stdout and "org/c," not in done.stdout
    assert damaged in done.stderr and "`breakwatch store check`" in done.stderr
    swept.run("show", "org/c", code=STORE)

    (swept.tmp_path / "captures").unlink()
    swept.run("sweep", "--quiet", code=STORE)  # it found the damage, and continued
    assert {model: r["status"] for model, r in swept.results().items()} == {
        "org/a": "graph_breaks", "org/b": "full_graph", "org/c": "full_graph"}  # fmt: skip
    assert [line.split()[0] for line in swept.captures()] == ["org/c"]
    assert "org/c" in swept.run("report", "--format", "csv").stdout

    done = swept.run("store", "repair")
    assert f"table results, row sweep_id {old}, mode eval, model org/b" in done.stdout
    (aside,) = swept.state.glob("breakwatch.db.damaged-*")
    assert "org/b" in (swept.state / f"{aside.name.replace('.damaged-', '.lost-')}.jsonl").read_text()
    swept.run("store", "check")
    swept.run("sweep", "--quiet")
    assert len(swept.results()) == 3
    with database(swept) as sql:
        line = sql.execute("SELECT line FROM events WHERE id = ?", (event,)).fetchone()[0]
        assert json.loads(line)["msg"] == "event_lost"
    assert "no damage" in swept.run("store", "repair").stdout


def test_a_damaged_event_does_not_block_later_events(breakwatch, hub):
    hub.model("org/a", 300)
    with html_server() as url:
        breakwatch.run("sweep", "--quiet", "--exporters.loki.url", url, "--delivery.drain_timeout", "1s", code=3)
    with database(breakwatch) as sql:
        lost = sql.execute("SELECT MIN(id) FROM events WHERE id > 1").fetchone()[0]  # with a line of its own
        sql.execute("UPDATE events SET line = 'gone' WHERE id = ?", (lost,))
        newest = sql.execute("SELECT MAX(id) FROM events").fetchone()[0]
    pushed = []

    class Loki(Html):
        def answer(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            pushed.extend(json.loads(value[1]) for stream in body["streams"] for value in stream["values"])
            self.send_response(204)
            self.end_headers()

        do_POST = answer

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Loki) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        breakwatch.run("sweep", "--quiet", "--exporters.loki.url", url, "--exporters.loki.gzip=false", code=STORE)
        server.shutdown()
    assert [e["event_id"] for e in pushed][:newest] == list(range(1, newest + 1))
    assert [e["event_id"] for e in pushed if e["msg"] == "event_lost"] == [lost]


def test_a_page_that_cannot_be_read_loses_only_its_rows(breakwatch, hub):
    for n in range(30):
        hub.model(f"org/m{n:02}", 1000 - n, sites=[SITE])
    breakwatch.run("sweep", "--quiet")
    path = breakwatch.state / "breakwatch.db"
    with database(breakwatch) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page_size = sql.execute("PRAGMA page_size").fetchone()[0]
        document = sql.execute("SELECT document FROM results WHERE model = 'org/m05'").fetchone()[0].encode()
    contents = bytearray(path.read_bytes())
    name = document.index(b"org/m05")
    page = contents.index(document[max(name - 80, 0) : name + 80]) // page_size * page_size
    contents[page : page + page_size] = b"\xa5" * page_size
    path.write_bytes(contents)
    done = breakwatch.run("store", "check", code=STORE)
    assert "table results, row sweep " in done.stdout and "model org/m05" in done.stdout
    done = breakwatch.run("report", "--format", "csv", code=STORE)
    left = [n for n in range(30) if f"org/m{n:02}," in done.stdout]
    assert 5 not in left and len(left) >= 15
    breakwatch.run("store", "repair")
    breakwatch.run("store", "check")
    breakwatch.run("sweep", "--quiet")
    assert len(breakwatch.results()) == 30


@pytest.mark.parametrize("table", ["plans", "results"])
def test_unchanged_sweeps_do_not_refer_to_a_page_that_cannot_be_read(breakwatch, hub, table):
    for n in range(30):
        hub.model(f"org/m{n:02}", 1000 - n, sites=[SITE], width=n)
    for _ in range(3):
        breakwatch.run("sweep", "--quiet")
    path = breakwatch.state / "breakwatch.db"
    with database(breakwatch) as sql:
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page_size = sql.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        leaf = [page for (page,) in sql.execute(query, (table,))][-2]  # of the second sweep, which the third refers to
    contents = bytearray(path.read_bytes())
    contents[leaf * page_size : (leaf + 1) * page_size] = b"\xa5" * page_size
    path.write_bytes(contents)
    assert breakwatch.run("store", "check", code=STORE)
    captured = len(breakwatch.captures())
    for _ in range(2):
        breakwatch.run("sweep", "--quiet")
        assert len(breakwatch.results()) == 30
    assert len(breakwatch.captures()) == captured
    newest = json.loads(breakwatch.run("report", "--format", "json").stdout)
    assert len(newest["results"]) == 30
    breakwatch.run("store", "repair")
    breakwatch.run("store", "check")
    breakwatch.run("sweep", "--quiet")
    assert len(breakwatch.results()) == 30


@pytest.mark.parametrize(("table", "code"), [("current", STORE), ("captures", STORE), ("plans", 0), ("steps", 0)])
def test_a_sweep_continues_around_a_page_that_cannot_be_read(breakwatch, hub, table, code):
    for n in range(30):
        hub.model(f"org/m{n:02}", 1000 - n, sites=[SITE], width=n)
    breakwatch.run("sweep", "--quiet")
    path = breakwatch.state / "breakwatch.db"
    with database(breakwatch) as sql:
        sql.execute("UPDATE steps SET document = hex(zeroblob(200)) WHERE kind = 'result'")  # several pages
        sql.commit()
        sql.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        page_size = sql.execute("PRAGMA page_size").fetchone()[0]
        query = "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path"
        leaves = [page for (page,) in sql.execute(query, (table,))]
    assert len(leaves) > 2
    contents = bytearray(path.read_bytes())
    at = leaves[len(leaves) // 2] * page_size
    contents[at : at + page_size] = b"\xa5" * page_size
    path.write_bytes(contents)
    captured = len(breakwatch.captures())
    breakwatch.run("sweep", "--quiet", code=code)
    assert {r["status"] for r in breakwatch.results().values()} == {"graph_breaks"} and len(breakwatch.results()) == 30
    again = len(breakwatch.captures()) - captured
    assert 0 < again < 15 if table == "captures" else again == 0, "what is lost is captured again, and nothing else"
    breakwatch.run("store", "repair")
    breakwatch.run("store", "check")
    breakwatch.run("sweep", "--quiet")
    assert len(breakwatch.results()) == 30
