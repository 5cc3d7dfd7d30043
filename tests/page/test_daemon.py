"""The page as the program serves it: on a store without a daemon, with many models, and while a daemon sweeps."""

import gzip
import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
from axe_playwright_python.sync_playwright import Axe
from e2e_support import DEADLINE_S, ROOT, Breakwatch, Hub, Program, eventually, get

FILL = ROOT / "build/release/tests/page/fill_store"
PROGRAM = ROOT / "build/release/breakwatch"
HOSTILE = "<img src=x onerror=alert(1)>/<script>alert(1)</script>"


def needs_built(path):
    if not path.exists():
        pytest.skip(f"{path} is not built: make test")
    return str(path)


class Shown:
    """`breakwatch page` on a filled store."""

    def __init__(self, folder, models, sweeps):
        (folder / "state").mkdir()
        subprocess.run([needs_built(FILL), folder / "state/breakwatch.db", str(models), str(sweeps)], check=True)
        self.program = Program(needs_built(PROGRAM), folder)
        self.child = subprocess.Popen(
            self.program.argv("page", "--listen", "127.0.0.1:0"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=self.program.environment, cwd=folder)  # fmt: skip
        self.url = re.search(r"http://[\d.:]+", self.child.stdout.readline()).group()


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    shown = Shown(tmp_path_factory.mktemp("small"), 1000, 2)
    yield shown
    shown.child.kill()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    shown = Shown(tmp_path_factory.mktemp("large"), 50_000, 1)
    yield shown
    shown.child.kill()


def request(url, method="GET", **headers):
    """(status, headers, bytes)."""
    asked = urllib.request.Request(url, headers=headers, method=method, data=b"{}" if method == "POST" else None)
    try:
        with urllib.request.urlopen(asked, timeout=DEADLINE_S) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def test_the_files_are_served_compressed_once_and_with_a_strict_policy(small):
    status, headers, packed = request(small.url + "/page/app.js", **{"Accept-Encoding": "gzip"})
    assert (status, headers["Content-Encoding"]) == (200, "gzip")
    assert gzip.decompress(packed) == (ROOT / "dashboards/page/app.js").read_bytes()
    assert headers.get_all("Content-Security-Policy") == [headers["Content-Security-Policy"]]
    assert "script-src 'self'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert request(small.url + "/page/app.js", **{"If-None-Match": headers["ETag"]})[0] == 304
    assert request(small.url + "/")[2] == (ROOT / "dashboards/page/index.html").read_bytes()
    assert request(small.url + "/page/../../etc/passwd")[0] == 404


def test_changes_are_refused_without_a_daemon(small):
    status, headers, body = request(small.url + "/api/v1/sweeps", "POST", **{"Content-Type": "application/json"})
    problem = json.loads(body)
    assert (status, headers["Content-Type"], problem["code"]) == (403, "application/problem+json", "forbidden")
    assert "breakwatch serve" in problem["detail"]


def test_a_store_is_shown_beside_its_writer_and_follows_it(program, tmp_path):
    (tmp_path / "hub").mkdir()
    hub = Hub(tmp_path / "hub")
    hub.model("org/a", 300, sites=[["Data-dependent branching", "GB0170", 2]])
    watch = Breakwatch(program, tmp_path, hub)
    text = watch.run("sweep", "--quiet").stdout
    assert re.search(r"^Page +breakwatch page --state-dir \S+, then http://127.0.0.1:9723/$", text, re.MULTILINE)
    child = subprocess.Popen(watch.argv("page", "--listen", "127.0.0.1:0"), stdout=subprocess.PIPE, text=True,
                             env=watch.environment, cwd=tmp_path)  # fmt: skip
    url = re.search(r"http://[\d.:]+", child.stdout.readline()).group()
    assert json.loads(get(url + "/api/v1/models")[1])["models_tracked"] == 1
    hub.model("org/b", 200)
    watch.run("sweep", "--quiet")
    assert eventually(lambda: json.loads(get(url + "/api/v1/models")[1])["models_tracked"] == 2)
    child.terminate()
    assert child.wait(timeout=DEADLINE_S) == 0


def test_results_of_several_modes_are_told_apart(program, tmp_path, watch):
    (tmp_path / "hub").mkdir()
    hub = Hub(tmp_path / "hub")
    hub.model("org/a", 300, status="timeout")
    program = Breakwatch(program, tmp_path, hub)
    program.run("sweep", "--quiet", "--modes", "eval,train")
    hub.model("org/a", 300, status="failed_create")
    program.run("sweep", "--quiet", "--modes", "eval,train")
    child = subprocess.Popen(program.argv("page", "--listen", "127.0.0.1:0"), stdout=subprocess.PIPE, text=True,
                             env=program.environment, cwd=tmp_path)  # fmt: skip
    one = watch(re.search(r"http://[\d.:]+", child.stdout.readline()).group())
    failures = one.open("sweeps/latest").get_by_role("table", name="Models without numbers, by cause")
    assert {row.split("\t")[1] for row in failures.locator("tbody").inner_text().split("\n") if "\t" in row} >= {
        "eval", "train"
    }
    page = one.open("compare?a=previous&b=latest&all=true")
    assert "org/a (train)" in page.inner_text("main").replace("\n", " ")
    page.get_by_role("table", name="Compared results").get_by_role("row", name="(train)").get_by_role("link").click()
    one.settle()
    assert "mode train" in page.inner_text("main")
    child.terminate()
    assert child.wait(timeout=DEADLINE_S) == 0


def test_without_a_store_there_is_nothing_to_show(program, tmp_path):
    done = Program(program, tmp_path).run("page", "--listen", "127.0.0.1:0", code=1)
    assert "breakwatch.db" in done.stderr


@pytest.mark.parametrize("width, scheme", [(1280, "light"), (360, "dark")])
def test_each_view_shows_real_answers(watch, small, width, scheme):
    one = watch(small.url, color_scheme=scheme)
    one.page.set_viewport_size({"width": width, "height": 900})
    model = next(
        row for row in json.loads(get(small.url + "/api/v1/models?sort=-breaks")[1])["models"] if row["breaks"]
    )
    site = json.loads(get(small.url + "/api/v1/sites")[1])["sites"][0]["site_id"]
    views = {"": "Models in one graph", "?by=family": "Models in one graph",
             "models?sort=-breaks": "1,000 models tracked",
             f"models/{quote(model['model'], safe='')}": "Anatomy", f"models/{quote(HOSTILE, safe='')}": HOSTILE,
             "reasons": "Dynamic shape operator", "reasons/GB0170": "Unblocked by a fix", "sites": "places in the code",
             f"sites/{quote(site, safe='')}": "Detected something that depends on data.", "compare": "What differs",
             "compare?a=previous&b=latest&all=true": "Totals", "sweeps": "20261123T010000Z-000002",
             "sweeps/latest": "the config has no attribute hidden_size", "health": "No event was refused."}  # fmt: skip
    for hash_, expected in views.items():
        page = one.open(hash_)
        assert expected in page.inner_text("main"), hash_
        assert page.get_by_role("alert").count() == 0, hash_ + page.inner_text("main")[:500]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{hash_} is wider than {width}"
        assert Axe().run(page).response["violations"] == [], hash_


def test_a_break_of_a_real_answer_names_the_others(watch, small):
    one = watch(small.url)
    model = json.loads(get(small.url + "/api/v1/models?sort=-breaks")[1])["models"][0]
    page = one.open("models/" + quote(model["model"], safe=""))
    page.get_by_role("button", name="break 1: ").first.click()
    one.settle()
    assert "Also in" in page.inner_text("main")
    assert "if mask.sum() > 0:" in page.inner_text("main")


def test_fifty_thousand_models_are_painted_within_a_second(watch, large):
    def first_paint():
        page = watch(large.url).open("models?sort=-breaks")
        assert "50,000 models tracked" in page.inner_text("main")
        return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")

    assert min(first_paint() for _ in range(3)) < 1000


def test_a_search_among_fifty_thousand_models_is_done_by_the_server(watch, large):
    one = watch(large.url)
    page = one.open("models")
    page.get_by_label("Name or selector").fill("wav2vec2-4999")
    page.get_by_label("Name or selector").press("Enter")
    page.wait_for_function("() => document.querySelectorAll('tbody tr').length < 50")
    one.settle()
    assert all("wav2vec2-4999" in name for name in page.locator("tbody a.name").all_inner_texts())
    assert page.locator("tbody tr").count() > 0
