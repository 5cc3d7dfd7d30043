"""Captures what a factory returns, or what a script calls with the inputs it calls it with."""

import importlib
import inspect
import os
import sys
import weakref

import torch

from .. import architecture, attempt, copies, failure, inputs
from . import allowed, script
from .digest import digest_of
from .watch import Watch, uncompiled


def attempt_of(job: dict):
    """By `source.kind`; refused where this zygote may not run such code."""
    source = job["source"]
    kinds = {"python": FactoryAttempt, "script": ScriptAttempt}
    if not isinstance(source, dict) or source.get("kind") not in kinds:
        raise architecture.Stop("failed_create", "a source of a kind that is not known here")
    if not allowed():
        raise architecture.Stop("skipped_custom_code", "it runs code of your own: allow that with --allow-factories")
    return kinds[source["kind"]]


class Wrapped(torch.nn.Module):
    """Calls by position what cannot be called by name."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, **arguments):
        return self.inner(*arguments.values())


def named(target, arguments: tuple, options: dict) -> tuple:
    """(what to call, its inputs by name, note). By name is how a capture calls and describes."""
    function = target.forward if isinstance(target, torch.nn.Module) else target
    try:
        bound = inspect.signature(function).bind(*arguments, **options)
    except TypeError as error:
        raise ValueError(f"these inputs do not fit {_name_of(target)}: {error}") from error
    except ValueError:  # a builtin without a signature
        bound = None
    kinds = {} if bound is None else {p.name: p.kind for p in bound.signature.parameters.values()}
    by_name = {}
    for name, value in ({} if bound is None else bound.arguments).items():
        if kinds[name] is inspect.Parameter.VAR_KEYWORD:
            by_name.update(value)
        elif kinds[name] in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            bound = None
            break
        else:
            by_name[name] = value
    if bound is not None:
        return target, by_name, ""
    if options:
        raise ValueError(f"{_name_of(target)} takes inputs by position only, and some came by name")
    return Wrapped(target).eval(), {f"input_{index}": value for index, value in enumerate(arguments)}, (
        "called by position through a wrapper, whose frame a break in it counts too")


def _name_of(target) -> str:
    return getattr(target, "__qualname__", None) or type(target).__qualname__


class SourceAttempt(attempt.Attempt):
    """One module, or any callable, as it was given."""

    def _around(self, model):
        """Somebody's own is captured at the first call there is: what it does then alone is part of it."""
        return copies.as_before(model)

    def _capture_given(self, target, arguments: tuple, options: dict, notes: list) -> dict:
        if isinstance(target, torch.nn.Module):
            target.eval()
        self._known = {"architecture": _name_of(target), "model_type": "", "dtype": _dtype_of(target),
                       "depth": "original"}
        if isinstance(target, torch.nn.Module):
            self._known["params"] = sum(p.numel() for p in target.parameters())
        self._phases.enter("inputs")
        target, by_name, note = named(target, arguments, options)
        output = self._eager(target, by_name)
        summary = {"finite": inputs.is_finite(output), "gaps": []}
        return self._capture(target, by_name, summary, notes + ([note] if note else []))


def _dtype_of(target) -> str:
    first = next(target.parameters(), None) if isinstance(target, torch.nn.Module) else None
    return str(first.dtype).removeprefix("torch.") if first is not None else "float32"


class FactoryAttempt(SourceAttempt):
    def run(self) -> dict:
        source = self._job["source"]
        with uncompiled():
            made = self._make(source)
        target, arguments, options = split(made)
        if target is None:
            raise TypeError(f"{source['factory']} gave {type(made).__name__}, not a module or another callable")
        notes = []
        if arguments is None:
            arguments, options, notes = (), *self._made_up(target)
        return self._capture_given(target, arguments, options, notes)

    @staticmethod
    def _make(source: dict):
        for folder in reversed([item for item in source.get("path") or [] if isinstance(item, str)]):
            sys.path.insert(0, folder)
        module, _, name = source["factory"].partition(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        if isinstance(found, torch.nn.Module):
            return found
        return found()

    @staticmethod
    def _made_up(target) -> tuple:
        """(options, notes) for a module that came alone: transformers' are called as any other of theirs."""
        config = getattr(target, "config", None)
        if isinstance(target, torch.nn.Module) and hasattr(config, "model_type"):
            return inputs.make(target.eval(), config, next(iter(inputs.Ways(type(target))))), ["inputs made up"]
        function = target.forward if isinstance(target, torch.nn.Module) else target
        required = [p.name for p in inspect.signature(function).parameters.values()
                    if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if required:
            raise ValueError(f"{_name_of(target)} needs {', '.join(required)}: let the factory return (module, inputs)")
        return {}, []


def split(made) -> tuple:
    """(callable or None, positional or None, named) of what a factory returned: it, or (it, inputs)."""
    if isinstance(made, (tuple, list)) and len(made) == 2 and callable(made[0]):
        given = made[1]
        if isinstance(given, dict):
            return made[0], (), given
        return made[0], tuple(given) if isinstance(given, (tuple, list)) else (given,), {}
    return (made, None, None) if callable(made) else (None, None, None)


class _Captured(BaseException):
    """Ends the script once its module is captured; no `except Exception` of its own stops it."""


class ScriptAttempt(SourceAttempt):
    """Runs the script again up to the first call of the module with that hash, and captures it in that place."""

    def run(self) -> dict:
        source = self._job["source"]
        self._wanted, self._result = source.get("hash") or "", None
        self._seen = {}  # digests, in the order they were met
        self._digests = weakref.WeakKeyDictionary()
        self._watch = Watch(self._take)
        if isinstance(folder := source.get("cwd"), str):
            os.chdir(folder)
        ended = ""
        try:
            with self._watch.active():
                ended = script.run(source["path"], source.get("args") or [])
        except _Captured:
            pass
        except Exception as error:
            if self._result is None:
                raise
            print(f"after the capture: {error!r}")
        if self._result is None:
            said = f"no module {self._wanted} was called" if self._wanted else "no module was called"
            seen = list(self._seen)[:8]
            raise LookupError(said + (f" ({ended})" if ended else "") + (f"; seen: {', '.join(seen)}" if seen else ""))
        return self._result

    def _take(self, module, depth: int, place: tuple, arguments: tuple, options: dict) -> None:
        if self._result is not None:
            raise _Captured
        if depth and not self._wanted:
            return
        digest = self._digests.get(module) or self._digests.setdefault(module, digest_of(module))
        self._seen[digest] = True
        if self._wanted and digest != self._wanted:
            return
        self._watch.stop()
        try:
            self._result = self._capture_given(module, arguments, options, [f"called at {_short(place)}"])
        except Exception as error:
            phase = self._phases.current
            self._result = {**self._known, **failure.of(phase, error), "phase": phase}
        raise _Captured


def _short(place: tuple) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"
