"""`make image-test`: builds the image of docker/Dockerfile without Docker, and uses it as compose.yaml does. Exit code
1 if something fails or the CPU-only image is too large.

    python3 tests/docker/image.py [--variant default|cpu] [--keep] [--record]

buildah builds with chroot isolation on a base of debootstrap, from the mirror of this machine's apt. runc starts the
image as user 10001, read-only, without capabilities, once confined as in compose.yaml and once as Docker confines by
default. Needs root, the toolchain (.venv) for the CPU-only stand-in (cpu_index.py), up to 40 GB of disk in
.cache/image-test and, the first time, 20 minutes.
"""

import argparse
import contextlib
import csv
import datetime
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cpu_index
from container import Container, mount

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache/image-test"
TABLE = ROOT / "tests/docker/image.csv"
BASE = "localhost/breakwatch-test/debian:12"
STATE = "/var/lib/breakwatch"
CPU_LIMIT_BYTES = 2_500_000_000
INDEX_PORT = 19723
SWEEP_MODELS = 10
HEALTHY_WITHIN_S = 90
STOPPED_WITHIN_S = 15  # stop_grace_period of compose.yaml


class Failed(Exception):
    """What went wrong, and the end of what was printed."""


def call(*command, timeout=3600, **options):
    command = [str(word) for word in command]
    quiet = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    done = subprocess.run(command, **quiet, timeout=timeout, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command[:4])} ...: exit code {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def buildah(*words, **options):
    return call("buildah", "--root", CACHE / "storage", "--runroot", CACHE / "run", *words, **options)


@contextlib.contextmanager
def mounted(image):
    """The files of an image, which must not be changed."""
    container = buildah("from", "--pull-never", image).strip()
    try:
        yield Path(buildah("mount", container).strip()).resolve()  # runc takes no symlink
    finally:
        buildah("rm", container)


# --- build --------------------------------------------------------------------------------------------------------


def sources():
    """The lines of sources.list for this machine's mirrors of Debian's main packages."""
    form = "$(SITE) $(RELEASE) $(COMPONENT)"
    found = dict.fromkeys(call("apt-get", "indextargets", "--format", form, "Identifier: Packages").splitlines())
    split = [line.split() for line in found]
    return [(site, release) for site, release, component in split if component == "main" and "bookworm" in release]


def make_base():
    """The image that stands for debian:12-slim."""
    if BASE.rpartition(":")[0] in buildah("images", "--format", "{{.Name}}").split():
        return
    folder = CACHE / "base"
    mirrors = sources()
    site = next(site for site, release in mirrors if release == "bookworm")
    if not (folder / "etc/apt").exists() or (folder / "debootstrap").exists():
        shutil.rmtree(folder, ignore_errors=True)
        call("debootstrap", "--variant=minbase", "bookworm", folder, site)
    lines = [f"deb {site} {release} main\n" for site, release in mirrors]
    (folder / "etc/apt/sources.list").write_text("".join(lines))
    container = buildah("from", "scratch").strip()
    buildah("copy", "--quiet", container, folder, "/")
    buildah("commit", "--quiet", "--rm", container, BASE)


def build(tag, torch_index):
    """Seconds. Layers that did not change are those of the last build; the compiler's cache is this machine's."""
    authorities = "/usr/local/share/ca-certificates"  # this machine's own ones: its mirrors may need them
    folders = {authorities: f"{authorities}:ro"}
    compiled = Path(os.environ.get("CCACHE_DIR", Path.home() / ".cache/ccache"))
    if compiled.is_dir():
        settings = CACHE / "ccache"
        settings.mkdir(exist_ok=True)
        (settings / "ccache.conf").write_text("base_dir = /usr/share/breakwatch\nhash_dir = false\n")
        folders |= {compiled: "/root/.cache/ccache", settings: "/root/.config/ccache:ro"}
    start = time.monotonic()
    buildah("build", "--isolation", "chroot", "--format", "docker", "--layers", "--pull-never", "--quiet",
            *[word for source, inside in folders.items() for word in ("--volume", f"{source}:{inside}")],
            "--build-arg", f"DEBIAN={BASE}", "--build-arg", f"TORCH_INDEX={torch_index}",
            "--file", ROOT / "docker/Dockerfile", "--tag", tag, ROOT)  # fmt: skip
    return time.monotonic() - start


# --- use ----------------------------------------------------------------------------------------------------------


class Image:
    """Starts containers of an image, each with the same volume for its state."""

    def __init__(self, tag, files, tools, work):
        self.files, self.tools, self.work = files, tools, work
        self.config = json.loads(buildah("inspect", "--type", "image", tag))["Docker"]["config"]
        self.state = work / "state"
        self.state.mkdir()
        os.chown(self.state, 10001, 10001)

    def container(self, name, as_compose=True):
        bundle = self.work / name
        bundle.mkdir()
        profile = ROOT / "docker/seccomp.json" if as_compose else bundle / "default.json"
        if not as_compose:
            profile.write_text(call(self.tools, "default"))
        user = self.config["User"].partition(":")[0]
        return Container(
            self.files,
            bundle,
            seccomp=json.loads(call(self.tools, "resolve", profile)),
            covered=not as_compose,
            environment=[*self.config["Env"], "BREAKWATCH_HUB_SOURCE=snapshot"],
            folder=self.config["WorkingDir"],
            user=int(user),
            mounts=[
                mount("/tmp", "tmpfs", "nosuid", "nodev", "noexec", "mode=1777", "size=2g"),
                mount(STATE, "bind", "rbind", "rw", source=str(self.state)),
            ],
        )

    def run(self, name, *words, timeout=900, **options):
        return self.container(name, **options).run([*self.config["Entrypoint"], *words], timeout=timeout)

    def check(self, name, *words, **options):
        code, out, err = self.run(name, *words, **options)
        if code != 0:
            raise Failed(f"breakwatch {' '.join(words)}: exit code {code}\n{out[-2000:]}\n{err[-2000:]}")
        return out


def doctor(image):
    """Which sandbox captures use, confined as in compose.yaml and as by default."""
    used = {}
    for name, as_compose in (("compose", True), ("default", False)):
        found = json.loads(image.check(f"doctor-{name}", "doctor", "--json", as_compose=as_compose))
        checks = {check["check"]: check for check in found["checks"]}
        states = "; ".join(f"{kind} {one['state']}" for kind, one in checks.items())
        print(f"  doctor ({name}): {states}", flush=True)
        used[name] = checks["sandbox"]["found"]
    if not used["compose"].startswith("bubblewrap:"):
        raise Failed(f"as in compose.yaml, captures are not in bubblewrap: {used['compose']}")
    if used["default"].startswith("bubblewrap:"):
        raise Failed("bubblewrap works under Docker's default profile: docker/seccomp.json is not needed")
    return used["default"].partition(":")[0]


def sweep(image):
    """Seconds; every capture must have been in bubblewrap."""
    start = time.monotonic()
    image.check("sweep", "sweep", "--hub.top", str(SWEEP_MODELS), "--quiet")
    seconds = time.monotonic() - start
    results = [json.loads(line) for line in (image.state / "latest/results.jsonl").read_text().splitlines()]
    captured = [one for one in results if one["status"] in ("full_graph", "graph_breaks")]
    if len(results) != SWEEP_MODELS or len(captured) != SWEEP_MODELS:
        raise Failed(f"{len(captured)} of {SWEEP_MODELS} models captured: {[one['status'] for one in results]}")
    if {one.get("sandbox") for one in captured} - {"bubblewrap", None}:
        raise Failed("a capture was not in bubblewrap")
    return seconds


def serve(image):
    """Seconds until the image's own health check succeeds; the daemon must then stop in time."""
    container = image.container("serve")
    check = image.config["Healthcheck"]["Test"][1:]
    command = container.command([*image.config["Entrypoint"], *image.config["Cmd"]], name="serve")
    start = time.monotonic()
    with open(image.work / "serve.log", "wb") as log:
        daemon = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        ask = container.runc("exec", "serve", *check)
        while subprocess.run(ask, capture_output=True, timeout=30, check=False).returncode != 0:
            if daemon.poll() is not None or time.monotonic() - start > HEALTHY_WITHIN_S:
                raise Failed(f"serve is not healthy:\n{(image.work / 'serve.log').read_text()[-2000:]}")
            time.sleep(0.5)
        seconds = time.monotonic() - start
        call(*container.runc("kill", "serve", "TERM"))
        if code := daemon.wait(timeout=STOPPED_WITHIN_S):
            raise Failed(f"serve ended with exit code {code} after SIGTERM")
        return seconds
    finally:
        if daemon.poll() is None:
            subprocess.run(container.runc("kill", "serve", "KILL"), capture_output=True, check=False)
            daemon.send_signal(signal.SIGKILL)


def size(files):
    """Bytes on disk."""
    return int(call("du", "--summarize", "--bytes", "--one-file-system", files).split()[0])


# --- the target ---------------------------------------------------------------------------------------------------


def torch_index(variant, stack):
    if variant == "default":
        return ""
    site = next((ROOT / ".venv/lib").glob("python3*/site-packages")).resolve()
    if not (CACHE / "index/simple/torchvision").exists():
        cpu_index.write_index(site, CACHE / "index")
    server, address = cpu_index.serve(CACHE / "index", INDEX_PORT)
    stack.callback(server.shutdown)
    return address


def measure(variant, tools):
    tag = f"localhost/breakwatch-test/breakwatch:{variant}"
    with contextlib.ExitStack() as stack:
        built = build(tag, torch_index(variant, stack))
        files = stack.enter_context(mounted(tag))
        work = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="image-test-")))
        print(f"{variant}: built in {built:.0f} s, {size(files) / 1e9:.2f} GB", flush=True)
        image = Image(tag, files, tools, work)
        row = {"variant": variant, "size_mb": size(files) // 1_000_000, "build_s": round(built)}
        row["default_sandbox"] = doctor(image)
        row |= {"sweep_s": round(sweep(image), 1), "healthy_s": round(serve(image), 1)}
    print(f"  {SWEEP_MODELS} models swept in {row['sweep_s']} s, healthy after {row['healthy_s']} s", flush=True)
    if variant == "cpu" and row["size_mb"] * 1_000_000 > CPU_LIMIT_BYTES:
        raise Failed(f"the CPU-only image has {row['size_mb']} MB: more than {CPU_LIMIT_BYTES // 1_000_000}")
    return row


def record(rows):
    """Replaces the rows of the same variants."""
    kept = list(csv.DictReader(TABLE.open())) if TABLE.exists() else []
    kept = [row for row in kept if row["variant"] not in {row["variant"] for row in rows}]
    dated = [{"date": datetime.date.today().isoformat()} | row for row in rows]
    with TABLE.open("w", newline="") as out:
        writer = csv.DictWriter(out, fieldnames=dated[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted([*kept, *dated], key=lambda row: row["variant"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--variant", choices=["default", "cpu"], action="append", help="only this one; may repeat")
    parser.add_argument("--keep", action="store_true", help="keep images and layers for the next run")
    parser.add_argument("--record", action="store_true", help="write the figures into tests/docker/image.csv")
    options = parser.parse_args()
    if os.geteuid() != 0:
        print("image-test needs root: chroot isolation and debootstrap do", file=sys.stderr)
        return 1
    CACHE.mkdir(parents=True, exist_ok=True)
    tools = CACHE / "tools"
    variants = options.variant or ["cpu", "default"]
    try:
        go = shutil.which("go", path=str(Path(sys.executable).parent)) or "go"
        environment = os.environ | {"GOTOOLCHAIN": "local", "CGO_ENABLED": "0"}
        call(go, "build", "-o", tools, ".", cwd=ROOT / "tests/docker/tools", env=environment)
        make_base()
        rows = [measure(variant, tools) for variant in variants]
    except Failed as failed:
        print(failed, file=sys.stderr)
        print("image-test: FAILED")
        return 1
    finally:
        if not options.keep and (CACHE / "storage").exists():
            buildah("rmi", "--all", "--force")
    if options.record:
        record(rows)
    print("image-test: " + "; ".join(f"{row['variant']} {row['size_mb']} MB" for row in rows) + ": passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
