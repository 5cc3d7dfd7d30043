"""Captures what a factory returns, or what a script calls with the inputs it calls it with."""

import importlib
import os
import pickle
import sys
import weakref

import torch

from .. import failure, model_run
from ..inputs import copies, forward_inputs
from ..inputs.call_variants import CallVariants
from ..model import architecture, build
from ..process import fork
from ..process.ends import CAPTURED
from . import allowed, script
from .call_observer import CallObserver, uncompiled
from .digest import digest_of


def run_class_of(job: dict):
    """By `source.kind`; refused where this zygote may not run such code."""
    source = job["source"]
    kinds = {"python": FactoryRun, "script": ScriptRun}
    if not isinstance(source, dict) or source.get("kind") not in kinds:
        raise architecture.Stop("failed_create", "a source of a kind that is not known here")
    if not allowed():
        raise architecture.Stop("skipped_custom_code", "it runs code of your own: allow that with --allow-factories")
    return kinds[source["kind"]]


def _name_of(target) -> str:
    return getattr(target, "__qualname__", None) or type(target).__qualname__


class SourceRun(model_run.ModelRun):
    """One module, or any callable, as it was given. What its first call alone does is part of it: in the process that
    captures, it is called by nobody before."""

    def _capture_given(self, target, positional: tuple, named: dict, notes: list) -> dict:
        self._known = {"architecture": _name_of(target), "model_type": "", "dtype": _dtype_of(target),
                       "depth": "original"}
        if isinstance(target, torch.nn.Module):
            self._known["params"] = build.parameter_count(target)
        self._phases.enter("inputs")
        tensors = [*copies.tensors_of(target), *(tensor for _, tensor in copies.tensors_in((positional, named)))]
        call = self._call = self._call_of(target, named, positional=positional, forks=fork.is_possible(tensors))
        self._mode.ready(call)
        return self._capture_cold(call, notes) if call.forks else self._capture_before(call, notes)

    def _capture_cold(self, call, notes: list) -> dict:
        """The call without a compiler is another process's."""
        refused = None
        try:
            finite, learned, params = self._in_fork(self._eager_given)
            self._mode.learn(learned)
            self._known.update(params)
        except model_run.Failed as failed:
            finite, refused = True, failed.result
        if refused is not None and (self._mode.needs_eager or refused["status"] != "failed_eager"):
            return {**self._known, **refused}
        result = self._capture({"finite": finite}, notes)
        if refused is None:
            return result
        if result["status"] != "full_graph":
            return {**self._known, **refused}
        return {**result, "detail": f"{result['detail']}; without a compiler it fails: {refused['detail']}"}

    def _eager_given(self) -> tuple:
        """(whether its output is finite, what the mode learned, the parameters there are then)."""
        self._phases.enter("eager")
        target = self._call.model
        try:
            output = self._mode.eager(self._call)
        except TypeError:
            _check_fit(self._call)
            raise
        params = {"params": build.parameter_count(target)} if isinstance(target, torch.nn.Module) else {}
        return forward_inputs.is_finite(output), self._mode.learned(), params

    def _capture_before(self, call, notes: list) -> dict:
        """Where there can be no fork, the capture comes first, and the call without a compiler only where that does not
        show that the call runs, to say whose failure it is: both with copies, as there are two calls."""
        notes = [*notes, "captured before it was called without a compiler"]
        self._mode.learn(self._mode.untaught(call))
        assumed = self._mode.learned()
        result = self._capture({"finite": True}, notes)
        if result["status"] in CAPTURED and not (self._mode.stops_early and result["breaks"]):
            return result
        try:
            finite, learned, params = self._eager_given()
        except BaseException as error:  # the code's own SystemExit too
            return {**self._known, **failure.result_of("eager", error), "phase": "eager"}
        self._known.update(params)
        return result if learned == assumed else self._capture({"finite": finite}, notes)


def _check_fit(call) -> None:
    """Raises Stop for inputs that the signature has no place for."""
    signature = copies.signature_of(call.model)
    if signature is None:
        return
    try:
        signature.bind(*call.positional, **call.arguments)
    except TypeError as error:
        raise architecture.Stop(
            "failed_inputs", f"inputs: these inputs do not fit {_name_of(call.model)}: {error}") from error


def _dtype_of(target) -> str:
    first = next(target.parameters(), None) if isinstance(target, torch.nn.Module) else None
    return str(first.dtype).removeprefix("torch.") if first is not None else "float32"


class FactoryRun(SourceRun):
    def run(self) -> dict:
        source = self._job["source"]
        _go_to(source)
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

    def _made_up(self, target) -> tuple:
        """(options, notes) for a module that came alone: transformers' are called as any other of theirs."""
        config = getattr(target, "config", None)
        if isinstance(target, torch.nn.Module) and hasattr(config, "model_type"):
            return self._made_apart(target, config), ["inputs made up"]
        signature = copies.signature_of(target)
        required = ["inputs"] if signature is None else [
            p.name for p in signature.parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if required:
            raise ValueError(f"{_name_of(target)} needs {', '.join(required)}: let the factory return (module, inputs)")
        return {}, []

    def _made_apart(self, target, config) -> dict:
        """Parts of the model may be called for them."""
        def make() -> bytes:
            variants = CallVariants(type(target), trains=self._mode.trains)
            return model_run.pickled(forward_inputs.make(target.eval(), config, next(iter(variants))))

        return pickle.loads(self._in_fork(make) if fork.is_possible(copies.tensors_of(target)) else make())


def _go_to(source: dict) -> None:
    """Where the user was: files are found from there. Nothing can be written there."""
    if isinstance(folder := source.get("cwd"), str):
        os.chdir(folder)


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


class ScriptRun(SourceRun):
    """Runs the script again up to the first call of the module with that hash, and captures it in that place."""

    def run(self) -> dict:
        source = self._job["source"]
        self._wanted, self._result = source.get("hash") or "", None
        self._seen = {}  # digests, in the order they were met
        self._digests = weakref.WeakKeyDictionary()
        self._observer = CallObserver(self._take)
        _go_to(source)
        ended = ""
        try:
            with self._observer.active():
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
        self._observer.stop()
        try:
            self._result = self._capture_given(module, arguments, options, [f"called at {_short(place)}"])
        except BaseException as error:  # the code's own SystemExit too
            phase = self._phases.current
            self._result = {**self._known, **failure.result_of(phase, error), "phase": phase}
        raise _Captured


def _short(place: tuple) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"
