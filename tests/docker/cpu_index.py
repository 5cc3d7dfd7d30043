"""A stand-in for the index of torch's CPU-only wheels, where that one cannot be reached: the installed torch and
torchvision as wheels without CUDA's libraries, of which torch only calls what says that there is no device.

The stand-in has the same interface for pip and for the image's build. It is larger than the real wheels, because the
parts of torch that were compiled for CUDA stay in it.
"""

import email
import http.server
import re
import subprocess
import threading
import zipfile
from importlib import metadata
from pathlib import Path

STUB = "int {}(void) {{ return 100; }}\n"  # cudaErrorNoDevice
LOCAL = "+cpu"


def output(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=True).stdout


def symbols(library, which):
    """Name -> version, which may be empty."""
    found = {}
    for line in output("nm", "--dynamic", which, library).splitlines():
        name, _, version = line.split()[-1].replace("@@", "@").partition("@")
        found[name] = version
    return found


def write_stub(library, wanted, folder):
    """A library with the name of `library` and the symbols that torch takes from it."""
    defined = symbols(library, "--defined-only")
    used = sorted(wanted & defined.keys())
    versions = {defined[name] for name in used} - {""}
    script = "".join(
        f"{version} {{ global: {'; '.join(name for name in used if defined[name] == version)}; }};\n"
        for version in versions
    )
    (folder / "stub.c").write_text("".join(STUB.format(name) for name in used) or "int empty;\n")
    (folder / "stub.map").write_text(script)
    flags = [f"-Wl,--version-script={folder / 'stub.map'}"] if script else []
    made = folder / library.name
    flags += ["-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{library.name}"]
    output("gcc", *flags, "-o", made, folder / "stub.c")
    return made


def stubs(site, folder):
    """Paths of the libraries of CUDA that torch's libraries name, as stubs; the runtime alone as it is."""
    available = {path.name: path for path in (site / "nvidia").rglob("*.so*")}
    named, wanted = set(), set()
    for library in (site / "torch/lib").glob("*.so*"):
        named |= set(re.findall(r"NEEDED\s+(\S+)", output("objdump", "-p", library))) & available.keys()
        wanted |= symbols(library, "--undefined-only").keys()
    return [
        available[name] if name.startswith("libcudart") else write_stub(available[name], wanted, folder)
        for name in sorted(named)
    ]


def renamed(text, version):
    """The metadata of the CPU build: its version, and no requirement of CUDA's packages."""
    message = email.message_from_string(text)
    message.replace_header("Version", version)
    kept = [one for one in message.get_all("Requires-Dist", []) if not re.match(r"nvidia|cuda|triton", one)]
    del message["Requires-Dist"]
    for one in kept:
        message["Requires-Dist"] = one
    return message.as_string()


def write_wheel(name, site, folder, extra=()):
    """The installed package as a wheel, uncompressed, with more libraries in its lib/."""
    package = metadata.Distribution.at(next(site.glob(f"{name}-*.dist-info")))
    version = package.version.partition("+")[0] + LOCAL
    info = f"{name}-{version}.dist-info"
    tag = re.search(r"^Tag: (\S+)", package.read_text("WHEEL"), re.MULTILINE)[1]
    wheel = folder / f"{name}-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w") as out:
        for path in package.files:
            if (
                ".." in path.parts
                or path.suffix == ".pyc"
                or path.name in ("RECORD", "INSTALLER", "REQUESTED", "METADATA")
            ):
                continue
            inside = Path(info, *path.parts[1:]) if path.parts[0].endswith(".dist-info") else path
            out.write(site / path, str(inside))
        for path in extra:
            out.write(path, f"{name}/lib/{path.name}")
        out.writestr(f"{info}/METADATA", renamed(package.read_text("METADATA"), version))
        out.writestr(f"{info}/RECORD", "".join(f"{one},,\n" for one in [*out.namelist(), f"{info}/RECORD"]))
    return wheel


def write_index(site, folder):
    """simple/<package>/<wheel> of torch and torchvision."""
    work = folder / "stubs"
    work.mkdir(parents=True, exist_ok=True)
    for name, extra in (("torch", stubs(site, work)), ("torchvision", [])):
        place = folder / "simple" / name
        place.mkdir(parents=True, exist_ok=True)
        write_wheel(name, site, place, extra)


def serve(folder, port):
    """Serves the folder on loopback: its server, and the address of the index, which is part of the key of layers."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *arguments):
            super().__init__(*arguments, directory=str(folder))

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}/simple/"
