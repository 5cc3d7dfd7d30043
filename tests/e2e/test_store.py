"""A full disk, a crash, a removed directory, a wrong clock and damaged rows, seen through the command line."""

import contextlib
import ctypes
import http.server
import json
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading

import pytest
from e2e_support import eventually, get, needs

STORE = 74
SITE = ["Data-dependent branching", "GB0170", 2]


@pytest.fixture
def swept(breakwatch, hub):
    """Two finished sweeps of three models."""
    hub.model("org/a", 300, sites=[SITE])
    hub.model("org/b", 200)
    hub.model("org/c", 100, unlike="org/b")
    breakwatch.run("sweep", "--quiet")
    breakwatch.run("sweep", "--quiet", "--rebuild", "always")
    return breakwatch


def run_shell(breakwatch, redirection, *args):
    """Runs a command under a shell that redirects its descriptors."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *breakwatch.argv(*args)]
    return subprocess.run(shell, capture_output=True, text=True, timeout=120, cwd=breakwatch.tmp_path,
                          env=breakwatch.environment)  # fmt: skip


@contextlib.contextmanager
def database(breakwatch):
    """Direct access to the store's database; changes are committed at the end."""
    with contextlib.closing(sqlite3.connect(breakwatch.state / "breakwatch.db")) as sql:
        yield sql
        sql.commit()


def newest_sweep(breakwatch):
    with database(breakwatch) as sql:
        return sql.execute("SELECT id, state FROM sweeps ORDER BY seq DESC LIMIT 1").fetchone()


# --- output


COMMANDS = [
    ["--help"], ["show", "--help"], ["version"], ["show", "org/a"], ["reasons"], ["report"], ["report", "--list"],
    ["report", "--format", "csv"], ["compare", "previous", "latest"], ["plan"], ["sweep", "--quiet"],
    ["config", "show"], ["config", "example"], ["store", "info"], ["store", "check"], ["store", "rebuild"],
    ["store", "finish"], ["doctor"],
]  # fmt: skip


def test_output_to_a_full_disk_or_a_closed_descriptor_is_an_error_of_every_command(swept):
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("no /dev/full here")
    for n, arguments in enumerate(COMMANDS):
        redirection = ">/dev/full" if n % 2 else ">&-"
        done = run_shell(swept, redirection, *arguments)
        assert done.returncode == STORE, f"{arguments} {redirection}: exit {done.returncode}\n{done.stderr}"
        assert "cannot write to standard output: " in done.stderr, arguments


def test_a_reader_that_closes_its_pipe_ends_the_output_and_not_the_sweep(swept):
    before = newest_sweep(swept)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(swept.argv("sweep", "--quiet", "--rebuild", "always"), stdout=writing, stderr=subprocess.PIPE,
                          text=True, timeout=120, cwd=swept.tmp_path, env=swept.environment)  # fmt: skip
    os.close(writing)
    assert done.returncode == 0 and "standard output" not in done.stderr, done.stderr
    assert newest_sweep(swept) != before and newest_sweep(swept)[1] == "finished"


def test_no_file_of_the_program_becomes_a_standard_descriptor(swept):
    before = newest_sweep(swept)
    assert run_shell(swept, "<&- >&- 2>&-", "sweep", "--rebuild", "always").returncode == STORE
    assert (swept.state / "breakwatch.db").read_bytes().startswith(b"SQLite format 3\0")
    assert newest_sweep(swept) != before and newest_sweep(swept)[1] == "finished"
    swept.run("store", "check")
    # Nobody requested output here: nothing is missing.
    assert run_shell(swept, ">&- 2>&-", "report", "--output", "report.txt").returncode == 0


def test_a_file_that_cannot_be_written_is_an_error(swept):
    for arguments in (["report"], ["plan"], ["compare", "previous", "latest"]):
        done = swept.run(*arguments, "--output", "/dev/full", code=STORE)
        assert "cannot write /dev/full: No space left on device" in done.stderr


def test_a_report_that_cannot_be_written_is_an_error_and_can_be_written_later(swept):
    shutil.rmtree(swept.state / "sweeps")
    (swept.state / "sweeps").write_text("in the way")
    done = swept.run("sweep", "--quiet", code=STORE)
    assert "the sweep is stored, but its report could not be written" in done.stderr
    assert "latest/report.md" not in done.stdout
    child, _ = swept.serve()
    done = swept.run("sweep", "--quiet", code=STORE)
    assert "did not write its report" in done.stderr
    child.send_signal(signal.SIGTERM)
    child.wait()
    (swept.state / "sweeps").unlink()
    swept.run("store", "finish")
    assert len(list((swept.state / "sweeps").iterdir())) == 4
    assert os.readlink(swept.state / "latest") == "sweeps/" + newest_sweep(swept)[0]
    assert len(swept.results()) == 3
    assert "written: 0 reports" in swept.run("store", "finish").stdout


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 0, f"size={size}".encode()) != 0:
        pytest.skip(f"no small file system can be mounted: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        libc.umount2(str(folder).encode(), 2)


def test_a_full_disk_ends_the_sweep_loses_nothing_and_the_next_one_resumes(breakwatch, hub):
    hub.model("org/a", 300, sites=[SITE])
    hub.model("org/b", 200)
    with small_disk(breakwatch.state, "4m"):
        breakwatch.run("sweep", "--quiet")
        ballast = breakwatch.state / "ballast"
        with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
            while file.write(b"b" * 4096):
                pass
        done = breakwatch.run("sweep", "--quiet", "--rebuild", "always", code=STORE)
        assert "the disk is full" in done.stderr
        ballast.unlink()
        breakwatch.run("store", "check")
        breakwatch.run("sweep", "--quiet", "--rebuild", "always")
        assert len(breakwatch.results()) == 2


# --- those that answer


class Html(http.server.BaseHTTPRequestHandler):
    """A proxy's login page, for every request."""

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        page = b"<html><body>Please sign in</body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def html_server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Html) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_response_with_html_is_not_a_delivery(breakwatch, hub):
    hub.model("org/a", 300)
    with html_server() as url:
        done = breakwatch.run("sweep", "--quiet", "--exporters.pushgateway.url", url, "--exporters.loki.url", url,
                              "--delivery.drain_timeout", "1s", code=3)  # fmt: skip
    assert "not an answer of a Pushgateway" in done.stderr and "not an answer of Loki" in done.stderr
    assert "text/html: <html><body>Please sign in" in done.stderr


def test_an_endpoint_without_http_is_an_unavailable_hub(breakwatch, hub):
    hub.model("org/a", 300)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            with contextlib.suppress(OSError):
                while True:
                    with server.accept()[0] as client:
                        client.sendall(b"SSH-2.0-OpenSSH_9.2p1\r\n")
                        client.recv(1 << 16)

        threading.Thread(target=greet, daemon=True).start()
        endpoint = f"http://127.0.0.1:{server.getsockname()[1]}"
        done = breakwatch.run("sweep", "--quiet", "--model", "org/a", "--hub.source", "live", code=69,
                              HF_ENDPOINT=endpoint)  # fmt: skip
        server.shutdown(socket.SHUT_RDWR)
    assert "does not speak HTTP" in done.stderr


def test_an_empty_listing_warns_is_incomplete_and_changes_nothing(swept):
    latest = newest_sweep(swept)[0]
    done = swept.run("sweep", "--quiet", "--hub.author", "ogr", code=3)
    assert "is empty: check hub.author" in done.stderr
    assert "is empty: check hub.author" in swept.run("plan", "--hub.author", "ogr", code=3).stderr
    with database(swept) as sql:
        assert sql.execute("SELECT COUNT(*) FROM current WHERE tracked = 1").fetchone() == (3,)
    assert os.readlink(swept.state / "latest") == "sweeps/" + latest
    assert latest in swept.run("report", "--format", "json").stdout
    swept.run("store", "rebuild")
    with database(swept) as sql:
        assert sql.execute("SELECT COUNT(*) FROM current WHERE tracked = 1").fetchone() == (3,)


# --- after a crash


def test_a_report_missing_after_a_kill_is_written_by_the_next_start(breakwatch, hub):
    hub.model("org/a", 300, sites=[SITE])
    hub.model("org/b", 200)
    calls = "?rename,?renameat,?renameat2"
    strace = [needs("strace"), "-f", "-qq", "-o", str(breakwatch.tmp_path / "trace"), "-e", f"trace={calls}", "-e",
              f"inject={calls}:signal=SIGKILL:when=1"]  # fmt: skip
    if subprocess.run([strace[0], "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        pytest.skip("strace may not trace here")
    # The first file that the process renames is the report's directory: the sweep is committed by then.
    environment = breakwatch.environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    killed = subprocess.run([*strace, *breakwatch.argv("sweep", "--quiet")], capture_output=True, timeout=120,
                            cwd=breakwatch.tmp_path, env=environment)  # fmt: skip
    assert killed.returncode != 0
    sweep, state = newest_sweep(breakwatch)
    assert state == "finished"
    assert not (breakwatch.state / "sweeps" / sweep).exists()
    aside = breakwatch.tmp_path / "killed"
    breakwatch.state.rename(aside)

    def start_again():
        shutil.rmtree(breakwatch.state, ignore_errors=True)
        shutil.copytree(aside, breakwatch.state)

    def assert_reported():
        assert os.readlink(breakwatch.state / "latest") == "sweeps/" + sweep
        assert set(breakwatch.results()) == {"org/a", "org/b"}
        assert [entry.name for entry in (breakwatch.state / "sweeps").iterdir() if entry.name.startswith(".")] == []

    start_again()
    assert sweep in breakwatch.run("store", "finish").stdout
    assert_reported()
    start_again()
    done = breakwatch.run("sweep", "--quiet", "--resume")
    assert "org/a" in done.stdout and "was missing and is now written" in done.stderr
    assert_reported()
    start_again()
    child, _ = breakwatch.serve()
    assert_reported()
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 0
    start_again()
    breakwatch.run("sweep", "--quiet")
    assert set(breakwatch.results()) == {"org/a", "org/b"}
    assert (breakwatch.state / "sweeps" / sweep / "report.md").exists()


def test_a_request_that_fails_to_begin_leaves_the_unfinished_sweep(breakwatch, hub):
    hub.model("org/a", 300)
    hub.model("org/b", 200, hang=True)
    child = breakwatch.start("sweep", "--quiet")
    assert eventually(lambda: len(breakwatch.captures()) == 2)
    child.kill()
    child.wait()
    unfinished = newest_sweep(breakwatch)
    assert unfinished[1] == "running"
    # No file may grow beyond 4 KiB: no row can be written.
    limited = ["prlimit", "--fsize=4096", *breakwatch.argv("sweep", "--quiet")]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=120, cwd=breakwatch.tmp_path,
                          env=breakwatch.environment)  # fmt: skip
    assert done.returncode == STORE, done.stderr
    assert newest_sweep(breakwatch) == unfinished
    hub.model("org/b", 200, hang=False)
    (breakwatch.tmp_path / "captures").unlink()
    child = breakwatch.start("sweep", "--quiet", "--resume")
    assert eventually(lambda: breakwatch.captures() != [])
    child.kill()
    child.wait()
    assert breakwatch.captures()[0].startswith("org/b "), "what was stored before the crash is not captured again"


# --- a state directory that goes


@pytest.mark.parametrize("replaced", [False, True])
def test_a_daemon_whose_state_directory_is_removed_is_unready_and_ends(swept, replaced):
    child, address = swept.serve()
    if replaced:
        swept.state.rename(swept.tmp_path / "moved")
        swept.state.mkdir()
    else:
        shutil.rmtree(swept.state)
    status, text = get(address + "/-/ready")
    assert status in (0, 503) and ("state directory" in text or status == 0)
    assert eventually(lambda: child.poll() is not None, 10)
    assert child.returncode == STORE
    assert f"{swept.state}" in (log := (swept.tmp_path / "serve.log").read_text()).splitlines()[-1]
    assert "was removed or" in log or "was replaced" in log
    assert not (swept.state / "breakwatch.db").exists(), "nothing is made where another writer may begin"
    swept.run("sweep", "--quiet")
    assert len(swept.results()) == 3


def test_removing_the_lock_file_lets_no_second_writer_in(swept):
    child, address = swept.serve()
    (swept.state / "writer.lock").unlink()
    (swept.state / "control.sock").unlink()
    for arguments in (["sweep", "--quiet"], ["store", "rebuild"], ["store", "repair"]):
        assert "is in use by process" in swept.run(*arguments, code=STORE).stderr
    assert get(address + "/-/ready")[0] == 200
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 0


# --- damage


def test_damaged_rows_are_reported_and_skipped_and_repaired(swept, hub):
    with database(swept) as sql:
        old = sql.execute("SELECT id FROM sweeps ORDER BY seq LIMIT 1").fetchone()[0]
        sql.execute("UPDATE results SET document = '{' WHERE sweep_id = ? AND model = 'org/b'", (old,))
        damaged = sql.execute("SELECT capture_id FROM results WHERE model = 'org/c' ORDER BY seq DESC").fetchone()[0]
        sql.execute("UPDATE captures SET document = 'x' WHERE id = ?", (damaged,))
        sql.execute("UPDATE current SET document = '' WHERE model = 'org/a'")
        sql.execute("UPDATE events SET line = 'gone' WHERE id = 3")
    lines = swept.run("store", "check", code=STORE)
    for expected in (f"table results, row sweep {old}, mode eval, model org/b: ",
                     f"table captures, row {damaged}, model org/c: ", "table current, row org/a, model org/a: ",
                     "table events, row 3"):  # fmt: skip
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
        line = sql.execute("SELECT line FROM events WHERE id = 3").fetchone()[0]
        assert json.loads(line)["msg"] == "event_lost"
    assert "no damage" in swept.run("store", "repair").stdout


def test_a_damaged_event_does_not_block_later_events(breakwatch, hub):
    hub.model("org/a", 300)
    with html_server() as url:
        breakwatch.run("sweep", "--quiet", "--exporters.loki.url", url, "--delivery.drain_timeout", "1s", code=3)
    with database(breakwatch) as sql:
        sql.execute("UPDATE events SET line = 'gone' WHERE id = 2")
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
    assert pushed[1]["msg"] == "event_lost"


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


# --- the clock


def test_a_sweep_made_with_the_clock_ahead_is_the_latest_until_the_next_one(breakwatch, hub):
    hub.model("org/a", 300)
    breakwatch.run("sweep", "--quiet")
    with database(breakwatch) as sql:
        sweep, document = sql.execute("SELECT id, document FROM sweeps").fetchone()
        ahead = document.replace('_at":"20', '_at":"21')
        assert ahead != document
        sql.execute("UPDATE sweeps SET document = ?, started_ns = started_ns + 3000000000000000000", (ahead,))
    (breakwatch.state / "sweeps" / sweep).rename(breakwatch.state / "sweeps" / ("21" + sweep[2:]))
    breakwatch.run("sweep", "--quiet", "--rebuild", "always", "--retention.sweeps", "1")
    newest = newest_sweep(breakwatch)[0]
    assert newest != sweep
    assert json.loads(breakwatch.run("report", "--format", "json").stdout)["sweep"]["sweep_id"] == newest
    listed = breakwatch.run("report", "--list").stdout
    assert listed.index(newest) < listed.index(sweep)
    assert [entry.name for entry in (breakwatch.state / "sweeps").iterdir()] == [newest]
    assert os.readlink(breakwatch.state / "latest") == "sweeps/" + newest
