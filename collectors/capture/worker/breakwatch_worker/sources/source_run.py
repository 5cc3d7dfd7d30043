"""Captures what a factory returns, or a module that a script calls, with the arguments of that call."""

import importlib
import os
import pickle
import sys
import weakref

import torch

from .. import model_run, suggestions
from ..inputs import copies, forward_inputs
from ..inputs.call_variants import CallVariants
from ..inputs.make_values import CannotMake
from ..model import architecture, build
from ..process import fork
from ..process.ends import CAPTURED
from . import allowed, script
from .call_observer import CallObserver, uncompiled
from .digest import digest_of


def run_class_of(job: dict):
    """The class for `source.kind`. Raises Stop if this zygote may not run the user's code."""
    source = job["source"]
    kinds = {"python": FactoryRun, "script": ScriptRun}
    if not isinstance(source, dict) or source.get("kind") not in kinds:
        raise architecture.Stop("failed_create", "unknown kind of source",
                                "use the worker that belongs to this version of breakwatch")
    if not allowed():
        raise architecture.Stop("skipped_custom_code", "it runs your own code: allow that with --allow-factories",
                                "allow your own code with --allow-factories")
    return kinds[source["kind"]]


_RETURN_BOTH = "let the factory return (module, inputs)"


def _cannot_create(why: str, suggestion: str) -> architecture.Stop:
    return architecture.Stop("failed_create", f"create: {why}", suggestion)


def _name_of(target) -> str:
    return getattr(target, "__qualname__", None) or type(target).__qualname__


class SourceRun(model_run.ModelRun):
    """Captures one module or other callable as it was given. The capture is its first call: nothing calls it before in
    the process that captures."""

    origin = suggestions.OWN

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
        """Makes the eager call in a fork, then captures in another."""
        eager_failure = None
        try:
            finite, learned, params = self._in_fork(self._eager_given)
            self._mode.learn(learned)
            self._known.update(params)
        except model_run.Failed as failed:
            finite, eager_failure = True, failed.result
        if eager_failure is not None and (self._mode.needs_eager or eager_failure["status"] != "failed_eager"):
            return {**self._known, **eager_failure}
        result = self._capture({"finite": finite}, notes)
        if eager_failure is None:
            return result
        if result["status"] != "full_graph":
            return {**self._known, **eager_failure}
        return {**result, "detail": f"{result['detail']}; the eager call fails: {eager_failure['detail']}"}

    def _eager_given(self) -> tuple:
        """(whether the output is finite, what the mode learned, the number of parameters after the call)."""
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
        """Without a fork, captures first. The eager call follows only if the capture does not show that the call runs,
        to find out whether the model or the compiler failed. Both use copies of the arguments."""
        notes = [*notes, "captured before the eager call"]
        self._mode.learn(self._mode.assumed(call))
        assumed = self._mode.learned()
        result = self._capture({"finite": True}, notes)
        if result["status"] in CAPTURED and not (self._mode.stops_early and result["breaks"]):
            return result
        try:
            finite, learned, params = self._eager_given()
        except BaseException as error:  # including a SystemExit of the code
            return {**self._known, **self._failure_of(error)}
        self._known.update(params)
        return result if learned == assumed else self._capture({"finite": finite}, notes)


def _check_fit(call) -> None:
    """Raises Stop if the arguments do not fit the signature."""
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
            raise _cannot_create(
                f"{source['factory']} returned {type(made).__name__}, not a module or another callable", _RETURN_BOTH)
        notes = []
        if arguments is None:
            arguments, options, notes = (), *self._generated(target)
        return self._capture_given(target, arguments, options, notes)

    @staticmethod
    def _make(source: dict):
        for folder in reversed([item for item in source.get("path") or [] if isinstance(item, str)]):
            sys.path.insert(0, folder)
        module, _, name = source["factory"].partition(":")
        found = importlib.import_module(module)
        for part in name.split("."):
            found = _member(found, part)
        if isinstance(found, torch.nn.Module):
            return found
        return found()

    def _generated(self, target) -> tuple:
        """(options, notes) for a module without inputs. Models of transformers get inputs from recipes."""
        config = getattr(target, "config", None)
        if isinstance(target, torch.nn.Module) and hasattr(config, "model_type"):
            return self._generated_in_fork(target, config), ["inputs generated"]
        signature = copies.signature_of(target)
        required = ["inputs"] if signature is None else [
            p.name for p in signature.parameters.values()
            if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        if required:
            raise _cannot_create(f"{_name_of(target)} needs {', '.join(required)}: {_RETURN_BOTH}", _RETURN_BOTH)
        return {}, []

    def _generated_in_fork(self, target, config) -> dict:
        """Makes the inputs in a fork if possible, because parts of the model may be called for them."""
        def make() -> bytes:
            variants = CallVariants(type(target), trains=self._mode.trains)
            try:
                return model_run.pickled(forward_inputs.make(target.eval(), config, next(iter(variants))))
            except CannotMake as error:  # an inputs file has no effect on the user's own code
                raise _cannot_create(str(error), _RETURN_BOTH) from error

        return pickle.loads(self._in_fork(make) if fork.is_possible(copies.tensors_of(target)) else make())


def _member(owner, name: str):
    """The part of a selector after a dot or the colon."""
    try:
        return getattr(owner, name)
    except AttributeError as error:
        here = getattr(owner, "__name__", type(owner).__name__)
        raise _cannot_create(str(error), f"correct the selector: {here} has no {name}") from error


def _go_to(source: dict) -> None:
    """Changes to the user's directory, so that relative paths work. The sandbox makes it read-only."""
    if isinstance(folder := source.get("cwd"), str):
        os.chdir(folder)


def split(made) -> tuple:
    """(callable or None, positional or None, named) from what a factory returned: a callable, or (callable, inputs)."""
    if isinstance(made, (tuple, list)) and len(made) == 2 and callable(made[0]):
        given = made[1]
        if isinstance(given, dict):
            return made[0], (), given
        return made[0], tuple(given) if isinstance(given, (tuple, list)) else (given,), {}
    return (made, None, None) if callable(made) else (None, None, None)


class _Captured(BaseException):
    """Ends the script after the capture. A BaseException, because scripts catch Exception."""


class ScriptRun(SourceRun):
    """Runs the script up to the first call of the module with the given hash, and captures it there."""

    def run(self) -> dict:
        source = self._job["source"]
        self._wanted, self._result = source.get("hash") or "", None
        self._seen = {}  # hashes, in the order of the calls
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
            text = f"no module {self._wanted} was called" if self._wanted else "no module was called"
            seen = list(self._seen)[:8]
            raise _cannot_create(
                text + (f" ({ended})" if ended else "") + (f"; seen: {', '.join(seen)}" if seen else ""),
                f"run `breakwatch discover` again: no module has the hash {self._wanted}" if self._wanted else
                "correct the script: it must call a module")
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
        except BaseException as error:  # including a SystemExit of the code
            self._result = {**self._known, **self._failure_of(error)}
        raise _Captured


def _short(place: tuple) -> str:
    return f"{os.path.basename(place[0])}:{place[1]}"
