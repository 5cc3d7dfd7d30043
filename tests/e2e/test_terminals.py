"""Terminals: control sequences are escaped, narrow terminals stay readable, and ignored signals stay ignored."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from pathlib import Path

import pytest
from e2e_support import eventually

# A title, a one-character CSI, a bell, a carriage return, DEL, a right-to-left override.
HOSTILE = "x\x1b]0;title\x07\x1b[31m\u009b2J\r\x7f\u202ey"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")

# For every command: arguments with the text in every place where it is possible. {} is the text.
COMMANDS = {
    "sweep": (["--model", "{}"], ["--plan", "{}"], ["--toolchain", "{}"], ["--modes", "{}"], ["--hub.author", "{}"]),
    "plan": (["--model", "python:{}:f", "--allow-factories"], ["--output", "/{}/plan.json"]),
    "serve": (["--web.listen_address", "{}"],),
    "page": (["--listen", "{}"], ["--state-dir", "{}"]),
    "import": (["{}", "--model", "{}", "--commit", "1"], ["/tmp", "--model", "m", "--commit", "{}"],
               ["/tmp", "--model", "m", "--commit", "1", "--family", "{}"]),
    "profile": (["{}"], ["org/one", "--backends", "{}"], ["org/one", "--prices", "/{}/prices.yaml"],
                ["org/one", "--batch", "{}"], ["org/one", "--format", "{}"]),
    "bench": (["{}"], ["org/one", "--backends", "{}"], ["org/one", "--dtype", "{}"], ["org/one", "--output", "/{}/b"]),
    "fix": (["{}"], ["org/one", "--fix", "{}"], ["org/one", "--output", "/{}/f"]),
    "repro": (["{}"], ["org/one", "--format", "{}"], ["org/one", "--output", "/{}/r"], ["org/one", "--site", "{}"]),
    "show": (["{}"], ["org/one", "--sweep", "{}"], ["org/one", "--mode", "{}"], ["org/one", "--format", "{}"]),
    "reasons": (["--by", "{}"], ["--sweep", "{}"], ["--mode", "{}"]),
    "issue": (["{}"], ["org/one", "--sweep", "{}"], ["org/one", "--repro", "/{}/r"], ["org/one", "--output", "/{}/i"]),
    "report": (["{}"], ["--sweep", "{}"], ["--format", "{}"], ["--output", "/{}/report"]),
    "trends": (["--since", "{}"], ["--family", "{}"], ["--reason", "{}"], ["--toolchain", "{}"], ["--output", "/{}/t"]),
    "compare": (["{}", "latest"], ["latest", "org/one@{}"], ["toolchain:{}", "latest"], ["a", "b", "--fail-on", "{}"],
                ["--baseline", "{}"], ["latest", "latest", "--allow", "{}"]),
    "baseline": (["show", "{}"], ["update", "{}/baseline.tsv"], ["update", "b.tsv", "--sweep", "{}"],
                 ["diff", "{}"]),
    "discover": (["{}"], ["{}", "--timeout", "{}"]),
    "bisect": (["{}"], ["org/one", "--from", "{}"], ["org/one", "--mode", "{}"]),
    "artifact": (["build", "{}"], ["build", "org/one", "--weights", "{}"], ["show", "{}"], ["verify", "{}"],
                 ["publish", "abcdef", "--to", "{}"], ["publish", "abcdef", "--to", "dir:{}"],
                 ["pull", "oci:127.0.0.1:1/{}", "--output", "{}"], ["ls", "--from", "dir:{}"], ["ls", "--model", "{}"]),
    "events": (["{}"], ["status", "{}"]),
    "dead-letters": (["list", "--exporter", "{}"], ["show", "{}"], ["retry", "--exporter", "{}", "--all"],
                     ["drop", "{}"]),
    "store": (["{}"], ["check", "{}"], ["info", "--store.url", "sqlite:/{}/db"],
              ["export", "--format", "{}"], ["export", "--format", "openmetrics", "--output", "/{}/trends"]),
    "config": (["explain", "{}"], ["show", "--hub.author", "{}"], ["check", "--config.file", "{}"]),
    "hub": (["record", "{}", "--model", "{}"], ["serve", "{}"]),
    "doctor": (["--exporters.loki.url", "http://127.0.0.1:1/{}"],),
    "setup": (["{}"], ["--dry-run", "--name", "{}"], ["--dry-run", "--python", "/{}/python"],
              ["--dry-run", "--dir", "/{}"]),
    "version": (["{}"],),
}  # fmt: skip


def run(breakwatch, *arguments):
    """Output as it arrives, for each stream."""
    done = subprocess.run(breakwatch.argv(*arguments), capture_output=True, timeout=60, cwd=breakwatch.tmp_path,
                          env=breakwatch.environment | {"HF_HUB_OFFLINE": "1"})  # fmt: skip
    return done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def swept(breakwatch, hub):
    hub.model("org/one", 1, sites=[["reason " + HOSTILE, "", 1]])
    hub.model("org/" + HOSTILE.replace("\r", "") + "/no", 2, status="failed_capture")
    breakwatch.run("sweep", "--quiet")
    return breakwatch


def test_no_command_prints_control_sequences(swept):
    listed = re.search(r"^(?:SUBCOMMANDS|Subcommands):\n((?:  .*\n)+)", run(swept, "--help")[0], re.MULTILINE)
    names = re.findall(r"^  ([a-z][\w-]*)", listed.group(1), re.MULTILINE)
    assert set(names) <= set(COMMANDS), "a command without hostile arguments here"
    for name in names:
        for arguments in COMMANDS[name]:
            for more in ([], ["--json"]):
                out, err = run(swept, name, *(a.replace("{}", HOSTILE) for a in arguments), *more)
                assert not OBEYED.search(out) and not OBEYED.search(err), (name, arguments, out, err)
                assert out or err, (name, arguments)


def test_unknown_words_and_settings_are_quoted_harmlessly(swept, tmp_path):
    (tmp_path / "bad.yaml").write_text(json.dumps({"hub\u009b": {"top\x1b[2J": 1}}))
    for arguments in ([HOSTILE], ["--" + HOSTILE], ["sweep", "--" + HOSTILE, "--hub.offline", HOSTILE],
                      ["sweep", "--config.file", str(tmp_path / "bad.yaml")]):  # fmt: skip
        out, err = run(swept, *arguments)
        assert err and not OBEYED.search(out + err), arguments


def test_json_and_csv_keep_the_text_without_control_characters(swept):
    shown = run(swept, "show", "org/one", "--json")[0]
    assert not OBEYED.search(shown)
    assert json.loads(shown)["sites"][0]["reason"].startswith("reason x\x1b]0;title")
    table = run(swept, "show", "org/one", "--format", "csv")[0]
    assert not OBEYED.search(table)
    (row,) = csv.DictReader(io.StringIO(table))
    assert row["reason"].startswith("reason x\\u001b]0;title\\u0007")
    for name in ("report.md", "reasons.csv", "failures.csv"):
        assert not OBEYED.search((swept.state / "latest" / name).read_text()), name


def test_a_log_record_stays_one_line(swept):
    err = run(swept, "sweep", "--quiet", "--resume", "--modes", "eval", "--toolchain", "a\nb\x1b[2J")[1]
    assert not OBEYED.search(err)


def on_terminal(breakwatch, columns, *arguments, **environment):
    """What a terminal with so many columns received, and the exit code."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(breakwatch.argv(*arguments), stdin=subprocess.DEVNULL, stdout=follower, stderr=follower,
                             cwd=breakwatch.tmp_path, env=breakwatch.environment | {"TERM": "xterm"} | environment)
    os.close(follower)
    sent = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        sent += chunk
    os.close(leader)
    return sent.decode(), child.wait(timeout=30)


def lines_of(text):
    """The lines as shown on the screen: erased text is removed, and colours have no width."""
    text = re.sub(r"[^\n]*\r\x1b\[K", "", text.replace("\r\n", "\n"))
    return re.sub(r"\x1b\[\d*m", "", text).split("\n")


def test_trends_are_drawn_on_a_terminal_that_can(swept):
    assert "▄" in on_terminal(swept, 200, "trends", LC_ALL="C.UTF-8")[0]
    assert "▄" not in on_terminal(swept, 200, "trends", LC_ALL="C")[0]
    assert "▄" not in swept.run("trends", LC_ALL="C.UTF-8").stdout, "no terminal"


@pytest.mark.parametrize("columns", [20, 40])
def test_bars_and_tables_fit_a_narrow_terminal(breakwatch, hub, columns):
    for number in range(3):
        hub.model(f"organisation/a-model-with-a-long-name-{number}", number, sites=[["reason of a break", "GB0001", 1]])
    sent, code = on_terminal(breakwatch, columns, "sweep")
    assert code == 0
    bars = re.findall(r"(?:^|\n|\x1b\[K)([^\n\x1b]*)\r\x1b\[K", sent)
    assert bars and all(len(bar) < columns for bar in bars), bars
    sent, code = on_terminal(breakwatch, columns, "report")
    assert code == 0
    table = [line for line in lines_of(sent) if "have numbers" not in line]
    assert all(len(line) <= columns for line in table), table
    assert "STATUS" in sent and "graph_breaks" in sent
    sent, _ = on_terminal(breakwatch, 200, "reasons")
    assert "REASON" in sent and len(lines_of(sent)) <= 4, sent


def test_a_hangup_that_was_ignored_stays_ignored(breakwatch, hub):
    """nohup breakwatch sweep &: it ignores the end of the terminal and Ctrl-C."""
    hub.model("org/slow", 1, hang=True)
    with open(breakwatch.tmp_path / "log", "ab") as log:
        ignored = {signal.SIGHUP: signal.SIG_IGN, signal.SIGINT: signal.SIG_IGN}
        before = {number: signal.signal(number, action) for number, action in ignored.items()}
        try:
            child = subprocess.Popen(breakwatch.argv("sweep", "--quiet"), stdin=subprocess.DEVNULL, stdout=log,
                                     stderr=log, cwd=breakwatch.tmp_path, env=breakwatch.environment,
                                     restore_signals=False)  # fmt: skip
        finally:
            for number, action in before.items():
                signal.signal(number, action)
    assert eventually(breakwatch.captures)
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{child.pid}/status").read_text().splitlines())
    for number in (signal.SIGHUP, signal.SIGINT):
        # Ignored and not blocked: the kernel drops it. A blocked signal stays pending, and sigwait receives it.
        assert int(fields["SigIgn"], 16) >> (number - 1) & 1
        assert not int(fields["SigBlk"], 16) >> (number - 1) & 1
        child.send_signal(number)
    assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    assert child.wait(timeout=15) == 130


def test_a_stopped_sweep_prints_the_command_to_resume_it(breakwatch, hub):
    hub.model("org/slow", 1, hang=True)
    child = subprocess.Popen(breakwatch.argv("sweep", "--quiet"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, cwd=breakwatch.tmp_path, env=breakwatch.environment, text=True)
    assert eventually(breakwatch.captures)
    child.send_signal(signal.SIGINT)
    err = child.communicate(timeout=15)[1]
    assert child.returncode == 130
    assert f"breakwatch sweep --resume --state-dir={breakwatch.state}" in err, err
    assert "--capture.sandbox=off" in err, "with what was typed for the captures"
    hub.model("org/slow", 1)
