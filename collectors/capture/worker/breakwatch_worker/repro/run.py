"""Runs a draft in a fork, as a capture; and a file in a new interpreter, without this package."""

import ast
import contextlib
import dataclasses
import os
import re
import signal
import subprocess
import sys

import torch

from .. import restore
from ..dynamo.breaks import sites_of
from ..dynamo.trace import trace
from ..process import isolated, memory_use
from ..process.scratch import own_folder
from ..text import one_line
from .draft import Draft

_DETAIL = 400
_ERRORS = 64 << 10  # of what a file writes
_MORE_BYTES = 3 << 30  # memory of a fork beyond what it begins with, at most
_FOUND = re.compile(r"^AssertionError: found (\{.*\})$", re.MULTILINE)


@dataclasses.dataclass
class Seen:
    """What the capture of a draft found. `error`: the call failed; there is nothing else then."""

    sites: list = dataclasses.field(default_factory=list)
    reasons: dict = dataclasses.field(default_factory=dict)  # by site id: whether Dynamo's log has it as it is
    parameters: int = 0  # of the model
    error: str = ""

    def site(self, site_id: str):
        return next((site for site in self.sites if site["site_id"] == site_id), None)


def capture(draft: Draft, seconds: float) -> Seen:
    """Never raises: whatever ends the fork is the error."""
    found = _in_fork(seconds, _captured, draft)
    return Seen(error=found.detail) if isinstance(found, isolated.Ended) else found


def in_fork(seconds: float, function, *arguments):
    """The value of the function, or None however it failed."""
    found = _in_fork(seconds, _quiet, function, arguments)
    return None if isinstance(found, isolated.Ended) else found


def _in_fork(seconds: float, function, *arguments):
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with own_folder("repro-") as folder:
        return isolated.run(max(seconds, 0.1), folder, _bounded, function, arguments)


def _bounded(function, arguments):
    """A config without some of its values may be that of a far larger model: building it fails here, and does not take
    the capture with it, whose memory limit counts this process too."""
    memory_use.keep_apart(_MORE_BYTES)
    return function(*arguments)


def _quiet(function, arguments):
    try:
        return function(*arguments)
    except Exception:
        return None


def _captured(draft: Draft) -> Seen:
    traces, names = [], {"__name__": "__main__"}
    try:
        with _tracing(traces):
            exec(compile(draft.setup("") + draft.call({}), "repro.py", "exec"), names)
        found = traces[0]
        if found.error is not None:
            raise found.error
    except BaseException as error:  # including a SystemExit
        return Seen(error=one_line(f"{type(error).__name__}: {error}", _DETAIL))
    log = "".join(names["messages"])
    sites = sites_of(found.events)
    return Seen(sites, {site["site_id"]: site["reason"] in log for site in sites},
                sum(parameter.numel() for parameter in names["model"].parameters()))


def _tracing(traces: list):
    """Inside this context, torch.compile returns a function that captures the call."""
    original = torch.compile

    def compiled(target, **_):
        def call(*positional, **named):
            torch.compile = original
            traces.append(trace(target, named, positional=positional))

        return call

    return restore.replaced(torch, compile=compiled)


def new_process(text: str, seconds: float) -> tuple:
    """(what went wrong, "" if the file ended well; the breaks that it found instead of the expected ones, or None)."""
    environment = {name: value for name, value in os.environ.items()
                   if name != "PYTHONPATH" and not name.startswith("BREAKWATCH_")}
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    with own_folder("repro-") as folder:
        path = os.path.join(folder, "repro.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with open(os.path.join(folder, "errors"), "w+b") as errors:
            try:
                done = subprocess.run([sys.executable, path], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                      stdout=subprocess.DEVNULL, stderr=errors, timeout=max(seconds, 1))
            except subprocess.TimeoutExpired:
                return f"the file did not end within {seconds:.0f} s", None
            except OSError as error:
                return f"no other process could be started: {error}", None
            errors.seek(max(0, errors.seek(0, os.SEEK_END) - _ERRORS))
            said = errors.read().decode("utf-8", "replace")
    return ("", None) if done.returncode == 0 else (_end_of(said, done.returncode), _found_in(said))


def _end_of(errors: str, code: int) -> str:
    lines = [line for line in errors.splitlines() if line.strip()]
    return one_line(lines[-1] if lines else f"it ended with code {code}", _DETAIL)


def _found_in(errors: str):
    found = _FOUND.search(errors)
    with contextlib.suppress(ValueError, SyntaxError, AttributeError):
        return ast.literal_eval(found.group(1))
    return None
