"""One measurement: the profiles of a job, from the call that was captured."""

import contextlib

from ..inputs import forward_inputs
from ..inputs.copies import tensors_of
from ..modes.base import Call
from . import cells, noise, resize, schedule, tables
from .contenders import Contender, GraphsContender, ModelContender, Subject, contender
from .lanes import Lane
from .options import PLAIN, Options

# Settings of Dynamo that remove breaks, in the order in which they are tried for the whole model as one graph.
WHOLE = [
    ("fullgraph", {}),
    ("capture_scalar_outputs", {"capture_scalar_outputs": True}),
    ("capture_dynamic_output_shape_ops", {"capture_dynamic_output_shape_ops": True}),
    ("capture_scalar_outputs, capture_dynamic_output_shape_ops",
     {"capture_scalar_outputs": True, "capture_dynamic_output_shape_ops": True}),
]
_REFERENCE = "eager"  # its graphs name the segments of a profile
_WHOLE_BACKENDS = ("eager", "inductor")


class Measurement:
    """`detail()` is the `mode_detail` of the result."""

    def __init__(self, call: Call, options: Options, in_graphs: bool):
        self._call, self._options = call, options
        self._measure = {**options.described(), "dtype": _dtype_of(call),
                         "size": "published" if call.published else "reduced"}
        self._in_graphs = in_graphs
        self._budget = schedule.Budget(call.limit_s)

    def detail(self) -> dict:
        before = noise.measure()
        wanted = [(batch, False) for batch in self._options.batches]
        wanted += [(self._options.batches[0], True)] if self._options.dynamic else []
        profiles = []
        for place, (batch, dynamic) in enumerate(wanted):
            profiles.append(self._profile(batch, dynamic, self._budget.part(len(wanted) - place)))
        return {"measure": self._measure, "noise": noise.described(before, noise.measure()), "profiles": profiles}

    def _profile(self, batch: int, dynamic: bool, budget: schedule.Budget) -> dict:
        try:
            call = self._resized(batch)
        except Exception as error:  # of a recipe, or of code of the model that makes a part of the arguments
            cell = cells.failed("failed", f"no call with batch size {batch}: {error}")
            return {"batch": batch, "seq": self._options.seq, "dynamic": dynamic,
                    **tables.without_numbers(self._options, cell, self._in_graphs)}
        described = {"batch": resize.batch_of(call) if call.remake is None else batch,
                     "seq": self._options.seq or resize.length_of(call), "dynamic": dynamic,
                     "inputs": forward_inputs.describe(call.by_name())}
        subject = Subject(call.model, call.positional, call.arguments, dynamic)
        measured = self._graphs(subject, budget) if self._in_graphs else self._models(subject, budget)
        return tables.with_throughput({**described, **measured})

    def _resized(self, batch: int) -> Call:
        if self._call.remake is None and self._options.batches == (1,) and not self._options.seq:
            return self._call  # the user's own arguments, or those that another library's model is made for
        return resize.resized(self._call, batch, self._options.seq)

    def _graphs(self, subject: Subject, budget: schedule.Budget) -> dict:
        names = dict.fromkeys((_REFERENCE, *self._options.backends))
        with contextlib.ExitStack() as stack:
            lanes = {PLAIN: self._lane(stack, PLAIN, Contender(subject, self._options))}
            for name in names:
                lanes[name] = self._lane(stack, name, contender(subject, self._options, name))
            schedule.prepare(list(lanes.values()), budget)
            whole = self._whole_lanes(stack, subject, lanes[_REFERENCE], budget)
            everything = [*lanes.values(), *whole.values()]
            schedule.measure(everything, budget)
            found = schedule.finish(everything)
        return tables.profile(self._options, lanes, found, whole)

    def _whole_lanes(self, stack, subject: Subject, reference: Lane, budget: schedule.Budget) -> dict:
        """The lanes of the model as one graph, by backend. None if it is one graph without further settings: its lanes
        are those of the profile."""
        if not reference.alive or tables.is_whole(reference.answer):
            return {}
        made, settings = {}, WHOLE
        for name in _WHOLE_BACKENDS:
            if name != _REFERENCE and name not in self._options.backends:
                continue
            lane = self._lane(stack, f"whole {name}", GraphsContender(subject, self._options, name, settings))
            schedule.prepare([lane], budget)
            made[name] = lane
            if not lane.alive:
                break
            settings = [entry for entry in WHOLE if entry[0] == lane.answer["how"]]
        return made

    def _models(self, subject: Subject, budget: schedule.Budget) -> dict:
        with contextlib.ExitStack() as stack:
            lanes = {name: self._lane(stack, name, ModelContender(subject, self._options, name))
                     for name in self._options.backends}
            schedule.prepare(list(lanes.values()), budget)
            schedule.measure(list(lanes.values()), budget)
            found = schedule.finish(list(lanes.values()))
        return tables.bench(self._options, lanes, found)

    def _lane(self, stack, name: str, made: Contender) -> Lane:
        lane = Lane(name, made, self._call.limit_bytes)
        stack.callback(lane.close)
        return lane


def _dtype_of(call: Call) -> str:
    """The dtype of the model: that of its first parameter."""
    first = next(iter(tensors_of(call.model)), None)
    return str(first.dtype).removeprefix("torch.") if first is not None else "float32"
