"""Counts what Dynamo does with one call: graphs, operations, frames and logged breaks."""

import dataclasses
import random
import sys

import torch
import torch._dynamo
from torch._dynamo import utils as dynamo_utils

from . import compat, segments
from .breaks import Event, UserFiles, make_event, sites_of
from .layer_groups import LayerGroups
from .module_paths import Paths, modules_of
from .stacks import calls_above

# Features that counting does not need. The zoo in tests/worker has the same counts with and without them.
_FEATURES_OFF = {
    "run_gc_after_compile": False,
    "automatic_dynamic_local_pgo": False,
    "automatic_dynamic_remote_pgo": False,
    "side_effect_replay_policy": "silent",
}
_METRICS_KEPT = 100_000
seed = 0  # if not 0, the random seed that is set before tracing: a repeat shows what depends on random numbers


@dataclasses.dataclass
class Trace:
    """The counts of one traced call."""

    events: list = dataclasses.field(default_factory=list)
    graphs: int = 0
    ops: int = 0
    counter_breaks: int = 0
    frames_total: int = 0
    frames_ok: int = 0
    recompiles: int = 0
    segments: list = dataclasses.field(default_factory=list)
    parts: list = dataclasses.field(default_factory=list)  # the segments.Graph behind each of `segments`
    layer_groups: set = None  # layer groups whose length could change these numbers; None: unknown, it could be any
    error: BaseException = None

    @property
    def unexplained(self) -> int:
        """Events that Dynamo counted or did not count contrary to their kind, plus increments that belong to no
        event."""
        wrong = sum(event.moved != event.counted for event in self.events)
        return wrong + abs(self.counter_breaks - sum(event.moved for event in self.events))

    def numbers(self) -> dict:
        sites = sites_of(self.events)
        return {
            "graphs": self.graphs,
            "breaks": len(self.events),
            "break_sites": len(sites),
            "dynamo_counter_breaks": self.counter_breaks,
            "explain_breaks": self.graphs - 1,
            "unique_reasons": len({event.gb_id or event.reason for event in self.events}),
            "ops_captured": self.ops,
            "frames_total": self.frames_total,
            "frames_fallback": self.frames_total - self.frames_ok,
            "recompiles": self.recompiles,
            "unexplained_events": self.unexplained,
            "sites": sites,
            "segments": self.segments,
        }


def _compile_id() -> str:
    current = torch._guards.CompileContext.current_compile_id()
    return str(current) if current is not None else ""


class _Breaks:
    """Makes an event of each break that Dynamo logs, and assigns each increment of its counter to an event."""

    def __init__(self, function, events: list):
        self.events = events
        self._paths, self._files = Paths(function), UserFiles()
        self.layer_groups = LayerGroups(self._paths)

    def logged(self, error, text: str, code_options: dict, translator) -> None:
        event = make_event(error, text, code_options, getattr(translator, "lineno", None), _compile_id(),
                           self._files, calls_above())
        modules = modules_of(error, translator)
        event.module_path = self._paths.path_of(modules)
        self.layer_groups.breaks(event, modules, error, translator)
        self.events.append(event)
        error._breakwatch_event = event

    def counted(self, error) -> None:
        event = getattr(error, "_breakwatch_event", None)
        if event is not None:  # an increment without an event is visible in the counter
            event.moved += 1


def reset() -> None:
    compat.reset()


def trace(function, arguments: dict, suppress_errors: bool = False, *, positional: tuple = (), backend=None, call=None,
          grad: bool = False, dynamic=None, fullgraph: bool = False, config: dict = None) -> Trace:
    """Calls `function(*positional, **arguments)` once under a counting backend. Never raises: `error` has the
    exception.

    `backend` compiles each counted graph (default: run it as it is). `call`, if given, gets the compiled function and
    makes the call instead. `config` has further values of torch._dynamo.config.
    """
    found = Trace()
    graphs = []

    def count(graph_module, example_inputs):
        found.graphs += 1
        if found.graphs <= segments.MAX_SEGMENTS:
            graphs.append(segments.Graph(graph_module, _compile_id(), found.events))
        return backend(graph_module, example_inputs) if backend is not None else graph_module.forward

    reset()
    _reseed()
    dynamo_utils.set_compilation_metrics_limit(_METRICS_KEPT)
    breaks = _Breaks(function, found.events)
    patch = compat.known_config({**_FEATURES_OFF, "suppress_errors": suppress_errors, **(config or {})})
    with torch._dynamo.config.patch(patch), compat.listening(
            breaks.logged, breaks.counted, breaks.layer_groups.frame_begins), torch.set_grad_enabled(grad):
        try:
            compiled = torch.compile(function, backend=count, fullgraph=fullgraph, dynamic=dynamic)
            call(compiled) if call is not None else compiled(*positional, **arguments)
        except BaseException as error:  # including a SystemExit of the code
            found.error = error
    found.layer_groups = breaks.layer_groups.groups
    counters = dynamo_utils.counters
    found.ops = counters["stats"]["calls_captured"]
    found.counter_breaks = sum(counters["graph_break"].values())
    found.frames_total = counters["frames"]["total"]
    found.frames_ok = counters["frames"]["ok"]
    metrics = dynamo_utils.get_compilation_metrics()
    found.recompiles = len({str(item.compile_id) for item in metrics if is_recompile(item)})
    found.parts, found.segments = list(graphs), segments.describe(graphs, metrics)
    return found


def _reseed() -> None:
    if seed:
        random.seed(seed)
        torch.manual_seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed)


def is_recompile(metrics) -> bool:
    """Whether the metrics belong to a frame that was compiled before: compile id "3/1", or "!0/3/1" under compiled
    autograd."""
    frame, _, compiled = str(metrics.compile_id or "").rpartition("/")
    return bool(frame) and not compiled.startswith("0")


__all__ = ["Event", "Trace", "is_recompile", "reset", "trace"]
