"""The content of each captured graph, and the break that ended it. Counts what the backend receives anyway."""

import collections
import re

from ..text import clip
from .breaks import plain_function, relative_file

MAX_SEGMENTS = 512
_TOP_OPS = 16
_NAME_BYTES = 120
_RESUMED_AT = re.compile(r"^torch_dynamo_resume_in_.+_at_(\d+)$")


class Graph:
    """The counts of one graph. Does not keep the graph alive."""

    __slots__ = ("compile_id", "ops", "names", "inputs", "ended_by", "met")

    def __init__(self, graph_module, compile_id: str, events: list):
        kinds = collections.Counter()
        names = collections.Counter()
        for node in graph_module.graph.nodes:
            kinds[node.op] += 1
            if node.op.startswith("call_"):
                names[_name_of(node, graph_module)] += 1
        self.inputs = kinds.pop("placeholder", 0)
        kinds.pop("output", None)
        self.compile_id, self.ops, self.names = compile_id, dict(kinds), names
        self.ended_by = _ended_by(graph_module, compile_id, events)
        self.met = len(events)  # breaks logged before this graph was made


def _name_of(node, graph_module) -> str:
    target = node.target
    if node.op == "call_method":
        name = f"Tensor.{target}"
    elif node.op == "call_module":
        name = type(graph_module.get_submodule(target)).__name__
    else:
        name = getattr(target, "__name__", None) or str(target)
    return clip(name, _NAME_BYTES)


def _ended_by(graph_module, compile_id: str, events: list):
    """The break that ends the graph of this frame: a frame compiles one graph, up to the last break it logged."""
    reason = getattr(graph_module, "compile_subgraph_reason", None)
    if reason is not None and not getattr(reason, "graph_break", True):
        return None
    return next((event for event in reversed(events) if event.compile_id == compile_id), None)


def describe(graphs: list, metrics: list) -> list:
    """The protocol's `segments`. Places and guards of frames come from Dynamo's metrics of each compilation."""
    frames = {}
    for item in metrics:  # those of the forward come first and name the frame; a backward has the same id
        frames.setdefault(str(item.compile_id), item)
    return [_segment(index, graph, frames.get(graph.compile_id))
            for index, graph in enumerate(graphs[:MAX_SEGMENTS])]


def _segment(index: int, graph: Graph, frame) -> dict:
    name = getattr(frame, "co_name", None) or ""
    resumed = _RESUMED_AT.match(name)
    top = sorted(graph.names.items(), key=lambda item: (-item[1], item[0]))[:_TOP_OPS]
    return {
        "index": index,
        "compile_id": graph.compile_id,
        "file": relative_file(getattr(frame, "co_filename", None) or "")[0],
        "line": int(resumed.group(1)) if resumed else getattr(frame, "co_firstlineno", None) or 0,
        "function": plain_function(name),
        "ops": graph.ops,
        "ops_total": sum(graph.names.values()),
        "top_ops": dict(top),
        "inputs": graph.inputs,
        "guards": getattr(frame, "guard_count", None),
        "ended_by": graph.ended_by.site_id if graph.ended_by is not None else "",
    }
