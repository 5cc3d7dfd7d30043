"""`breakwatch import`: the trace of a job leads to the same result as a capture of the same code."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "worker"))
COMMIT = "3f9a1c2e"


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    pytest.importorskip("torch", reason="torch is not in this environment: make test-venv")
    folder = tmp_path_factory.mktemp("traces")
    made = subprocess.run([sys.executable, str(HERE / "make_traces.py"), str(folder)], capture_output=True, text=True,
                          timeout=600)
    assert made.returncode == 0, made.stderr[-2000:]
    return folder


class Importer:
    """The program with its own state directory."""

    def __init__(self, program, state):
        self.program, self.state = program, state

    def run(self, *arguments, code=0):
        done = subprocess.run([self.program, *arguments, "--state-dir", str(self.state)], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def take(self, trace, model, *more, code=0):
        return self.run("import", str(trace), "--model", model, "--commit", COMMIT, *more, code=code)

    def show(self, model):
        return json.loads(self.run("show", model, "--json").stdout)


@pytest.fixture(scope="module")
def importer(program, tmp_path_factory):
    return Importer(program, tmp_path_factory.mktemp("state") / "var")


def names(folder):
    return sorted(path.stem for path in folder.glob("*.json"))


def test_the_import_of_every_module_of_the_zoo_agrees_with_its_capture(importer, traces):
    assert len(names(traces)) > 15
    for name in names(traces):
        captured = json.loads((traces / f"{name}.json").read_text())
        importer.take(traces / name, f"zoo/{name}")
        imported = importer.show(f"zoo/{name}")
        for number in ("breaks", "break_sites", "graphs", "ops_captured", "frames_fallback", "recompiles",
                       "unique_reasons", "unexplained_events"):
            assert imported[number] == captured[number], (name, number)
        assert len(imported["sites"]) == len(captured["sites"]), name
        for ours, theirs in zip(captured["sites"], imported["sites"], strict=True):
            # A trace also has the calls of the job above the model's; the module of a place is not in it.
            for field in ("stack", "stack_source"):
                assert theirs[field][-len(ours[field]):] == ours[field], name
            other = {"module_path": "", "stack": [], "stack_source": []}
            assert {**ours, **other} == {**theirs, **other}, name
        for ours, theirs in zip(captured["segments"], imported["segments"], strict=True):
            for field in ("compile_id", "file", "line", "function", "ended_by", "ops_total", "inputs", "guards"):
                assert ours[field] == theirs[field], (name, field)


def test_fields_that_the_trace_does_not_contain_are_absent(importer, traces):
    importer.take(traces / "Print", "zoo/Print")
    imported = importer.show("zoo/Print")
    for field in ("dynamo_counter_breaks", "explain_breaks", "params", "frames_total"):
        assert imported.get(field) is None, field
    assert imported["mode"] == "import" and imported["toolchain"] == "import" and imported["torch"]
    assert imported["revision"] == COMMIT


def test_a_running_daemon_stores_the_import(breakwatch, hub, traces):
    hub.model("org/model", 1)
    child, _ = breakwatch.serve()
    breakwatch.run("sweep")
    breakwatch.run("import", str(traces / "Print"), "--model", "zoo/Print", "--commit", COMMIT)
    shown = json.loads(breakwatch.run("show", "zoo/Print", "--json").stdout)
    assert (shown["mode"], shown["toolchain"], shown["revision"], shown["breaks"]) == ("import", "import", COMMIT, 1)
    assert child.poll() is None
    latest = json.loads(breakwatch.run("report", "--json").stdout)
    assert [result["model"] for result in latest["results"]] == ["org/model"]


def test_the_same_trace_is_recognised(importer, traces):
    importer.take(traces / "Item", "zoo/again")
    first = importer.show("zoo/again")
    importer.take(traces / "Item", "zoo/again")
    again = importer.show("zoo/again")
    assert again["sweep_id"] != first["sweep_id"] and again["rebuild_reason"] == "unchanged"
    assert again["sites"] == first["sites"]


def test_an_import_is_listed_and_its_reasons_are_shown(importer, traces):
    importer.take(traces / "TwoPlaces", "zoo/places")
    reasons = json.loads(importer.run("reasons", "--json").stdout)
    assert "GB0059" in json.dumps(reasons)
    assert "import " in importer.run("report", "--list").stdout


def test_damage_is_reported_and_the_rest_is_imported(importer, traces, tmp_path):
    (log,) = (traces / "Print").glob("*.log")
    text = log.read_bytes()
    (tmp_path / log.name).write_bytes(b"not a record\n" + text + text[:300].split(b"\n")[0][:120])
    done = importer.take(tmp_path, "zoo/damaged")
    assert "1 line could not be read" in done.stderr and "1 record is cut" in done.stderr
    assert importer.show("zoo/damaged")["breaks"] == 1


def test_wrong_arguments_lead_to_a_hint(importer, tmp_path):
    assert "TORCH_TRACE" in importer.take(tmp_path, "a/b", code=64).stderr
    bad = importer.run("import", str(tmp_path), "--model", "a/b", "--commit", "not a commit", code=64)
    assert "--commit" in bad.stderr
    assert "--family" in importer.take(tmp_path, "a/b", "--family", "fish", code=64).stderr


def test_a_tracked_import_joins_the_metrics_and_an_untracked_one_does_not(program, traces, tmp_path, gateway):
    watch = Importer(program, tmp_path / "var")
    push = ("--exporters.pushgateway.url", gateway.url, "--metrics.extra", "import")
    watch.take(traces / "Print", "zoo/aside", *push)
    watch.take(traces / "Item", "zoo/kept", "--track", *push)
    from e2e_support import get

    metrics = get(gateway.url + "/metrics")[1]
    series = [line for line in metrics.splitlines() if 'model="zoo/kept"' in line]
    assert any(line.startswith("breakwatch_breaks{") and 'toolchain="import"' in line and 'mode="import"' in line
               and f'commit="{COMMIT}"' in line for line in series), series
    assert not any(line.startswith("compile_breaks_total{") for line in series)
    assert "zoo/aside" not in metrics
