"""What output that cannot be written and a full disk come to, through the command line."""

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess

import pytest
from store_support import SITE, STORE, newest_sweep


def run_shell(breakwatch, redirection, *args):
    """Runs a command under a shell that redirects its descriptors."""
    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh", *breakwatch.argv(*args)]
    return subprocess.run(shell, capture_output=True, text=True, timeout=120, cwd=breakwatch.tmp_path,
                          env=breakwatch.environment)  # fmt: skip


COMMANDS = [
    ["--help"], ["show", "--help"], ["version"], ["show", "org/a"], ["reasons"], ["report"], ["report", "--list"],
    ["report", "--format", "csv"], ["compare", "previous", "latest"], ["plan"], ["sweep", "--quiet"],
    ["config", "show"], ["config", "example"], ["store", "info"], ["store", "check"], ["store", "rebuild"],
    ["store", "finish"], ["doctor"],
]  # fmt: skip


def test_output_to_a_full_disk_or_a_closed_descriptor_is_an_error_of_every_command(swept):
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("no /dev/full here")
    for n, arguments in enumerate(COMMANDS):
        redirection = ">/dev/full" if n % 2 else ">&-"
        done = run_shell(swept, redirection, *arguments)
        assert done.returncode == STORE, f"{arguments} {redirection}: exit {done.returncode}\n{done.stderr}"
        assert "cannot write to standard output: " in done.stderr, arguments


def test_a_reader_that_closes_its_pipe_ends_the_output_and_not_the_sweep(swept):
    before = newest_sweep(swept)
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(swept.argv("sweep", "--quiet", "--rebuild", "always"), stdout=writing, stderr=subprocess.PIPE,
                          text=True, timeout=120, cwd=swept.tmp_path, env=swept.environment)  # fmt: skip
    os.close(writing)
    assert done.returncode == 0 and "standard output" not in done.stderr, done.stderr
    assert newest_sweep(swept) != before and newest_sweep(swept)[1] == "finished"


def test_no_file_of_the_program_becomes_a_standard_descriptor(swept):
    before = newest_sweep(swept)
    assert run_shell(swept, "<&- >&- 2>&-", "sweep", "--rebuild", "always").returncode == STORE
    assert (swept.state / "breakwatch.db").read_bytes().startswith(b"SQLite format 3\0")
    assert newest_sweep(swept) != before and newest_sweep(swept)[1] == "finished"
    swept.run("store", "check")
    # Nobody requested output here: nothing is missing.
    assert run_shell(swept, ">&- 2>&-", "report", "--output", "report.txt").returncode == 0


def test_a_file_that_cannot_be_written_is_an_error(swept):
    for arguments in (["report"], ["plan"], ["compare", "previous", "latest"]):
        done = swept.run(*arguments, "--output", "/dev/full", code=STORE)
        assert "cannot write /dev/full: No space left on device" in done.stderr


def test_a_report_that_cannot_be_written_is_an_error_and_can_be_written_later(swept):
    shutil.rmtree(swept.state / "sweeps")
    (swept.state / "sweeps").write_text("in the way")
    done = swept.run("sweep", "--quiet", code=STORE)
    assert "the sweep is stored, but its report could not be written" in done.stderr
    assert "latest/report.md" not in done.stdout
    child, _ = swept.serve()
    done = swept.run("sweep", "--quiet", code=STORE)
    assert "did not write its report" in done.stderr
    child.send_signal(signal.SIGTERM)
    child.wait()
    (swept.state / "sweeps").unlink()
    swept.run("store", "finish")
    assert len(list((swept.state / "sweeps").iterdir())) == 4
    assert os.readlink(swept.state / "latest") == "sweeps/" + newest_sweep(swept)[0]
    assert len(swept.results()) == 3
    assert "written: 0 reports" in swept.run("store", "finish").stdout


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"tmpfs", str(folder).encode(), b"tmpfs", 0, f"size={size}".encode()) != 0:
        pytest.skip(f"no small file system can be mounted: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        libc.umount2(str(folder).encode(), 2)


def test_a_full_disk_ends_the_sweep_loses_nothing_and_the_next_one_resumes(breakwatch, hub):
    hub.model("org/a", 300, sites=[SITE])
    hub.model("org/b", 200)
    with small_disk(breakwatch.state, "4m"):
        breakwatch.run("sweep", "--quiet")
        ballast = breakwatch.state / "ballast"
        with contextlib.suppress(OSError), open(ballast, "wb", buffering=0) as file:
            while file.write(b"b" * 4096):
                pass
        done = breakwatch.run("sweep", "--quiet", "--rebuild", "always", code=STORE)
        assert "the disk is full" in done.stderr
        ballast.unlink()
        breakwatch.run("store", "check")
        breakwatch.run("sweep", "--quiet", "--rebuild", "always")
        assert len(breakwatch.results()) == 2
