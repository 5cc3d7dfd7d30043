"""What a kill, a removed state directory and a wrong clock come to, through the command line."""

import json
import os
import shutil
import signal
import subprocess

import pytest
from e2e_support import eventually, get, needs
from store_support import SITE, STORE, database, newest_sweep


def test_a_report_missing_after_a_kill_is_written_by_the_next_start(breakwatch, hub):
    hub.model("org/a", 300, sites=[SITE])
    hub.model("org/b", 200)
    calls = "?rename,?renameat,?renameat2"
    strace = [needs("strace"), "-f", "-qq", "-o", str(breakwatch.tmp_path / "trace"), "-e", f"trace={calls}", "-e",
              f"inject={calls}:signal=SIGKILL:when=1"]  # fmt: skip
    if subprocess.run([strace[0], "-qq", "-o", "/dev/null", "true"], capture_output=True).returncode != 0:
        pytest.skip("strace may not trace here")
    # The first file that the process renames is the report's directory: the sweep is committed by then.
    environment = breakwatch.environment | {"PYTHONDONTWRITEBYTECODE": "1"}
    killed = subprocess.run([*strace, *breakwatch.argv("sweep", "--quiet")], capture_output=True, timeout=120,
                            cwd=breakwatch.tmp_path, env=environment)  # fmt: skip
    assert killed.returncode != 0
    sweep, state = newest_sweep(breakwatch)
    assert state == "finished"
    assert not (breakwatch.state / "sweeps" / sweep).exists()
    aside = breakwatch.tmp_path / "killed"
    breakwatch.state.rename(aside)

    def start_again():
        shutil.rmtree(breakwatch.state, ignore_errors=True)
        shutil.copytree(aside, breakwatch.state)

    def assert_reported():
        assert os.readlink(breakwatch.state / "latest") == "sweeps/" + sweep
        assert set(breakwatch.results()) == {"org/a", "org/b"}
        assert [entry.name for entry in (breakwatch.state / "sweeps").iterdir() if entry.name.startswith(".")] == []

    start_again()
    assert sweep in breakwatch.run("store", "finish").stdout
    assert_reported()
    start_again()
    done = breakwatch.run("sweep", "--quiet", "--resume")
    assert "org/a" in done.stdout and "was missing and is now written" in done.stderr
    assert_reported()
    start_again()
    child, _ = breakwatch.serve()
    assert eventually((breakwatch.state / "latest").is_symlink), "written while it serves"
    assert_reported()
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 0
    start_again()
    breakwatch.run("sweep", "--quiet")
    assert set(breakwatch.results()) == {"org/a", "org/b"}
    assert (breakwatch.state / "sweeps" / sweep / "report.md").exists()


def test_a_request_that_fails_to_begin_leaves_the_unfinished_sweep(breakwatch, hub):
    hub.model("org/a", 300)
    hub.model("org/b", 200, hang=True)
    child = breakwatch.start("sweep", "--quiet")
    assert eventually(lambda: len(breakwatch.captures()) == 2)
    child.kill()
    child.wait()
    unfinished = newest_sweep(breakwatch)
    assert unfinished[1] == "running"
    # No file may grow beyond 4 KiB: no row can be written.
    limited = ["prlimit", "--fsize=4096", *breakwatch.argv("sweep", "--quiet")]
    done = subprocess.run(limited, capture_output=True, text=True, timeout=120, cwd=breakwatch.tmp_path,
                          env=breakwatch.environment)  # fmt: skip
    assert done.returncode == STORE, done.stderr
    assert newest_sweep(breakwatch) == unfinished
    hub.model("org/b", 200, hang=False)
    (breakwatch.tmp_path / "captures").unlink()
    child = breakwatch.start("sweep", "--quiet", "--resume")
    assert eventually(lambda: breakwatch.captures() != [])
    child.kill()
    child.wait()
    assert breakwatch.captures()[0].startswith("org/b "), "what was stored before the crash is not captured again"


# --- a state directory that goes


@pytest.mark.parametrize("replaced", [False, True])
def test_a_daemon_whose_state_directory_is_removed_is_unready_and_ends(swept, replaced):
    child, address = swept.serve()
    if replaced:
        swept.state.rename(swept.tmp_path / "moved")
        swept.state.mkdir()
    else:
        shutil.rmtree(swept.state)
    status, text = get(address + "/-/ready")
    assert status in (0, 503) and ("state directory" in text or status == 0)
    assert eventually(lambda: child.poll() is not None, 10)
    assert child.returncode == STORE
    assert f"{swept.state}" in (log := (swept.tmp_path / "serve.log").read_text()).splitlines()[-1]
    assert "was removed or" in log or "was replaced" in log
    assert not (swept.state / "breakwatch.db").exists(), "nothing is made where another writer may begin"
    swept.run("sweep", "--quiet")
    assert len(swept.results()) == 3


def test_removing_the_lock_file_lets_no_second_writer_in(swept):
    child, address = swept.serve()
    (swept.state / "writer.lock").unlink()
    (swept.state / "control.sock").unlink()
    for arguments in (["sweep", "--quiet"], ["store", "rebuild"], ["store", "repair"]):
        assert "is in use by process" in swept.run(*arguments, code=STORE).stderr
    assert get(address + "/-/ready")[0] == 200
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 0


# --- the clock


def test_a_sweep_made_with_the_clock_ahead_is_the_latest_until_the_next_one(breakwatch, hub):
    hub.model("org/a", 300)
    breakwatch.run("sweep", "--quiet")
    with database(breakwatch) as sql:
        sweep, document = sql.execute("SELECT id, document FROM sweeps").fetchone()
        ahead = document.replace('_at":"20', '_at":"21')
        assert ahead != document
        sql.execute("UPDATE sweeps SET document = ?, started_ns = started_ns + 3000000000000000000", (ahead,))
    (breakwatch.state / "sweeps" / sweep).rename(breakwatch.state / "sweeps" / ("21" + sweep[2:]))
    breakwatch.run("sweep", "--quiet", "--rebuild", "always", "--retention.sweeps", "1")
    newest = newest_sweep(breakwatch)[0]
    assert newest != sweep
    assert json.loads(breakwatch.run("report", "--format", "json").stdout)["sweep"]["sweep_id"] == newest
    listed = breakwatch.run("report", "--list").stdout
    assert listed.index(newest) < listed.index(sweep)
    assert [entry.name for entry in (breakwatch.state / "sweeps").iterdir()] == [newest]
    assert os.readlink(breakwatch.state / "latest") == "sweeps/" + newest
