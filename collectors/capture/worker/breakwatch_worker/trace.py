"""Counts what Dynamo does with one call: graphs, ops, frames, and every break it logs."""

import contextlib
import dataclasses

import torch
import torch._dynamo
from torch._dynamo import symbolic_convert
from torch._dynamo import utils as dynamo_utils

from . import segments
from .breaks import Event, make_event, sites_of
from .module_paths import Paths

# What counting does not need. The zoo in tests/worker gives the same counts with and without.
_QUIET_CONFIG = {
    "run_gc_after_compile": False,
    "automatic_dynamic_local_pgo": False,
    "automatic_dynamic_remote_pgo": False,
}
_METRICS_KEPT = 100_000


@dataclasses.dataclass
class Trace:
    """What one traced call left behind."""

    events: list = dataclasses.field(default_factory=list)
    graphs: int = 0
    ops: int = 0
    counter_breaks: int = 0
    frames_total: int = 0
    frames_ok: int = 0
    recompiles: int = 0
    segments: list = dataclasses.field(default_factory=list)
    error: BaseException = None

    @property
    def unexplained(self) -> int:
        """How far the events of the kind that Dynamo counts are from its count; 0 when all is understood."""
        return abs(sum(event.counted for event in self.events) - self.counter_breaks)

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


@contextlib.contextmanager
def _breaks_into(events: list, paths: Paths):
    """Every break Dynamo logs becomes an event, at the one place through which all of them pass."""
    original = symbolic_convert.InstructionTranslatorBase.log_graph_break

    def log_graph_break(self, code_options, reason, exc):
        if not exc.logged:  # Dynamo itself returns at once for one that was logged further in
            event = make_event(exc, reason, code_options, getattr(self, "lineno", None), _compile_id())
            event.module_path = paths.of(exc, self)
            events.append(event)
        return original(self, code_options, reason, exc)

    symbolic_convert.InstructionTranslatorBase.log_graph_break = log_graph_break
    try:
        yield
    finally:
        symbolic_convert.InstructionTranslatorBase.log_graph_break = original


def reset() -> None:
    torch._dynamo.reset()
    dynamo_utils.counters.clear()
    dynamo_utils.reset_graph_break_dup_checker()
    dynamo_utils.clear_compilation_metrics()


def trace(function, arguments: dict, suppress_errors: bool = False, *, backend=None, call=None, grad: bool = False,
          dynamic=None, fullgraph: bool = False, config: dict = None) -> Trace:
    """Calls `function(**arguments)` once under a counting backend. Never raises: `error` says what came out.

    `backend` compiles each counted graph (default: run it as it is); `call` is given the compiled function and the
    arguments in place of the one call; `config` holds further values of torch._dynamo.config.
    """
    found = Trace()
    graphs = []

    def count(graph_module, example_inputs):
        found.graphs += 1
        if found.graphs <= segments.MAX_SEGMENTS:
            graphs.append(segments.Graph(graph_module, _compile_id(), found.events))
        return backend(graph_module, example_inputs) if backend is not None else graph_module.forward

    reset()
    dynamo_utils.set_compilation_metrics_limit(_METRICS_KEPT)
    patch = {**_QUIET_CONFIG, "suppress_errors": suppress_errors, **(config or {})}
    with torch._dynamo.config.patch(patch), _breaks_into(found.events, Paths(function)), torch.set_grad_enabled(grad):
        try:
            compiled = torch.compile(function, backend=count, fullgraph=fullgraph, dynamic=dynamic)
            call(compiled, arguments) if call is not None else compiled(**arguments)
        except Exception as error:
            found.error = error
    counters = dynamo_utils.counters
    found.ops = counters["stats"]["calls_captured"]
    found.counter_breaks = sum(counters["graph_break"].values())
    found.frames_total = counters["frames"]["total"]
    found.frames_ok = counters["frames"]["ok"]
    metrics = dynamo_utils.get_compilation_metrics()
    found.recompiles = sum(_is_recompile(item) for item in metrics)
    found.segments = segments.describe(graphs, metrics)
    return found


def _is_recompile(metrics) -> bool:
    return "/" in str(metrics.compile_id or "") and not str(metrics.compile_id).split("/")[1].startswith("0")


__all__ = ["Event", "Trace", "reset", "trace"]
