"""Bad input leads to one clear line and the right exit code; nothing is lost."""

import json
import os
import signal
import socket
import sqlite3
import subprocess

import pytest


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        (("swep",), 64, "swep"),
        (("sweep", "--no-such-flag"), 64, "--no-such-flag"),
        (("sweep", "--hub.top", "many"), 78, "hub.top"),
        (("sweep", "--hub.top", "0"), 78, "hub.top"),
        (("sweep", "--config.file", "absent.yaml"), 78, "absent.yaml"),
        (("sweep", "--plan", "absent.json"), 64, "absent.json"),
        (("sweep", "--plan", "/"), 64, "cannot read plan /"),
        (("sweep", "--plan", "/dev/zero"), 64, "/dev/zero is not a plan"),
        (("sweep", "--plan", "x", "--resume"), 64, "cannot be combined"),
        (("sweep", "--model", ""), 64, "not a valid model name"),
        (("report", "--format", "pdf"), 64, "--format"),
        (("reasons", "--by", "colour"), 64, "--by"),
        (("config", "explain", "exporters.pushgateway.ulr"), 64, "url"),
    ],
)
def test_each_mistake_is_named_in_one_line(breakwatch, arguments, code, text):
    done = breakwatch.run(*arguments, code=code)
    assert text in done.stderr
    assert done.stderr.count("\n") == 1 and done.stdout == ""


@pytest.mark.parametrize(("change", "words"), [
    ({"schema": 2}, 'field "schema": expected 1'), ({"schema": None}, 'field "schema": expected 1'),
    ({"models": []}, "contains no model"), ({"models": {}}, 'field "models": expected a list'),
    ({"models": [{"model": "a/b", "mode": "fast"}]}, 'models[0]: field "mode": expected eval, train'),
    ({"models": [{"model": "a/b", "mode": "import"}]}, 'models[0]: field "mode"'),
    ({"models": [{"model": "a/b", "mdoe": "eval"}]}, 'models[0]: unknown field "mdoe"; did you mean "mode"?'),
    ({"models": [{"model": "a/b", "config": []}]}, 'models[0]: field "config": expected an object'),
    ({"models": [{"model": "a/b"}, {"model": "a/b"}]}, "models[1]: \"a/b\" is planned twice"),
    ({"models": [{"model": ""}]}, "models[0]: \"\" is not a valid model name")])
def test_a_plan_that_cannot_be_swept_is_refused_by_file_field_and_reason(breakwatch, change, words):
    plan = breakwatch.tmp_path / "changed.json"
    plan.write_text(json.dumps({"schema": 1, "models": [{"model": "a/b"}]} | change))
    said = breakwatch.run("sweep", "--plan", "changed.json", code=64).stderr
    assert "changed.json" in said
    assert words in said


@pytest.mark.parametrize("flag", ["--web.token", "--web.token=hush", "--exporters.loki.password"])
def test_a_secret_given_as_a_flag_names_where_it_belongs(breakwatch, flag):
    name = flag.split("=")[0].removeprefix("--")
    said = breakwatch.run("config", "check", flag, "hush", code=64).stderr
    assert name + "_file" in said
    assert "BREAKWATCH_" + name.upper().replace(".", "_") in said
    assert "hush" not in said


def test_a_time_out_may_be_shorter_than_the_default_of_another(breakwatch):
    breakwatch.run("config", "check", "--exporters.loki.timeout", "2s", "--exporters.pushgateway.timeout", "1s")


def test_a_warning_appears_once(breakwatch):
    for command in (("config", "check"), ("config", "show"), ("store", "info")):
        done = breakwatch.run(*command, BREAKWATCH_HUB_TPO="5", code=1 if command[0] == "store" else 0)
        assert (done.stdout + done.stderr).count("BREAKWATCH_HUB_TPO") == 1, command


@pytest.mark.parametrize("files", [
    {}, {"recording.json": "{"}, {"recording.json": '{"format": 9}'}, {"recording.json": "[]"},
    {"recording.json": '{"format": 1}'}, {"recording.json": '{"format": 1}', "models.jsonl": "no\n" * 50}])
def test_a_missing_or_invalid_recording_is_a_wrong_setting(breakwatch, tmp_path, files):
    folder = tmp_path / "recording"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    said = breakwatch.run("plan", "--hub.snapshot_dir", str(folder), code=78).stderr
    assert str(folder) in said


def test_a_systemd_service_keeps_its_state_in_its_own_directory(program):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BREAKWATCH_")}

    def show(*flags, **variables):
        return subprocess.run([program, "config", "show", "--json", *flags], cwd="/", env=environment | variables,
                              capture_output=True, text=True)  # fmt: skip

    def state_dir(done):
        return next(s["value"] for s in json.loads(done.stdout)["settings"] if s["key"] == "state_dir")

    assert state_dir(show()) == "/var/lib/breakwatch"
    assert state_dir(show(STATE_DIRECTORY="/var/lib/mine")) == "/var/lib/mine"
    refused = show("--state-dir", "var")
    assert (refused.returncode, '"/var" belongs to the system' in refused.stderr) == (78, True)


def test_the_flag_of_a_settings_file_takes_one_argument_only(breakwatch):
    config = breakwatch.tmp_path / "settings.yaml"
    config.write_text("hub: {top: 5}\n")
    done = breakwatch.run("show", "--config.file", str(config), "org/model", code=1)
    assert "does not exist yet" in done.stderr


def test_a_worker_that_does_not_start_is_not_reported_as_the_hub(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.settings[breakwatch.settings.index("--capture.worker") + 1] = "/bin/false"
    done = breakwatch.run("sweep", code=1)
    assert "no capture worker starts" in done.stderr and "/bin/false" in done.stderr


def test_an_unknown_key_is_reported_with_its_place_and_the_nearest_name(breakwatch):
    config = breakwatch.tmp_path / "settings.yaml"
    config.write_text("exporters:\n  pushgateway:\n    ulr: http://127.0.0.1:9091\n")
    done = breakwatch.run("sweep", "--config.file", str(config), code=78)
    assert f"{config}:3:5" in done.stderr and '"url"' in done.stderr


def test_reading_before_the_first_sweep_reports_that_there_is_none(breakwatch):
    for command in (("show", "org/m"), ("reasons",), ("report",)):
        assert "breakwatch" in breakwatch.run(*command, code=1).stderr


def test_a_misspelt_model_leads_to_the_nearest_name(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.run("sweep")
    assert 'did you mean "org/model"' in breakwatch.run("show", "org/modle", code=64).stderr


def test_a_named_model_that_does_not_exist_is_a_failure(breakwatch, hub):
    hub.model("org/model", 1)
    done = breakwatch.run("sweep", "--model", "org/modle", "--model", "org/model", "--modes", "eval,train", code=1)
    assert done.stderr.count("breakwatch: org/modle not found: ") == 1
    results = breakwatch.results()
    assert (results["org/modle"]["status"], results["org/model"]["status"]) == ("skipped_not_found", "full_graph")


def test_rebuild_without_a_store_is_an_error(breakwatch):
    assert "breakwatch.db" in breakwatch.run("store", "rebuild", code=1).stderr
    assert not (breakwatch.state / "breakwatch.db").exists()


def test_invalid_configs_are_skipped_with_a_reason(breakwatch, tmp_path):
    folder = tmp_path / "configs"
    bad = {"list": "[]", "broken": '{"model_type": ', "deep": "[" * 100_000, "empty": ""}
    bad["good"] = '{"model_type":"bert"}'
    for name, text in bad.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "config.json").write_text(text)
    breakwatch.settings += ["--hub.source", "directory", "--hub.path", str(folder)]
    breakwatch.run("sweep")
    results = breakwatch.results()
    assert results["good"]["status"] == "full_graph"
    for name in bad.keys() - {"good"}:
        assert results[name]["status"] in ("skipped_no_config", "failed_resolve"), results[name]
        assert results[name]["status_detail"]


def test_a_port_that_is_in_use_is_named(breakwatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert address in breakwatch.run("serve", "--web.listen_address", address, code=1).stderr


def test_a_second_writer_is_rejected_and_reading_still_works(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.run("sweep")
    child, _ = breakwatch.serve()
    assert "in use by process" in breakwatch.run("store", "rebuild", code=74).stderr
    breakwatch.run("show", "org/model")
    child.send_signal(signal.SIGTERM)
    child.wait(timeout=15)


def test_a_store_of_a_newer_version_is_refused(breakwatch, hub):
    hub.model("org/model", 1)
    breakwatch.run("sweep")
    database = sqlite3.connect(breakwatch.state / "breakwatch.db")
    changed = database.execute("update meta set value = '999' where key = 'schema_version'")
    assert changed.rowcount == 1
    database.commit()
    database.close()
    assert "newer" in breakwatch.run("sweep", code=74).stderr


def test_a_state_directory_that_cannot_be_made_is_named(breakwatch, tmp_path, hub):
    hub.model("org/model", 1)
    (tmp_path / "file").write_text("")
    breakwatch.settings[breakwatch.settings.index("--state-dir") + 1] = str(tmp_path / "file/state")
    assert str(tmp_path / "file") in breakwatch.run("sweep", code=74).stderr


def test_a_worker_that_does_not_start_leaves_every_model_not_attempted(breakwatch, hub):
    hub.model("org/model", 1)
    at = breakwatch.settings.index("--capture.worker") + 1
    only_describes = 'case "$*" in *--describe*) exec python3 "$0" . --describe;; esac; exit 3'
    breakwatch.settings[at] = json.dumps(["sh", "-c", only_describes, str(breakwatch.tmp_path / "describe.py")])
    (breakwatch.tmp_path / "describe.py").write_text(
        'print(\'{"type":"hello","protocol":1,"worker":"w","torch":"2","transformers":"5","python":"3","device":"cpu","pid":1}\')'
    )
    breakwatch.run("sweep", code=3)
    assert breakwatch.results()["org/model"]["status"] == "not_attempted"


def test_doctor_checks_the_hub_that_a_sweep_would_use(breakwatch):
    def hub_of(**environment):
        done = breakwatch.run("doctor", "--json", "--hub.source", "live", code=environment.pop("code"), **environment)
        return next(check for check in json.loads(done.stdout)["checks"] if check["check"] == "hub")

    assert "offline" in hub_of(HF_HUB_OFFLINE="yes", code=0)["found"]
    away = hub_of(HF_ENDPOINT="http://127.0.0.1:1/", code=1)
    assert away["state"] == "failed" and away["found"].startswith("http://127.0.0.1:1/api/")


def test_doctor_lists_every_check_as_json(breakwatch):
    done = breakwatch.run("doctor", "--json")
    names = {check["check"] for check in json.loads(done.stdout)["checks"]}
    assert {"packages", "worker", "sandbox", "hub", "store", "disk"} <= names
