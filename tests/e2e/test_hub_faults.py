"""A Hub that redirects elsewhere, requests pauses or never ends, seen through the command line."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

COMMIT = "a" * 40


class Site:
    """A server whose every response the test writes; it stores the requested paths."""

    def __init__(self, answer):
        self.paths = paths = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                paths.append(self.path)
                status, headers, body = answer(self)
                data = json.dumps(body).encode()
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(data))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.authority = f"127.0.0.1:{self.server.server_port}"
        self.url = f"http://{self.authority}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def entry(name):
    return {"_id": name, "id": name, "sha": COMMIT, "downloads": 1, "library_name": "transformers"}


def plan(breakwatch, hub_site, *arguments, code=69):
    return breakwatch.run("plan", "--hub.source", "live", "--hub.endpoint", hub_site.url, *arguments, code=code).stderr


@pytest.mark.parametrize("link", [
    "http://{away}/api/models?cursor=2", "http://{away}/elsewhere", "//{away}/api/models?cursor=2",
    "http://{home}@{away}/api/models", "\\\\{away}\\api\\models", "https://{home}/api/models?cursor=2"])
def test_a_next_page_of_another_address_is_never_requested(breakwatch, link):
    with Site(lambda _: (200, {}, [entry("evil/model")])) as away:
        def first_page(handler):
            target = link.format(away=away.authority, home=handler.headers["Host"])
            return 200, {"Link": f'<{target}>; rel="next"'}, [entry("org/model")]

        with Site(first_page) as home:
            said = plan(breakwatch, home)
        assert "not followed" in said
        assert away.paths == []
        assert len(home.paths) == 1


def test_the_listing_ends_when_its_time_is_over(breakwatch):
    def page(handler):
        number = len(home.paths)
        return 200, {"Link": f'</api/models?cursor={number}>; rel="next"'}, [entry(f"org/model{number}")]

    def slow(handler):
        time.sleep(0.2)
        return page(handler)

    with Site(slow) as home:
        began = time.monotonic()
        said = plan(breakwatch, home, "--hub.timeout", "1s", "--top", "1000")
    assert "hub.timeout" in said
    assert time.monotonic() - began < 20
    assert 1 < len(home.paths) < 10


def test_the_attempts_and_the_requested_pause_are_reported(breakwatch):
    with Site(lambda _: (429, {"Retry-After": "1000"}, {"error": "slow down"})) as home:
        said = plan(breakwatch, home)
    assert "HTTP 429: slow down (1 attempt; the Hub requests a pause of 1000 s, longer than the limit)" in said
    with Site(lambda _: (503, {"Retry-After": "0"}, {})) as home:
        said = plan(breakwatch, home, "--hub.retries", "1")
    assert "HTTP 503 (2 attempts; the Hub requests a pause of 0 s)" in said
