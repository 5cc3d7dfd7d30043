"""Captures one module in one mode with plain torch. Nothing of breakwatch is imported here.

    python oracle.py <jobs.jsonl          prints one line for each job, in their order

A job is {"module", "mode"}. This process imports torch and never calls it. Each job runs in a fork, so the counted call
is the very first call of the module, of torch.compile and of torch. With one job on its standard input, this program is
an interpreter for that job only. The output of a module is dropped.

The count follows collectors/capture/worker/COUNTING.md ("Break events" and "Modes"). An event is a call of Dynamo's
graph break log for an exception that no inner frame has logged. A site is its (id or reason, file, function, source
line). A graph is a call of the backend.
"""

import contextlib
import importlib
import json
import linecache
import os
import re
import select
import signal
import sys
import time
import traceback
from pathlib import Path

# The imports of a first compilation, once for all forks.
import torch
import torch._dynamo.backends.common
import torch._inductor.compile_fx
import torch.export._trace

LIMIT_S = 240
ANOTHER = "\n\n*** While handling this graph break, another graph break occurred: ***\n\n"
# The first sizes of the three calls of `recompile`, as described in COUNTING.md.
BATCHES = (2, 3, 5)


# --- events -------------------------------------------------------------------------------------------------------


def reason_of(error) -> str:
    """The innermost reason: a break that replaces another one puts its own text in front."""
    inner, outer = error, getattr(error, "gb_type", None)
    if isinstance(error.__cause__, torch._dynamo.exc.UserError):
        inner, outer = error.__cause__, None
    text = getattr(inner, "msg", None) or str(inner)
    return text.split(ANOTHER)[0].split("\n")[0] if ANOTHER in text or not outer else outer


def id_of(reason: str) -> str:
    return torch._dynamo.exc._load_gb_type_to_gb_id_map().get(reason, "")


def site_of(error, code=None) -> tuple:
    """(id or reason, file, line, function, source line) of the innermost frame."""
    reason, stack = reason_of(error), getattr(error, "real_stack", None)
    if stack:
        file, line, function = stack[-1].filename, stack[-1].lineno, stack[-1].name
    elif code is not None:
        file, line, function = code["co_filename"], code["co_firstlineno"], code["co_name"]
    else:
        file, line, function = "", 0, ""
    resumed = re.match(r"torch_dynamo_resume_in_(.+)_at_\d+$", function)
    function = resumed.group(1) if resumed else function
    return id_of(reason) or reason, Path(file).name, line, function, linecache.getline(file, line).strip()


class Events:
    def __init__(self):
        self.sites = []
        self.graphs = 0
        tracer = torch._dynamo.symbolic_convert.InstructionTranslatorBase
        logs = tracer.log_graph_break

        def log_graph_break(translator, code, reason, exc, **more):
            if not exc.logged:
                self.sites.append(site_of(exc, code))
            return logs(translator, code, reason=reason, exc=exc, **more)

        tracer.log_graph_break = log_graph_break

    def backend(self, graph, inputs):
        self.graphs += 1
        return graph.forward

    def differentiated(self, graph, inputs):
        self.graphs += 1
        aot_autograd = torch._dynamo.backends.common.aot_autograd
        return aot_autograd(fw_compiler=lambda g, _: g.forward, bw_compiler=lambda g, _: g.forward)(graph, inputs)

    def numbers(self) -> dict:
        counter = sum(torch._dynamo.utils.counters["graph_break"].values())
        return {"status": "graph_breaks" if self.sites else "full_graph", "breaks": len(self.sites),
                "graphs": self.graphs, "counter": counter, **summary(self.sites)}  # fmt: skip


def summary(sites) -> dict:
    ids, places = {}, {}
    for site in sites:
        name, place = site[0], f"{site[0]} {site[1]}:{site[2]}"
        ids[name] = ids.get(name, 0) + 1
        places[place] = places.get(place, 0) + 1
    distinct = {(name, file, function, line) for name, file, _, function, line in sites}
    return {"sites": len(distinct), "ids": ids, "places": places}


# --- modules ------------------------------------------------------------------------------------------------------


def load(selector: str, batch: int | None = None) -> tuple:
    """(callable, args, kwargs) from a factory or a script's make()."""
    sys.path[:] = [os.getcwd(), *(p for p in sys.path if Path(p or ".").resolve() != Path(__file__).parent.resolve())]
    kind, _, rest = selector.partition(":")
    if kind == "script":
        path = rest.removesuffix(".py").replace("/", ".")
        return importlib.import_module(path).make()
    path, _, name = rest.partition(":")
    module, inputs = getattr(importlib.import_module(path), name)(**({} if batch is None else {"batch": batch}))
    return (module, (), inputs) if isinstance(inputs, dict) else (module, tuple(inputs), {})


def in_mode(module, training: bool):
    if isinstance(module, torch.nn.Module):
        module.train(training)
    return module


def backward(output) -> None:
    """The sum of the floating-point outputs, run backward."""
    leaves = torch.utils._pytree.tree_leaves(output)
    floats = [t for t in leaves if isinstance(t, torch.Tensor) and t.is_floating_point() and t.requires_grad]
    if floats:
        sum(t.sum() for t in floats).backward()


def call(callable_, args, kwargs, training: bool):
    with contextlib.nullcontext() if training else torch.no_grad():
        return callable_(*args, **kwargs)


# --- modes --------------------------------------------------------------------------------------------------------


def one_call(job, events, **options) -> dict:
    training = job["mode"] == "train"
    module, args, kwargs = load(job["module"])
    module = in_mode(module, training)
    compiled = torch.compile(module, backend=events.differentiated if training else events.backend, **options)
    output = call(compiled, args, kwargs, training)
    found = events.numbers()
    if training:
        try:
            backward(output)
        except Exception as error:
            found["backward_error"] = text_of(error)
        found = {**events.numbers(), **{k: found[k] for k in ("backward_error",) if k in found}}
    return found


def nested(job, events) -> dict:
    if not hasattr(torch._dynamo.config, "nested_graph_breaks"):
        return {"status": "skipped_missing_dependency"}
    with torch._dynamo.config.patch(nested_graph_breaks=True):
        return one_call(job, events)


def fullgraph(job, events) -> dict:
    try:
        return one_call(job, events, fullgraph=True)
    except (torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError) as error:
        return {**events.numbers(), "status": "graph_breaks", "breaks": 1, **summary([site_of(error)]),
                "error": text_of(error)}  # fmt: skip


def recompile(job, events) -> dict:
    """Three calls of one compiled module, if its factory can make inputs of other sizes."""
    module, args, kwargs = load(job["module"])
    compiled, shapes = torch.compile(in_mode(module, False), backend=events.backend), []
    call(compiled, args, kwargs, False)
    first = events.numbers()
    shapes.append(shapes_of(args, kwargs))
    for batch in BATCHES[1:]:
        try:
            _, args, kwargs = load(job["module"], batch)
            shapes.append(shapes_of(args, kwargs))
            call(compiled, args, kwargs, False)
        except Exception as error:
            return {"status": first["status"], "first": first["status"], "shapes": [], "later": text_of(error)}
    return {**events.numbers(), "first": first["status"], "shapes": shapes}


def shapes_of(args, kwargs) -> list:
    return sorted(list(t.shape) for t in torch.utils._pytree.tree_leaves((args, kwargs)) if isinstance(t, torch.Tensor))


class Wrapped(torch.nn.Module):
    """torch.export accepts modules only."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def export(job, events) -> dict:
    """One of the two exporters, selected by `strict` of the job; the driver combines them."""
    module, args, kwargs = load(job["module"])
    module = in_mode(module if isinstance(module, torch.nn.Module) else Wrapped(module), False)
    try:
        with torch.no_grad():
            torch.export.export(module, args, kwargs, strict=job["strict"])
        return {"exported": True}
    except Exception as error:
        site = summary([site_of(error)]) if hasattr(error, "real_stack") else {}
        return {"exported": False, "error": text_of(error), "kind": type(error).__name__, **site}


def eager(job, events) -> dict:
    module, args, kwargs = load(job["module"])
    training = job["of"] == "train"
    output = call(in_mode(module, training), args, kwargs, training)
    if training:
        backward(output)
    return {"status": "runs"}


MODES = {
    "eval": one_call, "train": one_call, "dynamic": lambda job, events: one_call(job, events, dynamic=True),
    "nested": nested, "fullgraph": fullgraph, "recompile": recompile, "export": export, "eager": eager,
}  # fmt: skip


def text_of(error) -> str:
    return f"{type(error).__name__}: {error}"[:600]


def answer(job) -> dict:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        return MODES[job["mode"]](job, Events())
    except Exception as error:
        return {"status": "failed", "error": text_of(error), "traceback": traceback.format_exc()[-3000:]}


# --- forks --------------------------------------------------------------------------------------------------------


def forked(job) -> dict:
    """The answer of a child, or the reason for which it has none."""
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            nothing = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nothing, descriptor)
            sys.argv = ["oracle"]
            data = json.dumps(answer(job)).encode()
            while data:
                data = data[os.write(writes, data) :]
        finally:
            os._exit(0)
    os.close(writes)
    data, end = b"", time.monotonic() + LIMIT_S
    while select.select([reads], [], [], max(0, end - time.monotonic()))[0]:
        part = os.read(reads, 65536)
        if not part:
            break
        data += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(reads)
    _, code = os.waitpid(child, 0)
    return json.loads(data) if data else {"status": "lost", "error": f"wait status {code}"}


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(forked(json.loads(line))), flush=True)
