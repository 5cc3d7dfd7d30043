"""A login page, a server without HTTP and an empty listing in place of the expected answers."""

import contextlib
import os
import socket
import threading

from store_support import database, html_server, newest_sweep


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
