"""Calls that leave what Dynamo traces: the standard library, C functions, logging."""

import contextvars
import datetime
import importlib.util
import inspect
import json
import logging
import pickle
import random
import re
import time
import uuid
import warnings
import weakref
import zlib

import torch
from zoo_counts import counts, kinds_of


class Clock(torch.nn.Module):
    """The time comes from a C function that is not traced."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB9193",
                      until={"2.13": (
                          "the time had no break type of its own",
                          {"ids": ["GB0007"]})})

    def forward(self, x):
        x = x + 1
        time.time()
        return x * 2


class Today(torch.nn.Module):
    """A class method in C."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0156")

    def forward(self, x):
        x = x + 1
        datetime.datetime.now()
        return x * 2


class Checksum(torch.nn.Module):
    """Another function in C."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        n = zlib.crc32(b"text")
        return x * (n % 3)


class Uuid(torch.nn.Module):
    """A name made from random numbers."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        uuid.uuid4()
        return x * 2


class Pickle(torch.nn.Module):
    """A C function on a plain object."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        data = pickle.dumps((1, 2))
        return x * len(data)


class Json(torch.nn.Module):
    """The json module is traced until it calls C. forward logs this break at its call (counted), at a line of json.
    json's own frames have no tensor, so they are skipped and log nothing. The operations on each side are the two
    graphs."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0156")

    def forward(self, x):
        x = x + 1
        text = json.dumps({"a": 1})
        return x * len(text)


class Regex(torch.nn.Module):
    """An expression of constant texts is folded."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    word = re.compile("[a-z]+")

    def forward(self, x):
        x = x + 1
        found = self.word.match("seen")
        return x * 2 if found else x


class RandomNumbers(torch.nn.Module):
    """Python's random module with an explicit seed."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0297")

    def forward(self, x):
        x = x + 1
        random.Random(x=3)
        return x * 2


class FindPackage(torch.nn.Module):
    """Whether a package is installed is determined while tracing."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        if importlib.util.find_spec("json") is not None:
            x = x * 2
        return x


class Import(torch.nn.Module):
    """An import in the middle is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        import math

        return x * math.pi


class Warn(torch.nn.Module):
    """warnings.warn runs uncompiled between two graphs."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        warnings.warn("seen", stacklevel=1)
        return x * 2


class RootLogger(torch.nn.Module):
    """logging's own functions go to the root logger."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4841")

    def forward(self, x):
        x = x + 1
        logging.warning("seen")
        return x * 2


class LoggerTwice(torch.nn.Module):
    """Two calls of a logger at two places, with one reason."""

    expected = counts(events=2, sites=2, graphs=3, ops=3, counter=2, explain=2, ids="GB0291")

    log = logging.getLogger("zoo")

    def forward(self, x):
        x = x + 1
        self.log.warning("seen")
        x = x * 2
        self.log.error("seen again")
        return x - 3


class Builtin(torch.nn.Module):
    """A builtin on a constant number is folded."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        text = bin(5)
        return x * len(text)


class Locals(torch.nn.Module):
    """locals() is evaluated while tracing."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        names = locals()
        return x * len(names)


class Eval(torch.nn.Module):
    """eval of a constant text is folded."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        return x * eval("2")  # noqa: S307


class Signature(torch.nn.Module):
    """The signature of a function is determined while tracing."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        names = inspect.signature(self.forward).parameters
        return x * len(names)


class FrameAsked(torch.nn.Module):
    """The frame of the caller: inspect calls sys, which is C."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        inspect.currentframe()
        return x * 2


class WeakReference(torch.nn.Module):
    """A weak reference is made and dereferenced."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        myself = weakref.ref(self)
        return x * 2, myself


class ContextVariable(torch.nn.Module):
    """A context variable can be read while tracing, but not set."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB6815",
                      until={"2.13": (
                          "it had no break type of its own",
                          {"ids": ["GB0156"]})})

    level = contextvars.ContextVar("level", default=1)

    def forward(self, x):
        x = x + 1
        self.level.set(3)
        return x * 2


ALL = kinds_of(globals())
