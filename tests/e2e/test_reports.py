"""Reports in every format, read by the schemas, parsers and browsers of others."""

import contextlib
import csv
import email.policy
import html.parser
import http.server
import io
import json
import subprocess
import threading
import xml.etree.ElementTree as ElementTree

import jsonschema
import pytest
from e2e_support import ROOT, needs

SCHEMAS = ROOT / "tests/data/report/schemas"
OWN_SCHEMAS = ROOT / "daemon/report/schema"
FORMATS = ["text", "md", "html", "csv", "json", "junit", "sarif", "warnings-ng", "github", "mail"]
HOSTILE = [
    '=HYPERLINK("http://evil.test","x")', "@SUM(1)", "<script>fetch('http://evil.test/a')</script>",
    '"><img src=http://evil.test/b onerror=alert(1)>', "</style><link rel=stylesheet href=http://evil.test/c>",
    "]]> <!-- &amp;", "a | b\n\n# heading @team", "</details>", "\x1b[31mred\x07", "\u202eright to left", "\ufffe",
    "line\r\nBcc: everyone@example.org\r\n\r\nbody", "::error::forged", "100%0A::error::forged",
]  # fmt: skip


def hostile_site(number, text):
    return {
        "site_id": f"hostile-{number}", "reason": text, "gb_id": "", "fixability": "supportable", "explanation": text,
        "context": text, "hints": [text], "file": text, "line": number + 1, "function": text, "source_line": text,
        "frame": "user", "wrapped_in": text, "compile_id": "0/0", "occurrences": 1,
    }  # fmt: skip


@pytest.fixture
def reported(breakwatch, hub):
    """A baseline, and a newer sweep in which one model is worse, one fails and one is gone."""
    hub.model("org/worse", 5)
    hub.model("org/broken", 4, sites=[["Data-dependent branching", "GB0170", 2]])
    hub.model("org/fails", 3)
    hub.model("org/leaves", 2)
    sites = [hostile_site(number, text) for number, text in enumerate(HOSTILE)]
    hub.model("org/hostile", 1, status="graph_breaks",
              result={"sites": sites, "break_sites": len(sites), "breaks": len(sites)})  # fmt: skip
    breakwatch.run("sweep", "--quiet")
    breakwatch.run("baseline", "update", "baseline.tsv")
    hub.model("org/worse", 5, sites=[["Data-dependent branching", "GB0170", 1, 7]])
    hub.model("org/fails", 3, status="failed_eager", suggestion=HOSTILE[2],
              result={"detail": HOSTILE[3], "error": "\n".join(HOSTILE)})  # fmt: skip
    hub.remove("org/leaves")
    breakwatch.run("sweep", "--quiet")
    return breakwatch


DOCUMENTS = {
    "sweep": ["report"],
    "gated sweep": ["report", "--gate", "baseline.tsv"],
    "comparison": ["compare", "previous", "latest"],
    "gate": ["compare", "--baseline", "baseline.tsv", "latest"],
}


def documents(reported, form):
    """The text of each document in a format."""
    for name, command in DOCUMENTS.items():
        code = 2 if name == "gate" else 0
        yield name, reported.run(*command, "--format", form, code=code, GITHUB_STEP_SUMMARY="").stdout


def missing_from(schema, value, node=None, path="$"):
    """The properties of a document that its schema does not name."""
    node = schema if node is None else node
    for choice in node.get("anyOf", []):
        if value is not None and choice != {"type": "null"}:
            node = choice
    if "$ref" in node:
        node = schema["$defs"][node["$ref"].rsplit("/", 1)[-1]]
    if isinstance(value, list):
        for item in value:
            yield from missing_from(schema, item, node.get("items", {}), path + "[]")
    elif isinstance(value, dict) and "properties" in node:
        for name, item in value.items():
            if name in node["properties"]:
                yield from missing_from(schema, item, node["properties"][name], f"{path}.{name}")
            else:
                yield f"{path}.{name}"


def test_json_is_valid_by_its_published_schema_which_names_every_field(reported):
    for name, text in documents(reported, "json"):
        document = json.loads(text)
        schema = json.loads((OWN_SCHEMAS / f"{document['format'].removeprefix('breakwatch-')}.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(document, schema)
        assert not set(missing_from(schema, document)), name
    swept = json.loads(reported.run("sweep", "--quiet", "--json").stdout)
    jsonschema.validate(swept, json.loads((OWN_SCHEMAS / "sweep.schema.json").read_text()))


def test_sarif_is_valid_by_the_schema_of_oasis(reported):
    schema = json.loads((SCHEMAS / "sarif-schema-2.1.0.json").read_text())
    validator = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    fingerprints = {}
    for name, text in documents(reported, "sarif"):
        log = json.loads(text)
        validator.validate(log)
        fingerprints[name] = {r["partialFingerprints"]["siteId/v1"]: r for r in log["runs"][0]["results"]}
        assert len(fingerprints[name]) == len(log["runs"][0]["results"]), "a site is one result"
    assert fingerprints["gate"]["Data-dependent branching-7"]["level"] == "error"
    assert fingerprints["gate"]["Data-dependent branching-7"]["baselineState"] == "new"
    assert set(fingerprints["sweep"]) == set(fingerprints["gated sweep"])


def test_junit_is_valid_by_the_schema_that_jenkins_uses(reported):
    for name, text in documents(reported, "junit"):
        path = reported.tmp_path / "junit.xml"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([needs("xmllint"), "--noout", "--nonet", "--schema", SCHEMAS / "junit-10.xsd", path],
                              capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
        assert done.returncode == 0, done.stderr
        failed = {case.get("classname") for case in ElementTree.fromstring(text).iterfind("*/testcase[failure]")}
        assert failed == {
            "sweep": {"nlp.org__fails"}, "comparison": {"nlp.org__worse", "nlp.org__fails", "gone.org__leaves"},
        }.get(name.replace("gated sweep", "comparison").replace("gate", "comparison"))  # fmt: skip


def test_csv_has_a_row_per_model_and_no_formula(reported):
    for _, text in documents(reported, "csv"):
        rows = list(csv.reader(io.StringIO(text), strict=True))
        assert len({len(row) for row in rows}) == 1 and len(rows) in (5, 6)
        assert not [field for row in rows for field in row if field[:1] in "=+-@\t\r" and field]


def test_markdown_fits_a_pull_request_whatever_the_number_of_models(breakwatch, hub):
    for number in range(400):
        hub.model(f"org/{number}", number + 1, sites=[[f"{HOSTILE[2]} {number}" * 3, "", 1]])
    breakwatch.run("sweep", "--quiet", "--hub.top", "400")
    text = breakwatch.run("report", "--format", "md").stdout
    assert 20_000 < len(text.encode()) <= 60_000
    assert text.count("<details>\n") == text.count("</details>\n") > 1 and "<script" not in text
    assert "## Top reasons" in text and "Not shown: " in text


LOADING = {"script", "img", "link", "iframe", "svg", "object", "form", "base", "@src", "@srcset", "@style"}


class Elements(html.parser.HTMLParser):
    """The names of elements and attributes, and the text."""

    def __init__(self):
        super().__init__()
        self.found, self.text = set(), ""

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.found |= {"@" + name for name, _ in attrs}

    def handle_data(self, data):
        self.text += data


def test_html_has_nothing_that_a_browser_would_load_or_run(reported):
    for _, text in documents(reported, "html"):
        parser = Elements()
        parser.feed(text)
        assert not parser.found & LOADING and not [name for name in parser.found if name.startswith("@on")]
        assert "fetch('http://evil.test/a')" in parser.text


@contextlib.contextmanager
def counting_proxy():
    """A proxy that refuses every request and remembers it."""
    requests = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def refuse(self):
            requests.append(self.path)
            self.send_error(502)

        do_GET = do_POST = do_CONNECT = do_HEAD = refuse

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", requests
    server.shutdown()


def browse(page, proxy, *options):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-default-apps", "--virtual-time-budget=3000",
             f"--user-data-dir={page.parent / 'profile'}", f"--proxy-server={proxy}",
             "--proxy-bypass-list=<-loopback>", *options]  # fmt: skip
    return subprocess.run([needs("chromium"), *flags, page.as_uri()], capture_output=True, text=True, timeout=120,
                          check=False)  # fmt: skip


def test_html_makes_a_browser_request_nothing(reported):
    needs("chromium")
    page = reported.tmp_path / "report.html"
    reported.run("report", "--gate", "baseline.tsv", "--format", "html", "--output", page)
    control = reported.tmp_path / "control.html"
    control.write_text("<body><img src=http://evil.test/control>control")
    with counting_proxy() as (proxy, requests):
        assert "control" in browse(control, proxy, "--dump-dom").stdout
        assert "http://evil.test/control" in requests, "the proxy sees what a page loads"
        requests.clear()
        shown = browse(page, proxy, "--dump-dom", "--enable-logging=stderr")
        assert "Data-dependent branching" in shown.stdout
        assert not [url for url in requests if "evil.test" in url], requests
        assert "CONSOLE" not in shown.stderr, shown.stderr


def test_warnings_ng_has_unique_fingerprints_that_a_second_sweep_keeps(reported):
    def fingerprints(text):
        return [issue["fingerprint"] for issue in json.loads(text)["issues"]]

    before = fingerprints(reported.run("report", "--format", "warnings-ng").stdout)
    assert len(before) == len(set(before)) > len(HOSTILE)
    reported.run("sweep", "--quiet", "--rebuild", "always")
    assert fingerprints(reported.run("report", "--format", "warnings-ng").stdout) == before


def test_github_annotates_the_run_and_appends_to_the_step_summary(reported):
    summary = reported.tmp_path / "summary.md"
    summary.write_text("# Of an earlier command\n")
    done = reported.run("compare", "--baseline", "baseline.tsv", "--format", "github", code=2,
                        GITHUB_STEP_SUMMARY=str(summary))  # fmt: skip
    lines = done.stdout.splitlines()
    assert all(line.startswith(("::error ", "::warning ", "::notice ")) for line in lines), lines
    assert [line for line in lines if line.startswith("::error file=transformers/models/fake.py,line=17,")]
    text = summary.read_text()
    assert text.startswith("# Of an earlier command\n# Comparison\n") and "**Gate: failed" in text
    reported.run("report", "--format", "github", "--output", "own.md", GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text() == text and (reported.tmp_path / "own.md").read_text().startswith("# Where ")
    reported.run("report", "--format", "github", code=74, GITHUB_STEP_SUMMARY=str(reported.tmp_path / "no/where.md"))


def test_a_mail_has_a_text_and_an_html_body(reported):
    for name, text in documents(reported, "mail"):
        message = email.message_from_string(text, policy=email.policy.default)
        assert not message.defects and message["subject"].startswith("breakwatch: ") and "Bcc" not in message
        assert message["date"].datetime is not None
        assert [part.get_content_type() for part in message.iter_parts()] == ["text/plain", "text/html"]
        plain, page = (part.get_content() for part in message.iter_parts())
        assert "org/worse" in plain and "\x1b" not in plain
        parser = Elements()
        parser.feed(page)
        assert "org/worse" in parser.text and not parser.found & LOADING, name


def test_output_goes_to_a_file_and_unknown_formats_are_named(reported):
    for form in FORMATS:
        path = reported.tmp_path / f"report.{form}"
        done = reported.run("report", "--format", form, "--output", path)
        assert path.stat().st_size > 100 and (done.stdout == "" or form == "github")
    done = reported.run("report", "--format", "xml", code=64)
    assert 'unknown format "xml"; known: ' + ", ".join(FORMATS) in done.stderr
    assert "--list prints" in reported.run("report", "--list", "--format", "sarif", code=64).stderr


def test_options_that_would_be_ignored_are_usage_errors(reported):
    assert "--json excludes --format csv" in reported.run("report", "--json", "--format", "csv", code=64).stderr
    assert "--gate excludes --list" in reported.run("report", "--list", "--gate", "a.tsv", code=64).stderr
    assert "--filter: must not be empty" in reported.run("report", "--filter", "", code=64).stderr
    assert reported.run("report", "--json").stdout == reported.run("report", "--json", "--format", "json").stdout


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_lets_a_text_control_the_terminal(reported, form):
    for name, text in documents(reported, form):
        assert not [c for c in text if ord(c) < 32 and c != "\n"], name
        assert form == "json" or "\u202e" not in text, name


def test_a_report_states_the_gates_decision_and_ends_with_0(reported):
    assert "Gate: failed" in reported.run("report", "--gate", "baseline.tsv", "--format", "md").stdout
    assert "Gate:" not in reported.run("report", "--format", "md").stdout
