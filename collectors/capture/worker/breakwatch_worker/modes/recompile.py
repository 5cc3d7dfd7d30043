"""Mode `recompile`: calls the model with a second and a third shape. Counts recompilations and their reasons."""

import dataclasses
import re

import torch
from torch._dynamo import utils as dynamo_utils

from ..dynamo.breaks import plain_function, relative_file
from ..dynamo.trace import Trace, is_recompile, trace
from ..inputs.copies import CannotCopy, tensors_in, with_rows
from ..text import clip, one_line
from .base import Call, Found, Mode

# Sizes that are changed together, most first: a model with a fixed length may still accept another batch size.
_VARIED = (("batch", "seq", "target", "time", "samples", "side"), ("batch", "seq", "target"), ("batch",))
# Factors of the first shape. No size becomes 1, which Dynamo specialises, and no batch size equals a length.
_FACTORS = ((3, 2), (5, 2))
_REASONS_KEPT = 64
_REASON_BYTES = 400
_LIMIT_TEXT = re.compile(r"(recompile|cache.?size).{0,20}limit|RecompileLimit|CacheLimit", re.I)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b|\b\d{9,}\b")
_ONE_SHAPE = "none: the module accepts one batch size only, or its inputs are fixed"
_PATH = re.compile(r"(?:/[^\s/:]+)+/site-packages/|/(?:[^\s/:]+/)+(?=[^\s/:]+\.py\b)")


def normalize(reason: str) -> str:
    """The text of a guard without parts that differ between runs: compile ids, addresses, package paths."""
    text = re.sub(r"^\[?\d+/\d+\]?: ", "", reason.strip().split("\n", 1)[0])
    return clip(one_line(_ADDRESS.sub("N", _PATH.sub("", text))), _REASON_BYTES)


def other_batch(call: Call, batch: int, factor: tuple) -> Call:
    """The call with another batch size, for arguments without recipes: changes tensors whose first size is the
    batch."""
    rows = torch.arange(max(batch * factor[0] // factor[1], factor[0] // 2 + 1)) % batch
    positional, named = call.given(
        lambda tensor: with_rows(tensor, rows) if tensor.dim() and _size(tensor.shape[0]) == batch else None)
    return dataclasses.replace(call, positional=positional, arguments=named)


def _batch_of(call: Call) -> int:
    """The batch size: the first size above 1 of a tensor in the arguments, at any depth; else 1, or 0 without
    tensors."""
    sizes = [shape[0] for shape in _shapes(call.by_name()).values() if shape and shape[0] > 0]
    return next((size for size in sizes if size > 1), 1 if sizes else 0)


def _size(size) -> int:
    """The size as a number; -1 for a ragged dimension."""
    return size if type(size) is int else -1


def _shapes(value) -> dict:
    """The shape of each tensor, by its path in the arguments."""
    return {name: [_size(size) for size in tensor.shape] for name, tensor in tensors_in(value)}


def varied(shapes: list) -> list:
    """The sizes that differ between the calls: `argument[dimension]`."""
    first, names = shapes[0], []
    for name, shape in first.items():
        names += [f"{name}[{index}]" for index in range(len(shape))
                  if any(len(other.get(name, ())) <= index or other[name][index] != shape[index]
                         for other in shapes[1:])]
    return names


class Recompile(Mode):
    def __init__(self):
        self._chosen = None
        self._trouble = ("no argument has a size to change", _ONE_SHAPE)  # (text, suggestion) without a second shape

    def eager(self, call: Call):
        """Calls with the first shape, then finds the first resizing that runs."""
        resizings, self._chosen = self._resizings(call), None
        # Made before the first call, which may write into its arguments.
        first = self._others(resizings[0]) if resizings else None
        output = super().eager(call)
        for index, resize in enumerate(resizings):
            if self._runs(call, self._others(resize) if index else first):
                self._chosen = index
                break
        return output

    def learned(self):
        return self._chosen, self._trouble

    def learn(self, learned) -> None:
        self._chosen, self._trouble = learned

    def assumed(self, call: Call):
        """The first resizing, without knowing whether it runs."""
        return 0 if self._resizings(call) else None, self._trouble

    def _others(self, resize) -> list:
        """The calls with the second and the third shape; empty if they cannot be made."""
        try:
            return [resize(factor) for factor in _FACTORS]
        except Exception as error:
            self._take(error)
            return []

    def _runs(self, call: Call, others: list) -> bool:
        if not others or not varied([_shapes(each.by_name()) for each in (call, *others)]):
            return False
        try:
            for other in others:
                super().eager(other)
        except BaseException as error:  # including a SystemExit of the code
            self._take(error)
            return False
        return True

    def _take(self, error: BaseException) -> None:
        self._trouble = (one_line(str(error)), error.suggestion) if isinstance(error, CannotCopy) else (
            f"{type(error).__name__}: {one_line(str(error))}", _ONE_SHAPE)
        error.__traceback__ = error.__context__ = error.__cause__ = None

    def _resizings(self, call: Call) -> list:
        """Functions from a factor to the call with resized arguments, those that change most sizes first."""
        resizings = []
        if call.remake is not None:
            resizings = [lambda factor, names=names: dataclasses.replace(
                call, arguments=call.remake(dict.fromkeys(names, factor))) for names in _VARIED]
        batch = _batch_of(call)
        return [*resizings, lambda factor: other_batch(call, batch, factor)] if batch else resizings

    def capture(self, call: Call) -> Found:
        calls, ends = self._calls_of(call) if self._chosen is not None else [call], []
        if len(calls) == 1:  # without an eager call this is found out only now
            text, suggestion = self._trouble
            return Found(Trace(), status="failed_inputs", detail=f"no second shape: {text}", suggestion=suggestion)
        shapes = [_shapes(each.by_name()) for each in calls]
        found = self._trace_all(calls, ends)
        metrics = dynamo_utils.get_compilation_metrics()
        detail = _describe(found, shapes, metrics, ends)
        count = f"{found.recompiles} recompile{'' if found.recompiles == 1 else 's'} over {len(ends)} shapes"
        notes = [count] + (["the recompile limit was reached"] if detail["limit_hit"] else [])
        # explain_breaks is the graphs of one call minus one; here there are several calls.
        return Found(found, notes=notes, mode_detail=detail, without=("explain_breaks",), error=found.error)

    def suppressed(self, call: Call) -> Found:
        return Found(self._trace_all(self._calls_of(call), [], suppress_errors=True))

    def _calls_of(self, call: Call) -> list:
        return [call, *self._others(self._resizings(call)[self._chosen])]

    def _trace_all(self, calls: list, ends: list, suppress_errors: bool = False) -> Trace:
        def call_all(compiled):
            for call in calls:
                positional, named = call.given()
                compiled(*positional, **named)
                ends.append(len(dynamo_utils.get_compilation_metrics()))

        return trace(calls[0].model, {}, suppress_errors, call=call_all)


def _describe(found: Trace, shapes: list, metrics: list, ends: list) -> dict:
    described, start = [], 0
    for index, shape in enumerate(shapes):
        mine = metrics[start:ends[index] if index < len(ends) else len(metrics)]
        start += len(mine)
        ids = {str(item.compile_id) for item in mine}
        described.append({
            "shape": dict(list(shape.items())[:64]), "compiled": len(mine),
            "recompiles": sum(is_recompile(item) for item in mine),
            "breaks": sum(event.compile_id in ids for event in found.events),
        })
    return {
        "shapes": described, "varied": varied(shapes)[:128], "recompiles": found.recompiles,
        "reasons": _reasons(metrics),
        "limit_hit": any(_LIMIT_TEXT.search(f"{item.fail_type or ''} {item.fail_reason or ''}") is not None
                         for item in metrics),
    }


def _reasons(metrics: list) -> list:
    """The failed guards, grouped by text and place, in the order of their first failure."""
    folded = {}
    for item in metrics:
        if not is_recompile(item):
            continue
        place = (relative_file(item.co_filename or "")[0], item.co_firstlineno or 0, plain_function(item.co_name or ""))
        key = (normalize(getattr(item, "recompile_reason", None) or "no reason given"), *place)
        folded[key] = folded.get(key, 0) + 1
    return [{"reason": reason, "file": file, "line": line, "function": function, "count": count}
            for (reason, file, line, function), count in list(folded.items())[:_REASONS_KEPT]]
