"""The page's files: small, of known origin, without inline code. The stand-in answers as the API is described."""

import gzip
import hashlib
import json
import re
import urllib.parse
import urllib.request

import jsonschema
from stand_in import PAGE, ROOT, StandIn, find
from world import HOSTILE, SITES, World

VENDOR = PAGE / "vendor"
LICENCES = {
    "preact-htm.js": ["LICENSE.htm", "LICENSE.preact"],
    "uplot.js": ["LICENSE.uplot"],
    "uplot.css": ["LICENSE.uplot"],
}
SERVED = [path for path in PAGE.rglob("*") if path.suffix in (".html", ".js", ".css", ".svg")]
OWN = [path for path in SERVED if VENDOR not in path.parents]
DESCRIPTION = ROOT / "daemon/api/openapi.json"


def test_everything_together_is_below_150_kb_compressed():
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in SERVED) < 150_000


def test_vendored_files_are_as_published_and_have_their_licence():
    listed = dict(reversed(line.split()) for line in (VENDOR / "SHA256SUMS").read_text().splitlines())
    assert listed == {name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() for name in LICENCES}
    assert set(LICENCES) == {path.name for path in SERVED if VENDOR in path.parents}
    for name in sum(LICENCES.values(), []):
        assert re.search("MIT License|Apache License", (VENDOR / name).read_text(), re.IGNORECASE), name


def test_there_is_no_inline_code_and_no_address_of_another_host():
    index = (PAGE / "index.html").read_text()
    assert not re.search(r"<style|\son\w+=|style=|<script(?![^>]*\ssrc=)", index)
    for path in OWN:
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", path.read_text()))
        assert addresses <= {"http://www.w3.org"}, path  # the name of SVG
        assert not re.search(
            r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function", path.read_text()
        ), path


def test_the_stand_in_answers_as_the_api_is_described():
    description = json.loads(DESCRIPTION.read_text())
    server = StandIn(World(300))
    broken = next(row for row in server.world.models if row["_sites"])
    failed = next(row for row in server.world.models if row["status"] == "failed_create")
    asked = [
        "status",
        "families",
        "models?limit=50&sort=-breaks",
        "reasons",
        "reasons/GB0170",
        "sites",
        "sweeps",
        "sweeps/latest",
        "sweeps/latest/failures",
        "sweeps/latest/reasons",
        "compare?a=previous&b=latest",
        "trends",
        "trends?by=family",
        "trends?by=reason&reason=GB0170",
        "quarantine",
        "dead-letters",
        "exporters",
        "settings",
        "version",
        "requests",
        "sites/" + SITES[0]["site_id"],
    ]
    for name in (HOSTILE[0], broken["model"], failed["model"]):
        asked += ["models/" + urllib.parse.quote(name, safe=""), "history?" + urllib.parse.urlencode({"model": name})]
    described = {path.removeprefix("/api/v1"): path for path in description["paths"] if path.startswith("/api/v1/")}
    for path in asked:
        with urllib.request.urlopen(f"{server.url}/api/v1/{path}", timeout=30) as answer:
            document = json.loads(answer.read())
        url = urllib.parse.urlsplit("/" + path)
        pattern, _ = find(described, url.path)
        operation = description["paths"][pattern]["get"]
        schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
        checked = jsonschema.Draft202012Validator(schema | {"components": description["components"]})
        assert [error.message[:300] for error in checked.iter_errors(document)] == [], path
        known = {
            parameter.get("name") or description["components"]["parameters"][parameter["$ref"].split("/")[-1]]["name"]
            for parameter in operation.get("parameters", [])
        }
        assert set(dict(urllib.parse.parse_qsl(url.query))) <= known, path
    assert {described[path] for path in server.table} <= set(description["paths"])
    server.shutdown()
