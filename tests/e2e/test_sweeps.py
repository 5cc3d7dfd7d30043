"""Sweeps that are killed, resumed, shared, saved and requested."""

import contextlib
import csv
import http.client
import json
import signal
import sqlite3
import subprocess
import urllib.error
import urllib.request

from e2e_support import Process, eventually, free_port, get
from fake_environment import make_environment


def many_models(hub, count):
    for n in range(count):
        hub.model(f"org/m{n:02}", 1000 - n, sites=[[f"reason {n}", "", n + 1]])


def test_kill_9_and_resume_keep_the_id_lose_nothing_and_capture_nothing_twice(breakwatch, hub):
    many_models(hub, 6)
    hub.model("org/m03", 997, hang=True)
    child = breakwatch.start("sweep")
    assert eventually(lambda: len(breakwatch.captures()) == 4)
    child.kill()
    child.wait()
    stored = json.loads(breakwatch.run("report", "--list", "--json").stdout)
    assert [sweep["state"] for sweep in stored] == ["running"]

    (breakwatch.tmp_path / "no_more_hanging").touch()
    breakwatch.run("sweep", "--resume")
    assert {r["sweep_id"] for r in breakwatch.results().values()} == {stored[0]["sweep_id"]}
    assert len(breakwatch.results()) == 6
    names = [line.split()[0] for line in breakwatch.captures()]
    assert sorted(set(names)) == [f"org/m{n:02}" for n in range(6)]
    # Only the captures that were running when it was killed start again.
    assert [name for name in set(names) if names.count(name) > 1] in ([], ["org/m03"])


def test_there_is_nothing_to_resume_after_a_finished_sweep(breakwatch, hub):
    many_models(hub, 1)
    breakwatch.run("sweep")
    done = breakwatch.run("sweep", "--resume", code=1)
    assert "resume" in done.stderr
    planned = breakwatch.run("sweep", "--resume", "--modes", "train", "--toolchain", "old", code=1).stderr
    assert "keeps its plan; ignored: --capture.modes, --toolchain" in planned


def test_an_interrupted_sweep_ends_with_130_and_can_be_resumed(breakwatch, hub):
    hub.model("org/quick", 2)
    hub.model("org/hangs", 1, hang=True)
    child = breakwatch.start("sweep")
    progress = breakwatch.tmp_path / "serve.log"
    assert eventually(lambda: "org/quick" in progress.read_text() and len(breakwatch.captures()) == 2)
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=15) == 130
    (interrupted,) = json.loads(breakwatch.run("report", "--list", "--json").stdout)
    assert interrupted["state"] in ("interrupted", "running")
    (breakwatch.tmp_path / "no_more_hanging").touch()
    breakwatch.run("sweep", "--resume")
    (resumed,) = json.loads(breakwatch.run("report", "--list", "--json").stdout)
    assert (resumed["sweep_id"], resumed["state"]) == (interrupted["sweep_id"], "finished")
    assert sorted(line.split()[0] for line in breakwatch.captures()) == ["org/hangs", "org/hangs", "org/quick"]


def test_models_with_one_structure_share_one_capture(breakwatch, hub):
    hub.model("org/first", 2)
    hub.model("org/second", 1)
    breakwatch.run("sweep")
    assert len(breakwatch.captures()) == 1
    assert breakwatch.results()["org/second"]["shared_from"] == "org/first"


def test_a_failure_is_shown_with_its_suggestion_everywhere(breakwatch, hub):
    hub.model("org/fails", 2, status="failed_inputs", suggestion="describe the arguments in an inputs file")
    hub.model("org/whole", 1)
    child, address = breakwatch.serve()
    breakwatch.run("sweep")
    said = "describe the arguments in an inputs file"
    results = breakwatch.results()
    assert results["org/fails"]["suggestion"] == said and "suggestion" not in results["org/whole"]
    (failure,) = csv.DictReader((breakwatch.state / "latest/failures.csv").open())
    assert failure["suggestion"] == said
    assert said in (breakwatch.state / "latest/report.md").read_text()
    assert f"suggestion    {said}" in breakwatch.run("show", "org/fails").stdout
    for path in ("/api/v1/models/org/fails", "/api/v1/models"):
        assert said in get(address + path)[1]
    assert "suggestion" not in json.loads(get(address + "/api/v1/models/org/whole")[1])
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_saved_plan_runs_again_at_its_commits(breakwatch, hub):
    old = hub.model("org/model", 1)
    plan = breakwatch.tmp_path / "plan.json"
    breakwatch.run("plan", "--output", str(plan))
    hub.model("org/model", 1, sites=[["later", "", 1]])
    breakwatch.run("sweep", "--plan", str(plan))
    assert breakwatch.results()["org/model"]["revision"] == old


def test_the_daemon_of_the_state_directory_sweeps_for_the_command_line(breakwatch, hub):
    many_models(hub, 2)
    child, address = breakwatch.serve()
    done = breakwatch.run("sweep")
    assert "org/m01" in done.stdout
    assert json.loads(get(address + "/api/v1/models")[1])["models_with_numbers"] == 2
    hub.model("org/lost", 1, status="failed_eager")
    breakwatch.run("sweep")
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_sweep_of_the_daemon_is_followed_through_all_toolchains_to_the_worst_exit_code(breakwatch, hub):
    old = make_environment(breakwatch.tmp_path / "old", "2.13.0", "5.8.0")
    new = make_environment(breakwatch.tmp_path / "new", "2.15.0", "5.23.0")
    worker = breakwatch.settings.index("--capture.worker") + 1
    breakwatch.settings[worker] = json.dumps([str(new), str(breakwatch.tmp_path)])
    breakwatch.settings += ["--capture.toolchains", f"old={old}", "--capture.extra_toolchains", "old"]
    hub.model("org/model", 1)
    child, _ = breakwatch.serve()
    assert breakwatch.run("sweep").stdout.count("Toolchain ") == 2
    listed = json.loads(breakwatch.run("report", "--list", "--json").stdout)
    assert {(sweep["toolchain"], sweep["state"]) for sweep in listed} == {("default", "finished"), ("old", "finished")}
    hub.model("org/model", 1, rules=[{"torch": "2.13", "status": "not_attempted"}])
    breakwatch.run("sweep", code=3)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_command_can_stop_following_the_daemons_sweep(breakwatch, hub):
    hub.model("org/hangs", 1, hang=True)
    child, _ = breakwatch.serve()
    follower = breakwatch.start("sweep")
    assert eventually(lambda: len(breakwatch.captures()) == 1)
    follower.send_signal(signal.SIGINT)
    assert follower.wait(timeout=15) == 130
    assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_the_daemon_reports_that_there_is_nothing_to_resume(breakwatch, hub):
    many_models(hub, 1)
    child, _ = breakwatch.serve()
    assert "nothing to resume" in breakwatch.run("sweep", "--resume", code=1).stderr
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_sigterm_ends_the_daemon_within_ten_seconds_of_a_running_capture(breakwatch, hub):
    hub.model("org/hangs", 1, hang=True)
    child, _ = breakwatch.serve()
    child.send_signal(signal.SIGUSR1)
    assert eventually(lambda: len(breakwatch.captures()) == 1)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=10) == 0


def test_a_post_with_the_token_makes_a_sweep(breakwatch, hub):
    many_models(hub, 1)
    token = breakwatch.tmp_path / "token"
    token.write_text("s3cret\n")
    child, address = breakwatch.serve("--web.token_file", str(token))

    def post(**headers):
        request = urllib.request.Request(address + "/api/v1/sweeps", data=b"{}", headers=headers, method="POST")
        try:
            return urllib.request.urlopen(request, timeout=10).status
        except urllib.error.HTTPError as error:
            return error.code

    assert post() == 401
    assert post(Authorization="Bearer s3cret") == 202
    assert eventually(lambda: len(breakwatch.captures()) == 1)
    assert eventually(lambda: json.loads(get(address + "/api/v1/sweeps")[1])["sweeps"][0]["state"] == "finished")
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_post_that_announces_no_body_has_none(breakwatch, hub):
    many_models(hub, 1)
    token = breakwatch.tmp_path / "token"
    token.write_text("s3cret\n")
    child, address = breakwatch.serve("--web.token_file", str(token), "--web.enable_lifecycle=true")
    for path in ("/-/reload", "/api/v1/sweeps"):
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
        connection.putrequest("POST", path)
        connection.putheader("Authorization", "Bearer s3cret")
        connection.endheaders()
        assert connection.getresponse().status == 202, path
        connection.close()
    assert eventually(lambda: len(breakwatch.captures()) == 1)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_flags_without_effect_on_a_daemon_are_reported(breakwatch, hub):
    many_models(hub, 1)
    child, _ = breakwatch.serve()
    done = breakwatch.run("sweep", "--capture.repeat", "2", "--modes", "eval")
    assert "uses its own settings" in done.stderr and "--capture.repeat" in done.stderr
    assert "--capture.modes" not in done.stderr and "Metrics" not in done.stdout
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_rejected_reload_keeps_the_old_settings_and_reports_why(breakwatch, hub):
    many_models(hub, 1)
    config = breakwatch.tmp_path / "settings.yaml"
    config.write_text("hub: {top: 5}\n")
    child, address = breakwatch.serve("--config.file", str(config))
    config.write_text("hub: {tpo: 5}\n")
    child.send_signal(signal.SIGHUP)
    failed = "breakwatch_config_last_reload_successful 0"
    assert eventually(lambda: failed in get(address + "/metrics")[1])
    assert 'did you mean "top"' in (breakwatch.tmp_path / "serve.log").read_text()
    config.write_text("hub: {top: 6}\n")
    child.send_signal(signal.SIGHUP)
    assert eventually(lambda: failed not in get(address + "/metrics")[1])
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_a_reload_changes_the_sweeps_of_signals_and_reports_what_needs_a_restart(breakwatch, hub):
    many_models(hub, 3)
    config = breakwatch.tmp_path / "settings.yaml"
    config.write_text("hub: {top: 1}\n")
    child, _ = breakwatch.serve("--config.file", str(config))
    config.write_text("hub: {top: 2}\nlog: {level: debug}\n")
    child.send_signal(signal.SIGHUP)
    log = breakwatch.tmp_path / "serve.log"
    assert eventually(lambda: "settings reloaded; these need a restart: log.level" in log.read_text())
    child.send_signal(signal.SIGUSR1)
    assert eventually(lambda: len(breakwatch.captures()) == 2)
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 0


def test_the_token_reaches_neither_worker_nor_store_nor_log(breakwatch, hub):
    many_models(hub, 1)
    secret = "hf_thisIsTheSecret"
    done = breakwatch.run("sweep", "--log.level", "debug", HF_TOKEN=secret, MY_API_KEY_TOKEN=secret)
    assert secret not in done.stdout + done.stderr
    grep = subprocess.run(["grep", "-rl", secret, str(breakwatch.tmp_path)], capture_output=True, text=True)
    assert grep.stdout == ""
    assert (breakwatch.tmp_path / "environment").exists()


def test_events_are_lines_of_json_in_order(breakwatch, hub):
    many_models(hub, 2)
    breakwatch.run("sweep")
    lines = [json.loads(line) for line in (breakwatch.state / "logs/events.jsonl").read_text().splitlines()]
    assert [line["event_id"] for line in lines] == list(range(1, len(lines) + 1))
    names = [line["msg"] for line in lines]
    assert names[0] == "sweep_started" and names[-1] == "sweep_finished"
    breaks = [line for line in lines if line["msg"] == "graph_break"]
    assert {(line["model"], line["occurrences"]) for line in breaks} == {("org/m00", 1), ("org/m01", 2)}


def current_rows(breakwatch):
    tables = ("current", "current_meta")
    with contextlib.closing(sqlite3.connect(breakwatch.state / "breakwatch.db")) as database:
        return [database.execute(f"select * from {table} order by 1").fetchall() for table in tables]


def test_the_rebuilt_state_equals_the_stored_one(breakwatch, hub):
    many_models(hub, 3)
    breakwatch.run("sweep")
    hub.model("org/m01", 999, status="failed_capture")
    breakwatch.run("sweep")
    before = current_rows(breakwatch)
    assert before[0]
    breakwatch.run("store", "rebuild")
    assert current_rows(breakwatch) == before
    breakwatch.run("store", "check")


def test_a_recorded_hub_served_on_loopback_is_swept_live_and_then_offline(breakwatch, hub, processes):

    many_models(hub, 3)
    port = free_port()
    server = Process([breakwatch.program, "hub", "serve", str(hub.folder), "--port", str(port)],
                     f"http://127.0.0.1:{port}/api/models?limit=1", breakwatch.tmp_path / "hub.log")  # fmt: skip
    processes.append(server)
    server.start()
    endpoint = f"http://127.0.0.1:{port}"
    done = breakwatch.run("sweep", "--hub.source", "live", HF_ENDPOINT=endpoint)
    assert done.stdout.count("org/m0") >= 3
    server.kill()
    failed = breakwatch.run("sweep", "--hub.source", "live", HF_ENDPOINT=endpoint, code=69)
    assert endpoint.removeprefix("http://") in failed.stderr
    breakwatch.run("sweep", "--model", "org/m00", "--hub.source", "live", HF_ENDPOINT=endpoint, HF_HUB_OFFLINE="1")
    assert list(breakwatch.results()) == ["org/m00"]
