#!/usr/bin/env python3
"""Installs, uses, upgrades and purges the Debian package in a clean root: `make deb-test`.

The root is made by debootstrap once, in .cache/debian-RELEASE, and copied. Commands run in it by bubblewrap, as root,
with the network of this machine, because apt resolves the package's dependencies. The last line is the summary.
"""

import argparse
import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from booted import booted

ROOT = Path(__file__).resolve().parents[2]
RELEASE, MIRROR = "bookworm", "http://deb.debian.org/debian"
OLDER = "0.0.9"
WORKER = ["/usr/bin/python3", "/opt/fake_worker.py", "/opt/worker"]
SWEEP = ["breakwatch", "sweep", "--quiet", "--hub.source", "snapshot", "--top", "3", "--capture.launcher=[]",
         "--capture.sandbox", "off", "--capture.zygotes", "1", "--capture.worker", json.dumps(WORKER)]  # fmt: skip
# What turns a database of now into one of schema version 2.
OLDER_SCHEMA = (
    # The events without lines of their own go, so the ids of the others close up.
    "UPDATE events SET id = id - (SELECT COALESCE(SUM(r.events), 0) FROM event_runs r WHERE r.id < events.id)",
    "DROP VIEW all_plans", "DROP VIEW all_results", "DROP TABLE plan_runs", "DROP TABLE result_runs",
    "DROP TABLE event_runs", "DROP INDEX results_by_seq",
    "DROP TABLE artifact_stages", "DROP TABLE artifacts", "DROP TABLE trends", "DROP TABLE requeued",
    "DROP TABLE paused", "DROP INDEX sweeps_by_seq", "ALTER TABLE sweeps DROP COLUMN seq",
    "ALTER TABLE sweeps DROP COLUMN finished_seq", "CREATE INDEX sweeps_by_start ON sweeps (started_ns, id)",
    "UPDATE meta SET value = '2' WHERE key = 'schema_version'",
)  # fmt: skip
# What programs other than the package leave behind.
NOT_OURS = ("var/cache", "var/log", "var/lib/apt", "var/lib/dpkg", "var/lib/python", "etc/ld.so.cache", "tmp", "root",
            "opt", "proc", "dev", "run", "var/lib/systemd")  # fmt: skip

checks = []


def check(text, passed, details=""):
    checks.append((text, bool(passed)))
    print(("ok      " if passed else "FAILED  ") + text, flush=True)
    if not passed and details:
        print("        " + str(details).replace("\n", "\n        "))


class CleanRoot:
    def __init__(self, folder):
        self.folder = folder
        # The network as this machine has it: names, certificates, pip's settings.
        self.binds = {"/etc/resolv.conf": "/etc/resolv.conf", "/etc/hosts": "/etc/hosts"}
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root"}
        self.environment["DEBIAN_FRONTEND"] = "noninteractive"
        for name, value in os.environ.items():
            if name.startswith("PIP_") or name.lower().endswith("_proxy"):
                self.environment[name] = value
                if value.startswith("/") and Path(value).exists():
                    # Not at its own place, where a package of the root may want to write.
                    self.environment[name] = self.binds[value] = f"/opt/outside/{name}"
        for path, inner in self.binds.items():
            inside = folder / inner.lstrip("/")
            inside.parent.mkdir(parents=True, exist_ok=True)
            if Path(path).is_dir():
                inside.mkdir(exist_ok=True)
            elif not inside.exists():
                inside.touch()

    def run(self, *argv, cwd="/", code=0, timeout=3600, **environment):
        binds = [word for pair in self.binds.items() for word in ("--ro-bind", *pair)]
        variables = [word for pair in (self.environment | environment).items() for word in ("--setenv", *pair)]
        command = ["bwrap", "--cap-add", "ALL", "--bind", self.folder, "/", "--proc", "/proc", "--dev", "/dev", *binds,
                   "--unshare-pid", "--die-with-parent", "--clearenv", *variables, "--chdir", cwd, *argv]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
        if code is not None and done.returncode != code:
            check(f"{' '.join(argv[:4])} exits with code {code}", False, done.stdout[-3000:] + done.stderr[-3000:])
            raise SystemExit(summary())
        return done

    def files(self):
        found = set()
        for path in self.folder.rglob("*"):
            name = str(path.relative_to(self.folder))
            if not name.startswith(NOT_OURS) and "__pycache__" not in name:
                found.add(name)
        return found


def base(cache):
    """The folder of the base system, made once."""
    made = cache / f"debian-{RELEASE}"
    if not made.exists():
        print(f"making {made}", flush=True)
        fresh = cache / f"debian-{RELEASE}.{os.getpid()}"
        cache.mkdir(exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", RELEASE, fresh, MIRROR], check=True,
                       stdout=subprocess.DEVNULL)  # fmt: skip
        fresh.rename(made)
    return made


def package(build, folder, version=None):
    """The package of a build folder, with another version number if one is given."""
    other = ["-D", f"CPACK_PACKAGE_VERSION={version}", "-D", f"CPACK_DEBIAN_PACKAGE_VERSION={version}"]
    done = subprocess.run(["cpack", "--config", build / "CPackConfig.cmake", "-B", folder, *(other if version else [])],
                          capture_output=True, text=True, check=False)  # fmt: skip
    made = sorted(folder.glob("breakwatch_*.deb"))
    if not made:
        raise SystemExit(done.stdout + done.stderr)
    return made[0]


def info(root):
    return json.loads(root.run("breakwatch", "store", "info", "--json").stdout)


def sweeps(root):
    return json.loads(root.run("breakwatch", "report", "--list", "--json").stdout)


def install(root, deb):
    shutil.copy(deb, root.folder / "opt")
    done = root.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "--allow-downgrades",
                    "-o", "Dpkg::Options::=--force-confold", f"/opt/{deb.name}")  # fmt: skip
    return done.stdout + done.stderr


def test_install(root, deb):
    said = install(root, deb)
    check("apt installs the package with its dependencies", True)
    check("the installation says what to do next", "breakwatch setup" in said, said)
    check("the program runs", OLDER not in root.run("breakwatch", "version").stdout)
    linked = root.run("ldd", "/usr/bin/breakwatch").stdout
    check("every library of the program is there", "not found" not in linked, linked)
    root.run("breakwatch", "config", "check", "--config.file", "/etc/breakwatch/breakwatch.yaml")
    check("the default settings are valid", True)
    doctor = root.run("breakwatch", "doctor", code=None).stdout
    check("doctor names the command that makes the toolchain", "run `breakwatch setup`" in doctor, doctor)
    for page in ("man1/breakwatch.1.gz", "man1/breakwatch-sweep.1.gz", "man5/breakwatch.yaml.5.gz"):
        check(f"{page} is installed", (root.folder / "usr/share/man" / page).exists())
    completion = "/usr/share/bash-completion/completions/breakwatch"
    loaded = root.run("bash", "-c", f"source {completion} && complete -p breakwatch")
    check("bash loads the completion", "_breakwatch" in loaded.stdout)


def test_sweep(root):
    shutil.copy(ROOT / "tests/e2e/fake_worker.py", root.folder / "opt")
    (root.folder / "opt/worker").mkdir(exist_ok=True)
    root.run(*SWEEP)
    check("a sweep of the bundled snapshot succeeds", len(sweeps(root)) == 1, sweeps(root))


def test_upgrade(root, deb):
    settings = root.folder / "etc/breakwatch/breakwatch.yaml"
    settings.write_text(settings.read_text().replace("top: 100", "top: 7"))
    statements = "; ".join(OLDER_SCHEMA)
    root.run("python3", "-c", "import sqlite3, sys; sqlite3.connect('/var/lib/breakwatch/breakwatch.db')"
                              ".executescript(sys.argv[1])", statements)  # fmt: skip
    before = info(root)
    check("the store has an older schema", before["schema"] == 2, before)
    said = install(root, deb)
    check("the upgrade says what to do next", "breakwatch setup" in said, said)
    check("the upgrade keeps the administrator's settings", "top: 7" in settings.read_text())
    check("the older store is read before it is migrated", len(sweeps(root)) == 1)
    root.run(*SWEEP)
    after = info(root)
    check("the next sweep migrates the store", after["schema"] > 2, after)
    check("the results of before are still there", len(sweeps(root)) == 2)
    root.run("breakwatch", "store", "check")


def test_setup(root):
    done = root.run("breakwatch", "setup", "--json", timeout=7200)
    made = json.loads(done.stdout)
    check(f"setup makes the toolchain: torch {made['torch']}, transformers {made['transformers']}", made["made"])
    doctor = root.run("breakwatch", "doctor", "--json", code=None).stdout
    states = {one["check"]: one["state"] for one in json.loads(doctor)["checks"]}
    check("doctor finds the worker and breakwatch-runner", states["worker"] == states["torch"] == "ok", doctor)
    done = root.run("breakwatch", "sweep", "--hub.source", "snapshot", "--model", "google-bert/bert-base-uncased",
                    "--json", "--quiet")  # fmt: skip
    check("a real capture succeeds", '"full_graph"' in done.stdout, done.stdout)


def test_units(root):
    """The units under a real systemd, with the real toolchain."""
    settings = root.folder / "etc/breakwatch/breakwatch.yaml"
    settings.write_text(settings.read_text().replace("source: live", "source: snapshot").replace("top: 7", "top: 2"))
    # Of the sweeps before, which root made without a sandbox.
    root.run("rm", "-rf", "/var/lib/breakwatch")
    with booted(root.folder) as machine:
        journal = ("journalctl", "-u", "breakwatch", "-o", "cat")
        machine.run("systemctl", "enable", "--now", "breakwatch")
        swept = machine.prints(*journal, text=" finished")
        log = machine.run(*journal)
        check("the daemon starts and sweeps", swept, log)
        check("the state belongs to the unit's user", (root.folder / "var/lib/private/breakwatch").stat().st_uid != 0)
        shown = machine.run("breakwatch", "show", "google-bert/bert-base-uncased", "--json",
                            BREAKWATCH_CONFIG_FILE="/etc/breakwatch/breakwatch.yaml")  # fmt: skip
        check("captures of the daemon are confined by bubblewrap", '"sandbox": "bubblewrap"' in shown, shown)
        said = machine.run("systemctl", "reload", "breakwatch")
        reloaded = machine.prints(*journal, text="settings reloaded")
        check("a reload reads the settings again", reloaded, said)
        machine.run("systemctl", "start", "breakwatch-sweep")
        log = machine.run("journalctl", "-u", "breakwatch-sweep", "-o", "cat")
        check("the timer's service hands its sweep to the daemon", "2 models: 2 full_graph" in log, log)
        machine.run("systemctl", "stop", "breakwatch")
        check("a stop ends the daemon in order", machine.property("breakwatch", "Result") == "success")
        machine.run("systemctl", "start", "breakwatch-sweep")
        log = machine.run("journalctl", "-u", "breakwatch-sweep", "-o", "cat")
        check("the timer's service sweeps alone", machine.property("breakwatch-sweep", "Result") == "success", log)
        machine.run("systemctl", "enable", "--now", "breakwatch-sweep.timer")
        check("the timer waits for the night", machine.property("breakwatch-sweep.timer", "ActiveState") == "active")
        machine.run("systemctl", "start", "breakwatch")
        said = machine.run("apt-get", "purge", "-y", "-qq", "breakwatch")
        check("a purge stops the daemon", machine.property("breakwatch", "ActiveState") == "inactive", said)
        stamp = root.folder / "var/lib/systemd/timers/stamp-breakwatch-sweep.timer"
        check("a purge leaves nothing of the units", not stamp.exists())


def test_purge(root, before):
    root.run("dpkg", "--remove", "breakwatch")
    check("a removed package leaves results and settings",
          (root.folder / "var/lib/breakwatch/breakwatch.db").exists()
          and (root.folder / "etc/breakwatch/breakwatch.yaml").exists())  # fmt: skip
    root.run("dpkg", "--purge", "breakwatch")
    root.run("apt-get", "autoremove", "-y", "-qq", "--purge")
    left = {name for name in root.files() - before if "breakwatch" in name}
    check("a purged package leaves nothing", not left, "\n".join(sorted(left)[:20]))


def summary():
    failed = [text for text, passed in checks if not passed]
    print(f"deb-test {datetime.date.today()}: {len(checks) - len(failed)} of {len(checks)} checks passed")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--setup", action="store_true", help="also make the real toolchain there, and capture with it")
    parser.add_argument("--systemd", action="store_true", help="after --setup, also run the units under systemd")
    parser.add_argument("--keep", action="store_true", help="keep the root, for a look at it")
    parser.add_argument("--build", type=Path, default=ROOT / "build/release", help="the build folder")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("make deb-test needs root: it installs packages in a root of its own")
    work = Path(tempfile.mkdtemp(prefix="deb-test-", dir=ROOT / "build"))
    try:
        older, newer = package(options.build, work / "older", OLDER), package(options.build, work / "newer")
        # Not by Python, which would read the devices.
        subprocess.run(["cp", "-a", "--one-file-system", base(ROOT / ".cache"), work / "root"], check=True)
        root = CleanRoot(work / "root")
        root.run("apt-get", "update", "-qq")
        before = root.files()
        test_install(root, older)
        test_sweep(root)
        test_upgrade(root, newer)
        if options.setup:
            root.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "python3-venv", "bubblewrap")
            test_setup(root)
        if options.setup and options.systemd:
            root.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "systemd", "systemd-sysv", "dbus")
            test_units(root)
        else:
            test_purge(root, before)
    finally:
        if not options.keep:
            subprocess.run(["rm", "-rf", "--one-file-system", work], check=False)
    sys.exit(summary())


if __name__ == "__main__":
    main()
