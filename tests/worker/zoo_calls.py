"""Breaks at calls that leave what Dynamo traces: the standard library, C functions, logging, operators of one's own."""

import copy
import datetime
import importlib.util
import json
import logging
import os
import pickle
import re
import time
import uuid
import warnings
import zlib

import torch
from zoo_counts import counts

torch.library.define("breakwatch_zoo::opaque", "(Tensor x) -> Tensor")
torch.library.impl("breakwatch_zoo::opaque", "cpu")(lambda x: x.clone())
torch.library.define("breakwatch_zoo::known", "(Tensor x) -> Tensor")
torch.library.impl("breakwatch_zoo::known", "cpu")(lambda x: x.clone())
torch.library.register_fake("breakwatch_zoo::known")(lambda x: torch.empty_like(x))


class CustomOp(torch.nn.Module):
    """An operator without a fake kernel: its result has no shape to go on with. Its kernel, in Python, is compiled when
    it runs: a third graph."""

    expected = counts(events=1, sites=1, graphs=3, ops=3, counter=1, explain=2, ids="GB0090")

    def forward(self, x):
        return torch.ops.breakwatch_zoo.opaque(x + 1) * 2


class CustomOpWithFake(torch.nn.Module):
    """The same with a fake kernel is an operation like another."""

    expected = counts(events=0, sites=0, graphs=1, ops=3, counter=0, explain=0)

    def forward(self, x):
        return torch.ops.breakwatch_zoo.known(x + 1) * 2


class Clock(torch.nn.Module):
    """The time is a function in C that is not traced."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB9193",
                      until={"2.13": (
                          "the time had no kind of its own",
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


class ProcessId(torch.nn.Module):
    """What the operating system is asked."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0007")

    def forward(self, x):
        x = x + 1
        n = os.getpid()
        return x * 2, n


class OpenFile(torch.nn.Module):
    """A file opened and closed: opening is refused, and so is each thing done with what it gave."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0059,GB0156")

    def forward(self, x):
        x = x + 1
        file = open(os.devnull)  # noqa: SIM115
        file.close()
        return x * 2


class FindPackage(torch.nn.Module):
    """Is a package there? Answered while tracing."""

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


class Json(torch.nn.Module):
    """The standard library in Python is traced until it calls what is written in C."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0156")

    def forward(self, x):
        x = x + 1
        text = json.dumps({"a": 1})
        return x * len(text)


class Regex(torch.nn.Module):
    """A plain expression on plain text is folded."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    word = re.compile("[a-z]+")

    def forward(self, x):
        x = x + 1
        found = self.word.match("seen")
        return x * 2 if found else x


class Uuid(torch.nn.Module):
    """A random name."""

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


class Warn(torch.nn.Module):
    """warnings.warn is left to run between graphs."""

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
    """Two calls of a logger at two places, of one kind."""

    expected = counts(events=2, sites=2, graphs=3, ops=3, counter=2, explain=2, ids="GB0291")

    log = logging.getLogger("zoo")

    def forward(self, x):
        x = x + 1
        self.log.warning("seen")
        x = x * 2
        self.log.error("seen again")
        return x - 3


class DeepcopyTensor(torch.nn.Module):
    """A tensor copied by the copy module."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB4198")

    def forward(self, x):
        y = copy.deepcopy(x + 1)
        return y * 2


class DeepcopyObject(torch.nn.Module):
    """A dictionary of plain values copied by the copy module is traced."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def __init__(self):
        super().__init__()
        self.settings = {"scale": [2]}

    def forward(self, x):
        settings = copy.deepcopy(self.settings)
        return x * settings["scale"][0]


class DisabledModule(torch.nn.Module):
    """A layer that is kept out of the compiler: once, for it is no frame of the compiler's."""

    expected = counts(events=1, sites=1, graphs=2, ops=2, counter=1, explain=1, ids="GB0098")

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Tanh()
        self.layer.forward = torch.compiler.disable(self.layer.forward)

    def forward(self, x):
        return self.layer(x + 1) * 2


class DisabledTwice(torch.nn.Module):
    """A disabled function called at two places."""

    expected = counts(events=2, sites=2, graphs=2, ops=2, counter=2, explain=1, ids="GB0099")

    @torch.compiler.disable
    def inner(self, x):
        return x * 3

    def forward(self, x):
        x = self.inner(x + 1)
        return self.inner(x) + 2


class WhetherCompiling(torch.nn.Module):
    """What stands behind is_compiling is never met."""

    expected = counts(events=0, sites=0, graphs=1, ops=1, counter=0, explain=0)

    def forward(self, x):
        if not torch.compiler.is_compiling():
            print("seen")
        return x * 2


class Jit(torch.nn.Module):
    """A scripted layer is no module that Dynamo can look into, and the frame that calls it is left alone."""

    expected = counts(events=1, sites=1, graphs=0, ops=0, counter=0, explain=-1, ids="GB4695",
                      wrapped="frame skipped", fallback=1)

    def __init__(self):
        super().__init__()
        self.scripted = torch.jit.script(torch.nn.Tanh())

    def forward(self, x):
        return self.scripted(x + 1) * 2


class RandomGenerator(torch.nn.Module):
    """A random generator made on the way: making it, seeding it and passing it on are three breaks."""

    expected = counts(events=3, sites=3, graphs=1, ops=1, counter=3, explain=0, ids="GB0055,GB0363,GB7650")

    def forward(self, x):
        generator = torch.Generator().manual_seed(0)
        return x + torch.rand(3, generator=generator)


class Builtin(torch.nn.Module):
    """A builtin on a plain number is folded."""

    expected = counts(events=0, sites=0, graphs=1, ops=2, counter=0, explain=0)

    def forward(self, x):
        x = x + 1
        text = bin(5)
        return x * len(text)


class Locals(torch.nn.Module):
    """locals() is known while tracing."""

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


class SortTensors(torch.nn.Module):
    """sorted() compares tensors, which has no answer before the data is there."""

    expected = counts(events=1, sites=1, graphs=2, ops=3, counter=1, explain=1, ids="GB0207")

    def forward(self, x):
        parts = sorted([x.sum(), x.max()])
        return parts[0] + 1


ALL = [value for value in list(globals().values())
       if isinstance(value, type) and issubclass(value, torch.nn.Module) and hasattr(value, "expected")]
