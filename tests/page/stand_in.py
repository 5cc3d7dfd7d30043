"""A stand-in of the daemon for the page: the page's files, and made-up answers of the HTTP API over many models.

python tests/page/stand_in.py [--port 9724] [--models 50000]
"""

import argparse
import http.server
import json
import threading
import urllib.parse
from pathlib import Path

from world import World

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "dashboards/page"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".css": "text/css; charset=utf-8",
}


def routes(world):
    """Path of the description -> function."""
    return {
        "/status": world.status,
        "/families": world.families,
        "/models": world.list_models,
        "/models/{model}": world.model,
        "/history": world.history,
        "/sites": world.sites,
        "/sites/{site_id}": world.site,
        "/reasons": world.reasons,
        "/reasons/{reason}": world.reason,
        "/sweeps": world.list_sweeps,
        "/sweeps/{id}": world.one_sweep,
        "/sweeps/{id}/failures": world.failures,
        "/sweeps/{id}/reasons": world.sweep_reasons,
        "/compare": world.compare,
        "/trends": world.trends,
        "/quarantine": world.quarantine,
        "/dead-letters": world.dead_letters,
        "/exporters": world.exporters,
        "/settings": world.settings,
        "/version": world.version,
        "/requests": world.requests,
    }


def find(table, path):
    """(function, arguments) of a path; names of models are encoded, so a slash separates."""
    parts = path.strip("/").split("/")
    for pattern, function in table.items():
        wanted = pattern.strip("/").split("/")
        if len(wanted) == len(parts) and all(w.startswith("{") or w == p for w, p in zip(wanted, parts, strict=True)):
            return function, [urllib.parse.unquote(p) for w, p in zip(wanted, parts, strict=True) if w.startswith("{")]
    return None, []


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path.startswith("/api/v1/"):
            self.api(url)
            return
        file = PAGE / ("index.html" if url.path == "/" else url.path.removeprefix("/page/"))
        if url.path != "/" and not url.path.startswith("/page/") or not file.is_file():
            self.send(404, "text/plain", b"no such path\n")
            return
        self.send(200, TYPES[file.suffix], file.read_bytes())

    def api(self, url):
        function, arguments = find(self.server.table, url.path.removeprefix("/api/v1"))
        answer = (
            (404, "no such path") if function is None else function(dict(urllib.parse.parse_qsl(url.query)), *arguments)
        )
        if isinstance(answer, tuple):
            status, detail = answer
            problem = {
                "type": "about:blank",
                "title": "Not good",
                "status": status,
                "detail": detail,
                "code": "invalid",
            }
            self.send(status, "application/problem+json", json.dumps(problem).encode())
        else:
            self.send(200, "application/json", json.dumps(answer).encode())

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", CSP)
        self.send_header("Cache-Control", "no-cache")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class StandIn(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, *_):
        pass  # the browser leaves a view before its answers arrive

    def __init__(self, world, port=0):
        super().__init__(("127.0.0.1", port), Handler)
        self.world, self.table = world, routes(world)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()


if __name__ == "__main__":
    flags = argparse.ArgumentParser()
    flags.add_argument("--port", type=int, default=9724)
    flags.add_argument("--models", type=int, default=50_000)
    chosen = flags.parse_args()
    print(StandIn(World(chosen.models), chosen.port).url, flush=True)
    threading.Event().wait()
