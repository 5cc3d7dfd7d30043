"""What every mode is: how the model is called eagerly, how it is captured, and what is said of it."""

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


@dataclasses.dataclass
class Call:
    """One model with what it is called with."""

    model: Callable  # mostly a module
    arguments: dict  # by name
    positional: tuple = ()
    # Arguments of other sizes: name of a size -> (numerator, denominator). None where the arguments came from outside.
    remake: Callable = None
    sizes: Callable = None  # a named size of this model, as recipes name them; None where there are no recipes
    limit_s: float = 300.0  # of the phase `capture`
    limit_bytes: int = 6 << 30  # of resident memory
    forks: bool = False  # each process that calls the model is a fork for that alone, of one that never did

    def given(self, change=None) -> tuple:
        """(positional, named) to call the model with once: as they came where no other call is to see what it writes.
        `change` is that of copies.fresh."""
        if self.forks and change is None:
            return self.positional, self.arguments
        return fresh((self.positional, self.arguments), self.model, change)

    def by_name(self) -> dict:
        """The arguments by the names that the signature gives them."""
        if not self.positional:
            return self.arguments
        signature = signature_of(self.model)
        try:
            bound = signature.bind(*self.positional, **self.arguments) if signature is not None else None
        except TypeError:  # a hook makes them fit
            bound = None
        if bound is None:
            return {**{f"input_{index}": value for index, value in enumerate(self.positional)}, **self.arguments}
        further = next((p.name for p in bound.signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
        named = dict(bound.arguments)
        more = named.pop(further, {})
        return {**named, **more}


@dataclasses.dataclass
class Found:
    """What one capture found. The numbers decide the status unless the mode does."""

    trace: Trace
    status: str = ""
    detail: str = ""
    notes: list = dataclasses.field(default_factory=list)
    mode_detail: dict = dataclasses.field(default_factory=dict)
    without: tuple = ()  # numbers that this mode cannot know
    error: BaseException = None  # a hard error: the capture failed

    def numbers(self) -> dict:
        return {name: value for name, value in self.trace.numbers().items() if name not in self.without}


class Mode:
    """`eval`, and what the others change of it."""

    config = {}  # further values of torch._dynamo.config
    cold = False  # what is captured is the first call of a fresh model
    needs_eager = True  # a model that cannot be called without a compiler has nothing to capture
    stops_early = False  # at a break, before the call comes to its end: that it runs is not known then
    trains = False
    dynamic = None
    fullgraph = False

    def check(self) -> None:
        """Raises architecture.Stop where this torch cannot do it."""

    def ready(self, call: Call) -> None:
        """In the phase `inputs`: makes the model and the arguments what the mode needs."""
        if (module := module_of(call.model)) is not None:
            module.eval()

    def eager(self, call: Call):
        """In the phase `eager`: the output of the model called without a compiler."""
        positional, named = call.given()
        with torch.no_grad():
            return call.model(*positional, **named)

    def learned(self):
        """What the eager call showed of how to capture, for the process that captures, where that is another one."""

    def learn(self, learned) -> None:
        """Before `capture`: what `learned` gave, there."""

    def untaught(self, call: Call):
        """What to learn where no eager call was made."""

    def capture(self, call: Call) -> Found:
        """In the phase `capture`. Only what is not the compiler's is raised."""
        found = self._trace(call)
        return Found(found, error=found.error)

    def suppressed(self, call: Call) -> Found:
        """The same with the compiler's errors suppressed: what else there is after a hard error."""
        return Found(self._trace(call, suppress_errors=True))

    def _trace(self, call: Call, suppress_errors: bool = False) -> Trace:
        positional, named = call.given()
        return trace(call.model, named, suppress_errors, positional=positional, dynamic=self.dynamic,
                     fullgraph=self.fullgraph, config=self.config)


_ADVICE = re.compile(
    r"\n+\s*(User Stack \(|from user code:|For C\+\+ stack trace|Set TORCHDYNAMO_VERBOSE|The error above occurred)")
_TEXT_BYTES = 4000
_DETAIL_BYTES = 60 << 10  # what a repeat adds has room below the protocol's 64 KiB


def said_by(error: BaseException) -> str:
    """What an error says, without the stacks and the advice that torch appends: those hold paths of this machine."""
    text = str(error) or repr(error)
    if cut := _ADVICE.search(text):
        text = text[:cut.start()]
    return clip(text.strip(), _TEXT_BYTES)


def bounded(detail: dict, most: int = _DETAIL_BYTES) -> dict:
    """A mode's detail within its bound: the longest list loses its second half until it fits, and `cut` says so."""
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
    """Every source of chance a model may draw from."""
    torch.manual_seed(0)
    random.seed(0)
    with contextlib.suppress(ImportError):
        import numpy

        numpy.random.seed(0)
