"""`--discover SCRIPT`: runs a script once and lists the modules it calls, as one JSON line on standard output."""

import json
import os
import sys
import tempfile
import threading
import time
import traceback
import weakref

from .. import restore
from ..inputs.forward_inputs import describe
from ..model.build import parameter_count
from ..process import alarm
from ..text import clip, one_line
from . import script
from .call_observer import CallObserver
from .digest import digest_of

_MAX_MODULES = 1000
_TAIL_BYTES = 8 << 10
_ERROR_BYTES = 16 << 10


class _Ended(BaseException):
    """Ends the script. A BaseException, because scripts catch Exception."""


def _exits_as_exceptions():
    """Turns os._exit of the script into an exception, so that the listing is not lost. Its child processes may exit."""
    script, leave = os.getpid(), os._exit

    def raising(code):
        if os.getpid() != script or threading.current_thread() is not threading.main_thread():
            leave(code)
        raise _Ended(f"os._exit({code})")

    return restore.replaced(os, _exit=raising)


class Listing:
    """The called modules by hash, in the order of their first calls."""

    def __init__(self, max_depth: int):
        self.found = {}
        self.left_out = 0
        self._max_depth = max_depth
        self._digests = weakref.WeakKeyDictionary()

    def take(self, module, depth: int, place: tuple, arguments: tuple, options: dict) -> None:
        if depth > self._max_depth:
            return
        is_new = module not in self._digests
        if is_new:
            self._digests[module] = digest_of(module)
        digest = self._digests[module]
        entry = self.found.get(digest)
        if entry is None:
            if len(self.found) >= _MAX_MODULES:
                self.left_out += 1
                return
            entry = self.found[digest] = _entry(module, digest, depth, place, arguments, options)
        entry["calls"] += 1
        entry["instances"] += is_new


def _entry(module, digest: str, depth: int, place: tuple, arguments: tuple, options: dict) -> dict:
    cls = type(module)
    return {
        "class": cls.__qualname__, "module": cls.__module__, "file": place[0], "line": place[1], "hash": digest,
        "depth": depth, "parameters": parameter_count(module), "calls": 0, "instances": 0,
        "training": module.training, "inputs": {"args": describe(list(arguments)), "kwargs": describe(options)},
    }


def discover(path: str, arguments: list, max_depth: int, seconds: float = 0) -> dict:
    """Runs the script for at most `seconds` and returns the message. The script's output goes to descriptors 1 and
    2."""
    listing, error = Listing(max_depth), ""
    begun, late = time.monotonic(), _Ended(f"stopped after {seconds:g} s")
    try:
        with CallObserver(listing.take).active(), alarm.raising_after(seconds, late), _exits_as_exceptions():
            ended = script.run(path, arguments)
    except _Ended as early:
        ended = str(early)
    except BaseException as failure:
        ended = f"{type(failure).__name__}: {one_line(str(failure)) or 'no text'}"
        error = "".join(traceback.format_exception(failure))
    return {"type": "discovered", "script": path, "args": arguments, "modules": list(listing.found.values()),
            "left_out": listing.left_out, "ended": ended, "error": clip(error[-_ERROR_BYTES:], _ERROR_BYTES),
            "seconds": round(time.monotonic() - begun, 3)}


def main(path: str, arguments: list, max_depth: int, seconds: float) -> int:
    out = os.dup(1)
    with tempfile.TemporaryFile() as output:
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        from ..process import host

        host.scrub_secrets()
        import torch

        torch.set_num_threads(1)
        os.write(out, b'{"type": "running"}\n')
        message = discover(os.path.abspath(path), arguments, max_depth, seconds)
        sys.stdout.flush()
        sys.stderr.flush()
        output.seek(max(0, output.seek(0, os.SEEK_END) - _TAIL_BYTES))
        message["output_tail"] = output.read(_TAIL_BYTES).decode("utf-8", "replace")
    with os.fdopen(out, "w") as stdout:
        stdout.write(json.dumps(message) + "\n")
    return 0
