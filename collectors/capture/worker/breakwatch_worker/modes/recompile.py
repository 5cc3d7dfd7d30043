"""`recompile`: the same model called with a second and a third shape. How often it is compiled anew, and why."""

import dataclasses
import re

import torch
from torch._dynamo import utils as dynamo_utils

from ..dynamo.breaks import plain_function, relative_file
from ..dynamo.trace import Trace, is_recompile, trace
from ..inputs.copies import CannotCopy, tensors_in, with_rows
from ..text import clip, one_line
from .base import Call, Found, Mode

# Sizes changed together, most first: a model that takes one length only still takes another batch.
_VARIED = (("batch", "seq", "target", "time", "samples", "side"), ("batch", "seq", "target"), ("batch",))
# Of the first shape: none becomes 1, which is a case of its own, and no two of a batch and a length become equal.
_FACTORS = ((3, 2), (5, 2))
_REASONS_KEPT = 64
_REASON_BYTES = 400
_LIMIT_TEXT = re.compile(r"(recompile|cache.?size).{0,20}limit|RecompileLimit|CacheLimit", re.I)
_ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b|\b\d{9,}\b")
_PATH = re.compile(r"(?:/[^\s/:]+)+/site-packages/|/(?:[^\s/:]+/)+(?=[^\s/:]+\.py\b)")


def normalize(reason: str) -> str:
    """A guard's text without what differs from run to run: compile ids, addresses, where packages lie."""
    text = re.sub(r"^\[?\d+/\d+\]?: ", "", reason.strip().split("\n", 1)[0])
    return clip(one_line(_ADDRESS.sub("N", _PATH.sub("", text))), _REASON_BYTES)


def other_batch(call: Call, batch: int, factor: tuple) -> Call:
    """Of arguments that came without recipes: every tensor whose first size is the batch gets another one."""
    rows = torch.arange(max(batch * factor[0] // factor[1], factor[0] // 2 + 1)) % batch
    positional, named = call.given(
        lambda tensor: with_rows(tensor, rows) if tensor.dim() and _size(tensor.shape[0]) == batch else None)
    return dataclasses.replace(call, positional=positional, arguments=named)


def _batch_of(call: Call) -> int:
    """The first size of the first tensor that has several, however deep it lies among the arguments; else 1, or 0."""
    sizes = [shape[0] for shape in _shapes(call.by_name()).values() if shape and shape[0] > 0]
    return next((size for size in sizes if size > 1), 1 if sizes else 0)


def _size(size) -> int:
    """-1 for that of a dimension in which each row has its own."""
    return size if type(size) is int else -1


def _shapes(value) -> dict:
    """Shape of each tensor by its path among the arguments."""
    return {name: [_size(size) for size in tensor.shape] for name, tensor in tensors_in(value)}


def varied(shapes: list) -> list:
    """Which sizes differ between the calls: `argument[dimension]`."""
    first, names = shapes[0], []
    for name, shape in first.items():
        names += [f"{name}[{index}]" for index in range(len(shape))
                  if any(len(other.get(name, ())) <= index or other[name][index] != shape[index]
                         for other in shapes[1:])]
    return names


class Recompile(Mode):
    def __init__(self):
        self._way, self._trouble = None, "no argument has a size to change"

    def eager(self, call: Call):
        """The first shape as ever; then the widest change of shape that runs."""
        ways, self._way = self._ways(call), None
        # What the first call writes into, no other is made of.
        first = self._others(ways[0]) if ways else None
        output = super().eager(call)
        for index, way in enumerate(ways):
            if self._runs(call, self._others(way) if index else first):
                self._way = index
                break
        return output

    def learned(self):
        return self._way, self._trouble

    def learn(self, learned) -> None:
        self._way, self._trouble = learned

    def untaught(self, call: Call):
        """The widest change of shape, whether it runs or not."""
        return 0 if self._ways(call) else None, self._trouble

    def _others(self, way) -> list:
        """The calls of the second and the third shape; none where they cannot be made."""
        try:
            return [way(factor) for factor in _FACTORS]
        except Exception as error:
            self._take(error)
            return []

    def _runs(self, call: Call, others: list) -> bool:
        if not others or not varied([_shapes(each.by_name()) for each in (call, *others)]):
            return False
        try:
            for other in others:
                super().eager(other)
        except BaseException as error:  # the code's own SystemExit too
            self._take(error)
            return False
        return True

    def _take(self, error: BaseException) -> None:
        kind = "" if isinstance(error, CannotCopy) else f"{type(error).__name__}: "
        self._trouble = kind + one_line(str(error))
        error.__traceback__ = error.__context__ = error.__cause__ = None

    def _ways(self, call: Call) -> list:
        """Functions from a factor of the sizes to the call with them."""
        ways = []
        if call.remake is not None:
            ways = [lambda factor, names=names: dataclasses.replace(
                call, arguments=call.remake(dict.fromkeys(names, factor))) for names in _VARIED]
        batch = _batch_of(call)
        return [*ways, lambda factor: other_batch(call, batch, factor)] if batch else ways

    def capture(self, call: Call) -> Found:
        if self._way is None:
            return Found(Trace(), status="failed_inputs", detail=f"no second shape: {self._trouble}")
        calls, ends = self._calls_of(call), []
        if len(calls) == 1:  # no eager call said so before
            return Found(Trace(), status="failed_inputs", detail=f"no second shape: {self._trouble}")
        shapes = [_shapes(each.by_name()) for each in calls]
        found = self._trace_all(calls, ends)
        metrics = dynamo_utils.get_compilation_metrics()
        detail = _describe(found, shapes, metrics, ends)
        count = f"{found.recompiles} recompile{'' if found.recompiles == 1 else 's'} over {len(ends)} shapes"
        notes = [count] + (["the limit of recompiles was hit"] if detail["limit_hit"] else [])
        # Graphs of several calls: one less is nobody's number.
        return Found(found, notes=notes, mode_detail=detail, without=("explain_breaks",), error=found.error)

    def suppressed(self, call: Call) -> Found:
        return Found(self._trace_all(self._calls_of(call), [], suppress_errors=True))

    def _calls_of(self, call: Call) -> list:
        return [call, *self._others(self._ways(call)[self._way])]

    def _trace_all(self, calls: list, ends: list, suppress_errors: bool = False) -> Trace:
        def call_all(compiled):
            for call in calls:
                positional, named = call.given()
                compiled(*positional, **named)
                ends.append(len(dynamo_utils.get_compilation_metrics()))

        return trace(calls[0].model, {}, suppress_errors, call=call_all)


def _describe(found: Trace, shapes: list, metrics: list, ends: list) -> dict:
    told, start = [], 0
    for index, shape in enumerate(shapes):
        mine = metrics[start:ends[index] if index < len(ends) else len(metrics)]
        start += len(mine)
        ids = {str(item.compile_id) for item in mine}
        told.append({
            "shape": dict(list(shape.items())[:64]), "compiled": len(mine),
            "recompiles": sum(is_recompile(item) for item in mine),
            "breaks": sum(event.compile_id in ids for event in found.events),
        })
    return {
        "shapes": told, "varied": varied(shapes)[:128], "recompiles": found.recompiles,
        "reasons": _reasons(metrics),
        "limit_hit": any(_LIMIT_TEXT.search(f"{item.fail_type or ''} {item.fail_reason or ''}") is not None
                         for item in metrics),
    }


def _reasons(metrics: list) -> list:
    """The guards that failed, folded by text and place, in the order first met."""
    folded = {}
    for item in metrics:
        if not is_recompile(item):
            continue
        place = (relative_file(item.co_filename or "")[0], item.co_firstlineno or 0, plain_function(item.co_name or ""))
        key = (normalize(getattr(item, "recompile_reason", None) or "no reason given"), *place)
        folded[key] = folded.get(key, 0) + 1
    return [{"reason": reason, "file": file, "line": line, "function": function, "count": count}
            for (reason, file, line, function), count in list(folded.items())[:_REASONS_KEPT]]
