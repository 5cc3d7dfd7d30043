"""What the tests of the store share: its database past the program, and a server that answers with a login page."""

import contextlib
import http.server
import sqlite3
import threading

STORE = 74  # the exit code
SITE = ["Data-dependent branching", "GB0170", 2]


@contextlib.contextmanager
def database(breakwatch):
    """Direct access to the store's database; changes are committed at the end."""
    with contextlib.closing(sqlite3.connect(breakwatch.state / "breakwatch.db")) as sql:
        yield sql
        sql.commit()


def newest_sweep(breakwatch):
    with database(breakwatch) as sql:
        return sql.execute("SELECT id, state FROM sweeps ORDER BY seq DESC LIMIT 1").fetchone()


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
