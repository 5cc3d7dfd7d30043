"""The systemd units, as far as they can be checked without a running systemd."""

import re
import shutil
import subprocess

import pytest

SERVICES = ("breakwatch.service", "breakwatch-sweep.service")
UNITS = (*SERVICES, "breakwatch-sweep.timer")
NOT_SET = ("ProtectKernelTunables", "ProtectKernelLogs", "ProcSubset", "ProtectHostname", "MemoryDenyWriteExecute")


@pytest.fixture
def units(root):
    return root / "config/systemd"


def analyze(*arguments):
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze is not installed")
    command = ["systemd-analyze", "--no-pager", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_systemd_knows_every_line(units, tmp_path):
    for name in UNITS:
        # The program is not installed here.
        text = (units / name).read_text().replace("/usr/bin/breakwatch", shutil.which("true"))
        (tmp_path / name).write_text(text)
    for name in UNITS:
        checked = analyze("verify", "--man=no", tmp_path / name)
        assert (checked.returncode, checked.stderr) == (0, ""), name


@pytest.mark.parametrize("name", SERVICES)
def test_exposure_is_at_most_3(units, name):
    checked = analyze("security", "--offline=true", "--threshold=30", units / name)
    assert checked.returncode == 0, checked.stdout[-300:]


def test_both_services_are_confined_in_the_same_way(units):
    own = re.compile(r"(Type|ExecStart|ExecReload|Restart.*|Timeout.*|Environment)=")
    texts = [(units / name).read_text().partition("[Service]")[2].partition("[Install]")[0] for name in SERVICES]
    confined = [[line for line in text.splitlines() if "=" in line and not own.match(line)] for text in texts]
    assert confined[0] == confined[1]


def test_the_sandbox_of_captures_can_be_made(units):
    for name in SERVICES:
        text = (units / name).read_text()
        for kept in NOT_SET:
            assert not re.search(rf"^{kept}=", text, re.MULTILINE), "see the comment in the unit"
            assert kept in text, "what is not set has its reason in a comment"
        assert "@mount" in re.search(r"^SystemCallFilter=(.*)$", text, re.MULTILINE).group(1)
        assert "user" in re.search(r"^RestrictNamespaces=(.*)$", text, re.MULTILINE).group(1).split()


def test_units_set_settings_that_exist(units, setting_variables):
    for name in SERVICES:
        used = re.findall(r"^Environment=.*?(BREAKWATCH_\w+)=", (units / name).read_text(), re.MULTILINE)
        assert set(used) <= setting_variables


def test_the_timer_starts_the_sweep(units):
    text = (units / "breakwatch-sweep.timer").read_text()
    assert "Unit=" not in text, "by its name: breakwatch-sweep.service"
    assert "Persistent=yes" in text and "OnCalendar=" in text
