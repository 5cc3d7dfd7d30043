"""The interface of a mode: how the model is called eagerly, how it is captured, and what is reported."""

import contextlib
import dataclasses
import json
import random
import re
from collections.abc import Callable

import torch

from ..dynamo.trace import Trace, trace
from ..inputs.copies import fresh, module_of, signature_of
from ..text import clip

DETAIL_BYTES = 60 << 10  # a repeat may add to it, below the protocol's limit of 64 KiB


@dataclasses.dataclass
class Call:
    """A model and its arguments."""

    model: Callable  # usually a module
    arguments: dict  # by name
    positional: tuple = ()
    # Makes arguments of other sizes: name of a size -> (numerator, denominator). None if the user gave the arguments.
    remake: Callable = None
    sizes: Callable = None  # the named sizes of this model, as in recipes; None without recipes
    limit_s: float = 300.0  # of the phase `capture`
    limit_bytes: int = 6 << 30  # of resident memory
    forks: bool = False  # the model is only called in forks, so that it stays cold here
    published: bool = False  # the model has the sizes of its configuration, or is the user's own
    about: dict = dataclasses.field(default_factory=dict)  # what the result says of the model: its class, type, dtype

    def given(self, change=None) -> tuple:
        """(positional, named) arguments for one call: the original ones if no other call can see what it writes.
        `change` is that of copies.fresh."""
        if self.forks and change is None:
            return self.positional, self.arguments
        return fresh((self.positional, self.arguments), self.model, change)

    def by_name(self) -> dict:
        """All arguments by their names in the signature."""
        if not self.positional:
            return self.arguments
        signature = signature_of(self.model)
        try:
            bound = signature.bind(*self.positional, **self.arguments) if signature is not None else None
        except TypeError:  # a hook may make them fit
            bound = None
        if bound is None:
            return {**{f"input_{index}": value for index, value in enumerate(self.positional)}, **self.arguments}
        further = next((p.name for p in bound.signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
        named = dict(bound.arguments)
        more = named.pop(further, {})
        return {**named, **more}


@dataclasses.dataclass
class Found:
    """The findings of one capture. The status follows from the numbers if the mode sets none."""

    trace: Trace
    status: str = ""
    detail: str = ""
    suggestion: str = ""  # with a status of a failure
    notes: list = dataclasses.field(default_factory=list)
    mode_detail: dict = dataclasses.field(default_factory=dict)
    without: tuple = ()  # numbers that this mode cannot know
    error: BaseException = None  # a hard error: the capture failed

    def numbers(self) -> dict:
        return {name: value for name, value in self.trace.numbers().items() if name not in self.without}


class Mode:
    """Mode `eval`, and the base class of the others."""

    config = {}  # further values of torch._dynamo.config
    cold = False  # the capture is the first call of a new model
    needs_eager = True  # a model that cannot be called eagerly is not captured
    stops_early = False  # at a break, before the call ends: a capture does not show that the call runs
    trains = False
    dynamic = None
    fullgraph = False
    detail_bytes = DETAIL_BYTES  # of `mode_detail`, at most

    def check(self) -> None:
        """Raises architecture.Stop if this torch does not support the mode."""

    def configure(self, job: dict) -> None:
        """Takes the options of the job. Raises architecture.Stop if one is wrong."""

    def constructed(self, model: torch.nn.Module) -> torch.nn.Module:
        """Phase `create`: the model to use instead of a new one from its config."""
        return model

    def ready(self, call: Call) -> None:
        """Phase `inputs`: prepares the model and the arguments for the mode."""
        if (module := module_of(call.model)) is not None:
            module.eval()

    def eager(self, call: Call):
        """Phase `eager`: the output of an eager call."""
        positional, named = call.given()
        with torch.no_grad():
            return call.model(*positional, **named)

    def learned(self):
        """What the eager call found out for the capture, which may be made in another process."""

    def learn(self, learned) -> None:
        """Called before `capture` with the value of `learned`."""

    def assumed(self, call: Call):
        """The value for `learn` if there was no eager call."""

    def capture(self, call: Call) -> Found:
        """Phase `capture`. Raises only errors that are not the compiler's."""
        found = self._trace(call)
        return Found(found, error=found.error)

    def suppressed(self, call: Call) -> Found:
        """The capture with the compiler's errors suppressed, to find what else there is after a hard error."""
        return Found(self._trace(call, suppress_errors=True))

    def _trace(self, call: Call, suppress_errors: bool = False) -> Trace:
        positional, named = call.given()
        return trace(call.model, named, suppress_errors, positional=positional, dynamic=self.dynamic,
                     fullgraph=self.fullgraph, config=self.config)


_ADVICE = re.compile(
    r"\n+\s*(User Stack \(|from user code:|For C\+\+ stack trace|Set TORCHDYNAMO_VERBOSE|The error above occurred)")
_TEXT_BYTES = 4000


def text_of_error(error: BaseException) -> str:
    """The text of an error without the stacks and the advice that torch appends: they contain paths of this machine."""
    return clip(without_advice(str(error) or repr(error)), _TEXT_BYTES)


def without_advice(text: str) -> str:
    cut = _ADVICE.search(text)
    return (text[:cut.start()] if cut else text).strip()


def bounded(detail: dict, most: int = DETAIL_BYTES) -> dict:
    """Cuts a mode's detail to its limit: the longest list loses its second half until it fits, and `cut` is set."""
    while len(json.dumps(detail)) > most:
        longest = max(_lists(detail), key=lambda found: len(json.dumps(found)) * (len(found) > 1), default=[])
        if len(longest) < 2:
            return {"cut": True}
        del longest[len(longest) // 2:]
        detail["cut"] = True
    return detail


def _lists(value):
    if isinstance(value, list):
        yield value
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _lists(item)


def seed() -> None:
    """Seeds every random number generator that a model may use."""
    torch.manual_seed(0)
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(0)
