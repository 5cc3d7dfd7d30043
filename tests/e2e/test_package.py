"""The Debian package, as far as it can be checked without installing it, which `make deb-test` does in a clean root."""

import re
import subprocess
from pathlib import Path

import pytest
from e2e_support import ROOT, needs


@pytest.fixture(scope="module")
def deb(program, tmp_path_factory):
    build = Path(program).parent
    if not (build / "CPackConfig.cmake").exists():
        pytest.skip(f"{build} is not a build folder")
    needs("dpkg-shlibdeps")
    folder = tmp_path_factory.mktemp("deb")
    done = subprocess.run([needs("cpack"), "--config", build / "CPackConfig.cmake", "-B", folder],
                          capture_output=True, text=True, check=False)  # fmt: skip
    made = list(folder.glob("*.deb"))
    assert len(made) == 1, done.stdout + done.stderr
    return made[0]


@pytest.fixture(scope="module")
def files(deb):
    """{path: (mode, owner)}"""
    listed = subprocess.run(["dpkg-deb", "--contents", deb], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 5) for line in listed.splitlines()]
    return {row[5].split(" -> ")[0].removeprefix("."): (row[0], row[1]) for row in rows}


def field(deb, name):
    return subprocess.run(["dpkg-deb", "--field", deb, name], capture_output=True, text=True, check=True).stdout.strip()


def control(deb, folder, name):
    subprocess.run(["dpkg-deb", "--control", deb, folder], check=True)
    return (folder / name).read_text()


def test_depends_on_the_libraries_of_the_program_and_recommends_what_setup_needs(deb):
    depends = field(deb, "Depends")
    for library in ("libc6", "libsoci-core", "libcurl", "libyaml-cpp", "libspdlog", "python3"):
        assert library in depends, depends
    # Those that the program loads by name at run time.
    for library in ("libsoci-sqlite3", "libsoci-postgresql"):
        assert library in depends
    assert "torch" not in depends
    assert {"python3-venv", "bubblewrap"} <= set(re.split(r",\s*", field(deb, "Recommends")))


def test_has_the_program_its_data_units_settings_pages_and_completions(files):
    for path in (
        "/usr/bin/breakwatch", "/usr/share/breakwatch/collectors/capture/worker/requirements.lock",
        "/usr/share/breakwatch/collectors/hub/snapshot/models.jsonl", "/usr/share/breakwatch/config/families.yaml",
        "/usr/share/breakwatch/dashboards/rules/alerts.yml", "/usr/lib/systemd/system/breakwatch.service",
        "/etc/breakwatch/breakwatch.yaml", "/etc/default/breakwatch", "/usr/share/man/man1/breakwatch.1.gz",
        "/usr/share/man/man1/breakwatch-store-check.1.gz", "/usr/share/man/man5/breakwatch.yaml.5.gz",
        "/usr/share/bash-completion/completions/breakwatch", "/usr/share/zsh/vendor-completions/_breakwatch",
        "/usr/share/fish/vendor_completions.d/breakwatch.fish", "/usr/share/doc/breakwatch/copyright",
        "/usr/share/doc/breakwatch/changelog.Debian.gz", "/usr/share/doc/breakwatch/README.md",
    ):  # fmt: skip
        assert path in files, path
    for path, (mode, owner) in files.items():
        assert owner == "root/root", path
        assert mode[8] != "w" and mode[5] != "w", path
        assert path.startswith(("/usr/", "/etc/")) or path == "/", path
        assert "__pycache__" not in path and "/.venv" not in path


def test_conffiles_are_those_in_etc(deb, files, tmp_path):
    listed = control(deb, tmp_path / "control", "conffiles").split()
    assert set(listed) == {path for path in files if path.startswith("/etc/") and not path.endswith("/")}


def test_its_settings_are_valid_and_name_only_settings_that_exist(program, deb, tmp_path):
    subprocess.run(["dpkg-deb", "--extract", deb, tmp_path], check=True)
    settings = tmp_path / "etc/breakwatch/breakwatch.yaml"
    # Also what is commented out.
    shown = re.sub(r"^# (?=exporters:|capture:|  )", "", settings.read_text(), flags=re.M)
    (tmp_path / "shown.yaml").write_text(shown)
    for file in (settings, tmp_path / "shown.yaml"):
        done = subprocess.run([program, "config", "check", "--config.file", file], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert "pushgateway" in shown and "exporters:\n" in shown


def test_lintian_finds_nothing_wrong(deb):
    done = subprocess.run([needs("lintian"), "--fail-on", "error,warning", "--suppress-tags",
                           "bogus-mail-host,initial-upload-closes-no-bugs", deb],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_scripts_do_nothing_without_systemd_and_purge_removes_the_state(deb, tmp_path):
    folder = tmp_path / "control"
    control(deb, folder, "postinst")
    for name in ("postinst", "prerm", "postrm"):
        assert (folder / name).stat().st_mode & 0o777 == 0o755
        subprocess.run(["sh", "-n", folder / name], check=True)
    postrm = (folder / "postrm").read_text()
    removed = re.search(r"rm -rf (.*)", postrm)[1].split()
    assert removed == ["/var/lib/private/breakwatch", "/var/lib/breakwatch", "/var/lib/breakwatch-toolchains"]


def test_units_start_the_program_of_the_package(deb, tmp_path):
    subprocess.run(["dpkg-deb", "--extract", deb, tmp_path], check=True)
    for name in ("breakwatch.service", "breakwatch-sweep.service"):
        installed = (tmp_path / "usr/lib/systemd/system" / name).read_text()
        assert installed == (ROOT / "config/systemd" / name).read_text()
        assert "ExecStart=/usr/bin/breakwatch" in installed
