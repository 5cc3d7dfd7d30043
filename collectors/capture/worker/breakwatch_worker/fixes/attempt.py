"""One attempt: the model with one or more fixes, in a process of its own that has not compiled anything."""

import dataclasses
import signal
import time

import torch

from .. import failure, restore
from ..dynamo.breaks import place_of, reason_of, relative_file, sites_of
from ..dynamo.trace import Trace, trace
from ..modes.base import seed
from ..process import fork, isolated, memory_use
from ..process.scratch import own_folder
from ..text import clip, one_line
from . import outputs, table

_DETAIL_BYTES = 400
_ENDED = {"time": "timeout", "memory": "out_of_memory", "crash": "crashed"}


@dataclasses.dataclass
class Tried:
    """How one attempt ended. `counts` and `sites` are those of its capture, if the status is `ok`."""

    status: str
    detail: str = ""
    counts: dict = dataclasses.field(default_factory=dict)
    ran: int = 0  # operations that ran in graphs; `counts` has those that were captured
    sites: list = dataclasses.field(default_factory=list)
    differs: str = ""  # how its outputs differ
    max_abs: float = None
    seconds: float = 0.0


@dataclasses.dataclass
class Wanted:
    """What the model returns without a fix and without a compiler, and whether that can be compared with."""

    outputs: dict
    why_not: str = ""  # why outputs are not compared
    compiled_differs: bool = False  # plain torch.compile returns something else already


def counts_of(found: Trace) -> dict:
    return {"breaks": len(found.events), "sites": len({event.site_id for event in found.events}),
            "graphs": found.graphs, "ops": found.ops}


class Ran:
    """Counts the operations that graphs execute. A layer that is captured once may run many times."""

    def __init__(self):
        self.operations = 0

    def backend(self, graph_module, _):
        size = sum(node.op.startswith("call_") for node in graph_module.graph.nodes)

        def run(*arguments):
            self.operations += size
            return graph_module.forward(*arguments)

        return run


class Case:
    """A model and its call, which attempts are made of. Owner: the process that forks them."""

    def __init__(self, call):
        self._call = call
        positional, named = call.positional, call.by_name()
        self._by_name = not positional or _fits_by_name(call)
        self.subject = table.Subject(call.model, named if self._by_name else call.arguments, self._by_name, call.forks)

    def _arguments(self) -> tuple:
        """(positional, named), for one call in a process that ends after it."""
        return ((), self.subject.inputs) if self._by_name else (self._call.positional, self.subject.inputs)

    def eager(self) -> dict:
        """The outputs of a call without a compiler, made in a fork. Raises Failed with its error."""
        answer = fork.call(self._eager)
        if isinstance(answer, str):
            raise Failed(answer)
        return answer

    def _eager(self):
        positional, named = self._arguments()
        seed()
        try:
            with torch.no_grad():
                return outputs.kept(self.subject.model(*positional, **named))
        except BaseException as error:  # including a SystemExit of the code
            return f"the eager call fails: {type(error).__name__}: {error}"

    def traced(self, lines=("compiled = torch.compile(model)",)) -> tuple:
        """(the capture, its outputs, how many operations ran in graphs), with the lines of Python that compile the
        model. Only once in a process."""
        returned, ran = {}, Ran()

        def call(compiled):
            positional, named = self._arguments()
            seed()
            returned.update(outputs.kept(compiled(*positional, **named)))

        with _compiling(self.subject, lines):
            found = trace(self.subject.model, {}, call=call, backend=ran.backend)
        return found, returned, ran.operations

    def plain(self) -> tuple:
        """Like `traced` without a fix, without what cannot leave this process, and whether it failed."""
        found, returned, ran = self.traced()
        failed = found.error is not None
        found.parts, found.error = [], None
        return found, returned, ran, failed

    def wanted(self, returned: dict) -> Wanted:
        """`returned` is what the plain capture returned."""
        try:
            first, second = self.eager(), self.eager()
        except Failed as error:
            return Wanted({}, str(error))
        text, _, missing = outputs.compare(first, second)
        if text or missing:
            return Wanted({}, "the outputs of two eager calls differ")
        return Wanted(first, "", bool(outputs.compare(first, returned)[0]))

    def attempt(self, fixes: list, regions: str, wanted: Wanted, seconds: float) -> Tried:
        """Never raises: whatever happens is the status."""
        begun = time.monotonic()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # a script may ignore it: no end of a process could be seen
        with own_folder("attempt-") as folder:
            tried = isolated.run(seconds, folder, self._tried, fixes, regions, wanted)
        if isinstance(tried, isolated.Ended):
            detail = f"not done within {seconds:.0f} s" if tried.cause == "time" else tried.detail
            tried = Tried(_ENDED[tried.cause], detail)
        tried.seconds = round(time.monotonic() - begun, 3)
        return tried

    def _tried(self, fixes: list, regions: str, wanted: Wanted) -> Tried:
        memory_use.keep_below(self._call.limit_bytes)
        settings, compiling = table.python_of(fixes, regions)
        try:
            exec("\n".join(settings), self.subject.names())
        except BaseException as error:
            return _of_error(error, "its lines fail")
        for fix in fixes:
            if not table.holds(fix, self.subject):
                return Tried("failed", f"the model ignores {fix.name}")
        differs, most, notes = "", None, []
        expected = wanted.outputs
        if not all(fix.keeps_eager for fix in fixes) and not wanted.why_not:
            try:
                expected = self.eager()
            except Failed as error:
                return Tried("failed", one_line(str(error), _DETAIL_BYTES))
            differs, most, missing = outputs.compare(wanted.outputs, expected)
            notes += [_without(missing)] if missing and not differs else []
        found, returned, ran = self.traced(compiling)
        if found.error is not None:
            return _of_error(found.error, "Dynamo refuses it")
        if wanted.why_not:
            notes.append(f"outputs were not compared: {wanted.why_not}")
        elif not differs:
            text, more, _ = outputs.compare(expected, returned)
            if text and not wanted.compiled_differs:
                differs = f"compiled, {text}"
            elif text:
                notes.append("torch.compile returns other values than the eager model, with this fix as without one")
            most = max((number for number in (most, more) if number is not None), default=None)
        return Tried("ok", one_line("; ".join([*([differs] if differs else []), *notes]), _DETAIL_BYTES),
                     counts_of(found), ran, sites_of(found.events), differs, most)


class Failed(Exception):
    """A call without a compiler failed."""


def _compiling(subject, lines: list):
    """Inside this context, the next call of torch.compile runs the lines instead, with its backend, and returns what
    they name `compiled`. This is how trace() counts what a user's lines compile."""
    original = torch.compile

    def run(function, *, backend, **_):
        names = subject.names()

        def with_backend(model=None, **options):
            return original(model, **{**options, "backend": backend})

        with restore.replaced(torch, compile=with_backend):
            exec("\n".join(lines), names)
        torch.compile = original
        return names["compiled"]

    return restore.replaced(torch, compile=run)


def _fits_by_name(call) -> bool:
    """Whether all arguments of a call can be passed by their names."""
    named = call.by_name()
    signature = table.signature_of(call.model)
    if signature is None or any(name.startswith("input_") and name not in signature.parameters for name in named):
        return False
    try:
        signature.bind(**named)
    except TypeError:
        return False
    return True


def _without(missing: list) -> str:
    names = list(dict.fromkeys(path.split(".")[0] for path in missing))
    return f"compared without {', '.join(names[:8])}, which only one of the two calls returns"


def _of_error(error: BaseException, what: str) -> Tried:
    status = failure.result_of("capture", error)["status"]
    if status == "out_of_memory":
        return Tried(status, clip(str(error), _DETAIL_BYTES))
    reason, gb_id, _, _ = reason_of(error)
    text = f"{type(error).__name__}: {reason}" if gb_id else f"{type(error).__name__}: {error}"
    file, line, function = place_of(error, {}, None)
    place = f" at {relative_file(file)[0]}:{line} in {function}" if file else ""
    error.__traceback__ = error.__context__ = error.__cause__ = None
    return Tried("failed", one_line(f"{what}: {text.split(chr(10))[0]}{place}", _DETAIL_BYTES))
