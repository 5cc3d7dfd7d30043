"""All differences of Dynamo between torch 2.6 and today. Checks for features, never for a version.

- Breaks are logged by a method with `exc`, a method with `user_stack` or a function of the module.
- Older releases do not log a break that makes Dynamo skip the frame. The oldest does not log one after which it steps
back
  to its last checkpoint. These breaks are observed where Dynamo handles them.
- The methods with `user_stack` log a break in a loop like any other, and then skip the frame without counting it.
- Older releases log a branch on a value in an inlined callee twice: inside and outside. One event is kept.
- Types and ids of breaks (the registry) and the texts of hints are newer. Before, the first line of the message is all.
"""

import contextlib
import inspect
import re
import sys

import torch
import torch._dynamo
from torch._dynamo import convert_frame, symbolic_convert
from torch._dynamo import exc as dynamo_exc
from torch._dynamo import utils as dynamo_utils

from .. import restore
from . import evaluator

# Reasons of older releases -> today's names, for breaks that differ in wording only.
_OLD_REASONS = {
    "Data-dependent jump": "Data-dependent branching",
    "should_compile_partial_graph=False": "Data-dependent branching",
}
_VARIES = re.compile(r"\s*(?:[\[{<;=]|\(\)|0x[0-9a-f]|'|\"|: \d| in file ).*$", re.S)

MET = "Encountered graph break "
STEPPED_BACK = "Encountered graph break that we cannot resume from."
FRAME_LEFT = "Failed to handle graph break gracefully."
IN_LOOP = "graph break in loop"


class Jump(Exception):
    """Replaces the exception that older releases do not make for a branch on a value."""

    def __init__(self, text: str = "Data-dependent jump"):
        self.msg = text
        super().__init__(self.msg)
        self.real_stack = torch._guards.TracingContext.extract_stack()


def registry() -> dict:
    """gb_type (of any revision) -> id, from the file in the torch wheel. Empty without this file."""
    load = getattr(dynamo_exc, "_load_gb_type_to_gb_id_map", None)
    return load() if load is not None else {}


def hint_texts(name: str) -> list:
    """The texts of one class of hints; empty if this release has none."""
    try:
        from torch._dynamo import graph_break_hints
    except ImportError:
        return []
    return getattr(graph_break_hints, name, [])


def replaced(error):
    """The break that this one replaced, in releases that only set the cause. Later releases quote its text."""
    cause = error.__cause__
    return cause if isinstance(cause, dynamo_exc.Unsupported) and not hasattr(error, "gb_type") else None


def old_reason(message: str) -> str:
    """The first line of a message without a type, without its variable parts."""
    first = message.strip().split("\n", 1)[0].strip()
    first = first.removeprefix("Unsupported: ").lstrip("'\"")
    if first.startswith("Dynamic control flow is not supported"):
        return "Data-dependent branching"
    return _OLD_REASONS.get(first) or _VARIES.sub("", first)


def known_config(values: dict) -> dict:
    """The settings that exist in this release."""
    return {name: value for name, value in values.items() if hasattr(torch._dynamo.config, name)}


def reset() -> None:
    torch._dynamo.reset()
    dynamo_utils.counters.clear()
    dynamo_utils.clear_compilation_metrics()
    if hasattr(dynamo_utils, "reset_graph_break_dup_checker"):
        dynamo_utils.reset_graph_break_dup_checker()


@contextlib.contextmanager
def listening(on_break, on_counted, on_frame):
    """Inside this context, `on_break(error, text, code_options, translator)` is called once for each break that Dynamo
    logs, before Dynamo continues; `on_counted(error)` when Dynamo then increments its own counter; and
    `on_frame(frame)` for each frame that is passed to Dynamo, before it is captured."""
    with contextlib.ExitStack() as stack:
        stack.enter_context(_counter(on_counted))
        stack.enter_context(_frames(on_frame))
        method = getattr(symbolic_convert.InstructionTranslatorBase, "log_graph_break", None)
        if method is None:
            stack.enter_context(_function(_Once(on_break), on_counted))
        elif "exc" in inspect.signature(method).parameters:
            stack.enter_context(_method(on_break))
        else:
            stack.enter_context(_older_method(_Once(on_break)))
        yield


def _replaced(owner, name: str, make):
    return restore.replaced(owner, **{name: make(getattr(owner, name))})


def _counter(on_counted):
    def make(original):
        def add_to_stats(self, category="unimplemented"):
            if category == "graph_break":
                on_counted(self)
            return original(self, category)

        return add_to_stats

    return _replaced(dynamo_exc.Unsupported, "add_to_stats", make)


def _frames(on_frame):
    def make(original):
        def __call__(self, frame, *arguments, **options):
            on_frame(frame)
            with evaluator.pythons_own():
                return original(self, frame, *arguments, **options)

        # Dynamo looks for the wrapper of torch.compiler.disable(recursive=False) in the first frame of another file.
        __call__.__code__ = __call__.__code__.replace(co_filename=convert_frame.__file__)
        return __call__

    return _replaced(convert_frame.ConvertFrame, "__call__", make)


def _method(on_break):
    def make(original):
        def log_graph_break(self, code_options, reason, exc):
            if not getattr(exc, "logged", False):  # Dynamo ignores one that an inner frame has logged
                on_break(exc, reason, code_options, self)
            return original(self, code_options, reason=reason, exc=exc)

        return log_graph_break

    return _replaced(symbolic_convert.InstructionTranslatorBase, "log_graph_break", make)


class _Once:
    """Calls back once for each exception: older releases do not mark one as logged."""

    def __init__(self, on_break):
        self._on_break = on_break

    def __call__(self, error, text, translator) -> None:
        if getattr(error, "_breakwatch_logged", False):
            return
        error._breakwatch_logged = True
        self._on_break(error, text, translator.code_options, translator)


@contextlib.contextmanager
def _older_method(on_break):
    def log(original):
        def log_graph_break(self, code_options, reason="", *arguments, **options):
            error, text = sys.exc_info()[1], reason
            if not reason.startswith(STEPPED_BACK):
                # A branch on a value has no exception; the current one belongs to another break.
                error = error if reason.startswith(MET) else Jump(reason)
                text = _older_text(error, self)
            on_break(error, text, self)
            return original(self, code_options, reason, *arguments, **options)

        return log_graph_break

    with _replaced(symbolic_convert.InstructionTranslatorBase, "log_graph_break", log), _frames_left(on_break):
        yield


def _frames_left(on_break):
    """Reports the breaks that leave a frame, which Dynamo then skips."""
    def run(original):
        def run_root(self):
            try:
                return original(self)
            except dynamo_exc.Unsupported as error:
                if not getattr(self, "one_graph", False):
                    on_break(error, FRAME_LEFT, self)
                raise

        return run_root

    return _replaced(symbolic_convert.InstructionTranslator, "run", run)


@contextlib.contextmanager
def _function(on_break, on_counted):
    stored = []  # an attribute assignment that was rejected: counted first, logged when the frame is traced again

    def remember(original):
        def add_to_stats(self, category="unimplemented"):
            if category == "graph_break":
                stored[:] = [self]
            return original(self, category)

        return add_to_stats

    def log(original):
        def log_graph_break(code_options, reason="", *arguments, **options):
            translator = sys._getframe(1).f_locals.get("self")
            error = sys.exc_info()[1]
            if reason.startswith("STORE_ATTR") and stored:
                error = stored.pop()
                on_break(error, MET, translator)
                on_counted(error)
                return original(code_options, reason, *arguments, **options)
            if not isinstance(error, dynamo_exc.Unsupported):
                error = Jump()
            inlined = not translator.should_compile_partial_graph()
            if not (inlined and isinstance(error, Jump)):  # the caller that inlines it logs it next
                on_break(error, _older_text(error, translator), translator)
            return original(code_options, reason, *arguments, **options)

        return log_graph_break

    with _replaced(dynamo_exc.Unsupported, "add_to_stats", remember), _replaced(
            symbolic_convert, "log_graph_break", log), _frames_left(on_break), _replaced(
            symbolic_convert, "log", lambda original: _StepLog(original, on_break)):
        yield


def _older_text(error, translator) -> str:
    """A text that begins as in later releases, according to what Dynamo does with the frame."""
    if translator.maybe_has_backedge():
        return f"{FRAME_LEFT} {IN_LOOP}"
    return "" if isinstance(error, Jump) else MET


class _StepLog:
    """Replaces the module's logger, which is the only thing an older release calls when it steps back to a
    checkpoint."""

    def __init__(self, log, on_break):
        self._log, self._on_break = log, on_break

    def __getattr__(self, name):
        return getattr(self._log, name)

    def debug(self, message, *arguments, **options):
        error = sys.exc_info()[1]
        if message == "step triggered compile" and isinstance(error, dynamo_exc.Unsupported):
            self._on_break(error, STEPPED_BACK, sys._getframe(1).f_locals["self"])
        return self._log.debug(message, *arguments, **options)
