"""A package index on loopback with packages of a few bytes, for `breakwatch setup`."""

import base64
import hashlib
import io
import threading
import urllib.parse
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def wheel(name, version, body=""):
    """(file name, content)"""
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}/__init__.py": f"__version__ = {version!r}\n{body}",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(text)}")
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for path, text in files.items():
            # The same bytes each time.
            archive.writestr(zipfile.ZipInfo(path, (2024, 1, 1, 0, 0, 0)), text)
    return f"{name}-{version}-py3-none-any.whl", out.getvalue()


class Index(ThreadingHTTPServer):
    """Serves wheels under /simple; keeps what was asked; can hold back a file."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.files, self.asked = {}, []
        self.held, self.release, self.reached = "", threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/simple"

    def add(self, name, version, body=""):
        """The line of a lock file for it."""
        file, content = wheel(name, version, body)
        self.files[file] = content
        return f"{name}=={version} \\\n    --hash=sha256:{hashlib.sha256(content).hexdigest()}\n"

    def hold(self, file):
        self.held = file
        self.release.clear()
        self.reached.clear()

    def let_go(self):
        self.held = ""
        self.release.set()

    def handle_error(self, request, client_address):
        pass  # a client that was killed


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        name = urllib.parse.unquote(self.path.strip("/").split("/")[-1])
        self.server.asked.append(name)
        if self.server.held and name == self.server.held:
            self.server.reached.set()
            self.server.release.wait(60)
        if name.endswith(".whl"):
            return self.reply(self.server.files.get(name), "application/octet-stream")
        links = [f'<a href="/files/{file}">{file}</a>' for file in self.server.files if file.startswith(name + "-")]
        return self.reply("\n".join(links).encode() if links else None, "text/html")

    def reply(self, body, kind):
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body or b"")))
        # pip keeps only what says that it may be kept.
        self.send_header("Cache-Control", "max-age=3600, public" if kind != "text/html" else "no-store")
        self.end_headers()
        self.wfile.write(body or b"")
