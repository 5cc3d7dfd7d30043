"""`recompile`: the same model called with a second and a third shape. How often it is compiled anew, and why."""

import re

import torch
from torch._dynamo import utils as dynamo_utils

from ..breaks import plain_function, relative_file
from ..copies import copy_of, fresh
from ..lines import clip, one_line
from ..trace import Trace, is_recompile, trace
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


def other_batch(value, batch: int, factor: tuple):
    """Arguments that came without recipes: every tensor whose first size is the batch gets another one."""
    rows = torch.arange(max(batch * factor[0] // factor[1], factor[0] // 2 + 1)) % batch
    return fresh(value, lambda t: copy_of(t, rows if t.dim() and t.shape[0] == batch else None))


def _batch_of(arguments: dict) -> int:
    """The first size of the first tensor that has several, however deep it lies among the arguments; else 1, or 0."""
    sizes = [shape[0] for shape in _shapes(arguments).values() if shape and shape[0] > 0]
    return next((size for size in sizes if size > 1), 1 if sizes else 0)


def _shapes(value, name: str = "") -> dict:
    """Shape of each tensor by its path among the arguments."""
    if isinstance(value, torch.Tensor):
        return {name: list(value.shape)}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    found = {}
    for key, item in items:
        found.update(_shapes(item, f"{name}.{key}" if name else str(key)))
    return found


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
        self._calls = []
        self._trouble = "no argument has a size to change"

    def eager(self, call: Call):
        """The first shape as ever; then the widest change of shape that runs."""
        output = super().eager(call)
        for make in self._ways(call):
            try:
                others = [make(factor) for factor in _FACTORS]
                calls = [call.arguments, *others]
                if not varied([_shapes(arguments) for arguments in calls]):
                    continue
                for arguments in others:
                    with torch.no_grad():
                        call.model(**fresh(arguments))
            except Exception as error:
                self._trouble = f"{type(error).__name__}: {one_line(str(error))}"
                error.__traceback__ = error.__context__ = error.__cause__ = None
                continue
            self._calls = calls
            break
        return output

    def _ways(self, call: Call):
        if call.remake is not None:
            for names in _VARIED:
                yield lambda factor, names=names: call.remake(dict.fromkeys(names, factor))
        if batch := _batch_of(call.arguments):
            yield lambda factor: other_batch(call.arguments, batch, factor)

    def capture(self, call: Call) -> Found:
        if not self._calls:
            return Found(Trace(), status="failed_inputs", detail=f"no second shape: {self._trouble}")
        ends = []
        found = self._trace_all(call, ends)
        metrics = dynamo_utils.get_compilation_metrics()
        detail = self._describe(found, metrics, ends)
        count = f"{found.recompiles} recompile{'' if found.recompiles == 1 else 's'} over {len(ends)} shapes"
        notes = [count] + (["the limit of recompiles was hit"] if detail["limit_hit"] else [])
        # Graphs of several calls: one less is nobody's number.
        return Found(found, notes=notes, mode_detail=detail, without=("explain_breaks",), error=found.error)

    def suppressed(self, call: Call) -> Found:
        return Found(self._trace_all(call, [], suppress_errors=True))

    def _trace_all(self, call: Call, ends: list, suppress_errors: bool = False) -> Trace:
        def call_all(compiled, _):
            for arguments in self._calls:
                compiled(**fresh(arguments))
                ends.append(len(dynamo_utils.get_compilation_metrics()))

        return trace(call.model, {}, suppress_errors, call=call_all)

    def _describe(self, found: Trace, metrics: list, ends: list) -> dict:
        shapes = [_shapes(arguments) for arguments in self._calls]
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
        key = (normalize(item.recompile_reason or "no reason given"), *place)
        folded[key] = folded.get(key, 0) + 1
    return [{"reason": reason, "file": file, "line": line, "function": function, "count": count}
            for (reason, file, line, function), count in list(folded.items())[:_REASONS_KEPT]]
