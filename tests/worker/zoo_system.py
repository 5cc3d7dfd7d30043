"""Calls of the operating system: processes, threads, files, the environment."""

import io
import os
import sys
import threading

import torch
from zoo_counts import counts, kinds_of


class ProcessId(torch.nn.Module):
    """Information from the operating system."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        n = os.getpid()
        return x * 2, n


class OpenFile(torch.nn.Module):
    """A file opened and closed: opening is rejected, and so is each call on the file object. There is nothing between
    them."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0059,GB0156")

    def forward(self, x):
        x = x + 1
        file = open(os.devnull)  # noqa: SIM115
        file.close()
        return x * 2


class WriteOut(torch.nn.Module):
    """Standard output, written by its method."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0156")

    def forward(self, x):
        x = x + 1
        sys.stdout.write("seen")
        return x * 2


class PathAsked(torch.nn.Module):
    """Whether a file exists: the same, one function deeper, which has no tensor and is skipped as a frame."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        if os.path.exists(os.sep):
            x = x * 2
        return x


class Environment(torch.nn.Module):
    """An environment variable is read while tracing."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        if os.environ.get("BREAKWATCH_ZOO") is None:
            x = x * 2
        return x


class SetEnvironment(torch.nn.Module):
    """Setting one ends in C, in a frozen module of Python: the place is in its source file nevertheless."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        os.environ["BREAKWATCH_ZOO_SET"] = "1"
        return x * 2


class ThreadStarted(torch.nn.Module):
    """A thread is created, started and joined: three rejected calls, each in threading's own code. The first and the
    last are at the line that gets the current thread, the second at a lock. There is nothing between them."""

    expected = counts(events=3, sites=2, graphs=2, ops=2, counter=3, explain=1, ids="GB0007,GB0142")

    def forward(self, x):
        x = x + 1
        thread = threading.Thread(target=int)
        thread.start()
        thread.join()
        return x * 2


class LockTaken(torch.nn.Module):
    """A lock acquired and released by its methods, which are C: two calls at two lines."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0156")

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()

    def forward(self, x):
        x = x + 1
        self.lock.acquire()
        self.lock.release()
        return x * 2


class LoadTensor(torch.nn.Module):
    """Dynamo does not trace torch.load; the loaded tensor is an argument of the resumed function."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def __init__(self):
        super().__init__()
        self.source = io.BytesIO()
        torch.save(torch.ones(3), self.source)
        self.source.seek(0)

    def forward(self, x):
        x = x + 1
        scale = torch.load(self.source)
        return x * scale


ALL = kinds_of(globals())
