"""The configurations of exporters/README.md: each is loaded as it is there, and a sweep with it delivers everything."""

import base64
import re
import subprocess
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

import pytest
import yaml
from e2e_support import ROOT, LocalServer, needs

BLOCKS = re.findall(r"^```yaml\n(.*?)^```", (ROOT / "exporters/README.md").read_text(), re.MULTILINE | re.DOTALL)
OURS = [block for block in BLOCKS if "exporters" in yaml.safe_load(block)]
SECRET = "glc_secret"


class Writes(LocalServer):
    """Accepts what is written to any path, as Loki and receivers of remote write do."""

    def __init__(self):
        self.seen = seen = []

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers["Content-Length"]))
                seen.append((self.path, self.headers.get("Authorization")))
                self.send_response(204)
                self.end_headers()

            def do_GET(self):  # which events Loki has: it may not be asked
                self.send_response(403)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *args):
                pass

        super().__init__(Handler)


@pytest.fixture
def writes():
    server = Writes()
    yield server
    server.close()


def name_of(block):
    return "-".join(yaml.safe_load(block).get("exporters", {}))


def moved(url, to):
    return to.url + urlsplit(url).path


def on_this_machine(exporters, tmp_path, servers):
    """The same settings with the servers and files of the test."""
    secret = tmp_path / "secret"
    secret.write_text(SECRET + "\n")
    headers = tmp_path / "headers"
    headers.write_text(f"api-key: {SECRET}\n")
    for name, settings in exporters.items():
        for key in settings:
            if key in ("url", "endpoint"):
                settings[key] = moved(settings[key], servers[name])
            elif key.endswith("_file"):
                settings[key] = str(headers if "headers" in key else secret)
            elif key == "path":
                settings[key] = str(tmp_path / "events.jsonl")
    return exporters


@pytest.mark.parametrize("block", OURS, ids=name_of)
def test_a_sweep_delivers_everything_with_the_settings_of_the_readme(
    breakwatch, hub, gateway, receiver, writes, tmp_path, block
):
    hub.model("org/broken", 300, sites=[["branching", "GB0170", 4]])
    exporters = yaml.safe_load(block)["exporters"]
    servers = {"pushgateway": gateway, "otlp": receiver, "loki": writes, "remote_write": writes}
    config = tmp_path / "breakwatch.yaml"
    config.write_text(yaml.safe_dump({"exporters": on_this_machine(exporters, tmp_path, servers)}))
    # Exit code 0: every exporter of a block is required, and accepted everything.
    breakwatch.run("sweep", "--quiet", "--config.file", str(config))
    seen = {path for path, _ in writes.seen}
    for name, settings in exporters.items():
        if name == "loki":
            assert "/loki/api/v1/push" in seen
        elif name == "remote_write":
            assert urlsplit(settings["url"]).path in seen
        elif name == "otlp":
            prefix = urlsplit(settings["endpoint"]).path
            assert receiver.paths == {f"{prefix}/v1/metrics", f"{prefix}/v1/logs"}
        elif name == "file":
            assert (tmp_path / "events.jsonl").stat().st_size > 0
    credentials = {f"{s['username']}:{SECRET}" for s in exporters.values() if "username" in s}
    sent = {token for _, token in writes.seen} | {
        headers.get("Authorization") for _, headers, _, _ in receiver.requests
    }
    assert {base64.b64decode(token.removeprefix("Basic ")).decode() for token in sent if token} == credentials


def test_every_exporter_with_a_server_has_a_configuration_in_the_readme():
    shown = {name for block in OURS for name in yaml.safe_load(block)["exporters"]}
    assert {"pushgateway", "loki", "remote_write", "otlp", "file"} <= shown


def test_prometheus_accepts_its_configuration(tmp_path):
    (block,) = [block for block in BLOCKS if block not in OURS]
    config = tmp_path / "prometheus.yml"
    config.write_text(block)
    subprocess.run([needs("promtool"), "check", "config", str(config)], check=True, capture_output=True)
