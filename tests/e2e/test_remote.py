"""`--server`: the reading commands and `sweep` against the daemon of another state directory."""

import contextlib
import http.server
import json
import threading

import pytest
from e2e_support import Breakwatch, free_port
from test_api import TOKEN, ended, post


@pytest.fixture
def daemon(breakwatch, hub):
    """A daemon with two sweeps; the second one found more breaks."""
    hub.model("org/name", 2, sites=[["a reason", "GB0001", 1]])
    hub.model("org/whole", 1)
    child, address = breakwatch.serve(BREAKWATCH_WEB_TOKEN=TOKEN)
    for sites in ([["a reason", "GB0001", 1]], [["a reason", "GB0001", 1], ["another", "GB0002", 2]]):
        hub.model("org/name", 2, sites=sites)
        _, _, headers = post(address, {})
        assert ended(address, headers["Location"])["state"] == "done"
    yield address
    child.terminate()
    child.wait()


@pytest.fixture
def elsewhere(program, tmp_path, hub):
    """The program on an empty state directory."""
    other = tmp_path / "elsewhere"
    other.mkdir()
    return Breakwatch(program, other, hub)


COMMANDS = [
    "show org/name", "show name --json", "show org/name --format md", "reasons", "reasons --by models --json", "report",
    "report --json", "report --format csv", "report --list --json", "compare previous latest",
    "compare previous latest --json", "compare toolchain:default latest --all", "show --filter org/*",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_prints_the_same_from_afar(breakwatch, elsewhere, daemon, command):
    assert elsewhere.run(*command.split(), "--server", daemon).stdout == breakwatch.run(*command.split()).stdout
    assert not (elsewhere.state / "breakwatch.db").exists()


def test_the_gate_works_from_afar(elsewhere, daemon):
    elsewhere.run("compare", "previous", "latest", "--fail-on", "worse", "--server", daemon, code=2)


def test_a_sweep_runs_there_and_its_results_are_printed_here(breakwatch, elsewhere, hub, daemon):
    hub.model("org/new", 3, sites=[["a reason", "GB0001", 4]])
    done = elsewhere.run("sweep", "--model", "org/new", "--json", "--server", daemon, BREAKWATCH_WEB_TOKEN=TOKEN)
    document = json.loads(done.stdout)
    assert [(r["model"], r["breaks"]) for r in document["results"]] == [("org/new", 4)]
    assert "org/new" in done.stderr
    assert document["sweep"]["sweep_id"] in breakwatch.run("report", "--list").stdout
    missing = elsewhere.run("sweep", "--model", "org/none", "--server", daemon, code=1, BREAKWATCH_WEB_TOKEN=TOKEN)
    assert "skipped_not_found" in missing.stdout


def test_errors_name_the_cause_and_the_remedy(elsewhere, daemon):
    for command, code, texts in (
        (["show", "org/nane"], 64, ["did you mean", "org/name"]),
        (["report", "--sweep", "20200101T000000Z-abcdef"], 1, ["20200101T000000Z-abcdef"]),
        (["compare", "org/name", "latest"], 1, ["no sweep org/name"]),
        (["sweep", "--model", "org/name"], 64, ["web.token_file"]),
    ):
        error = elsewhere.run(*command, "--server", daemon, code=code).stderr
        assert all(text in error for text in texts), error
    nobody = f"http://127.0.0.1:{free_port()}"
    assert nobody in elsewhere.run("reasons", "--server", nobody, code=69).stderr
    assert "--server" in elsewhere.run("reasons", "--server", "ftp://example.org", code=64).stderr
    assert "--server" in elsewhere.run("baseline", "show", "--server", daemon, code=64).stderr


def test_another_server_is_no_daemon(elsewhere, gateway):
    error = elsewhere.run("reasons", "--server", gateway.url, code=69).stderr
    assert "is no breakwatch daemon" in error


@contextlib.contextmanager
def server_of(body):
    """A server that answers every request with this JSON document."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("body", [b"<html>", b"null", b'{"models": [1], "next": null}', b'{"models": 5, "next": null}',
                                  b'{"models": [], "next": "1"}'])  # fmt: skip
@pytest.mark.parametrize("command", ["show org/name", "report"])
def test_an_answer_of_another_form_is_reported_with_its_server(elsewhere, command, body):
    with server_of(body) as url:
        assert f"cannot read the answer of {url}" in elsewhere.run(*command.split(), "--server", url, code=1).stderr
