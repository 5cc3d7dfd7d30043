"""What torch.compile alone finds in a factory's module, without breakwatch. Captures are compared with it.

    python plain_torch.py MODULE < lines of {"name": factory, "mode": mode}

It prints one line of numbers for each input line. A factory of another module is MODULE:FACTORY. Each is counted in its
own fork of a process that called none of them.
"""

import contextlib
import importlib
import inspect
import io
import json
import logging
import os
import sys
import traceback
import warnings

import torch
import torch._dynamo
from torch._dynamo import symbolic_convert
from torch._dynamo.backends.debugging import aot_eager
from torch._dynamo.utils import counters


def split(made) -> tuple:
    if not (isinstance(made, tuple) and callable(made[0])):
        return made, (), {}
    target, given = made
    return (target, (), given) if isinstance(given, dict) else (target, given, {})


def listen(events: list) -> bool:
    """Whether this torch logs every break in one place, exactly once."""
    original = getattr(symbolic_convert.InstructionTranslatorBase, "log_graph_break", None)
    if original is None or "exc" not in inspect.signature(original).parameters:
        return False

    def log_graph_break(self, code_options, reason, exc):
        events.extend([] if exc.logged else [reason])
        return original(self, code_options, reason=reason, exc=exc)

    symbolic_convert.InstructionTranslatorBase.log_graph_break = log_graph_break
    return True


def compiled(target, arguments: tuple, options: dict, mode: str) -> dict:
    events, graphs = [], []
    listens = listen(events)

    def count(graph, inputs):
        graphs.append(graph)
        return aot_eager(graph, inputs) if mode == "train" else graph.forward

    config = {"nested_graph_breaks": True} if mode == "nested" else {}
    with torch._dynamo.config.patch(config), torch.set_grad_enabled(mode == "train"):
        model = torch.compile(target, backend=count, dynamic=True if mode == "dynamic" else None,
                              fullgraph=mode == "fullgraph")
        try:
            output = model(*arguments, **options)
        except (torch._dynamo.exc.Unsupported, torch._dynamo.exc.UserError):
            if mode != "fullgraph":
                raise
            return {"breaks": 1, "graphs": len(graphs), "dynamo_counter_breaks": _counted()}
        for rows in (3, 5) if mode == "recompile" else ():
            model(*(x[torch.arange(rows) % len(x)] for x in arguments))
        if mode == "train" and output.requires_grad:
            output.sum().backward()
    return {"breaks": len(events) if listens else None, "graphs": len(graphs),
            "dynamo_counter_breaks": _counted()}


def _counted() -> int:
    return sum(counters["graph_break"].values())


def found(default: str, name: str, mode: str) -> dict:
    module, _, factory = name.rpartition(":")
    target, arguments, options = split(getattr(importlib.import_module(module or default), factory)())
    owner = getattr(target, "__self__", target)  # of a method
    if isinstance(owner, torch.nn.Module):
        owner.train(mode == "train")
    try:
        return {**compiled(target, arguments, options, mode), "error": ""}
    except Exception as error:
        return {"error": type(error).__name__}


def apart(function, *arguments) -> str:
    """The answer of a fork."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        torch.set_num_threads(1)  # The first caller after a fork creates torch's thread pool again, without a lock.
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                answer = json.dumps(function(*arguments))
            os.write(writer, answer.encode())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        answer = file.read()
    os.waitpid(pid, 0)
    return answer


def main() -> None:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    sys.path.insert(0, os.getcwd())
    importlib.import_module(sys.argv[1])
    # The compiler's first steps cost time once. There is no backward here, because forks could not run autograd again.
    for backend in ("eager", aot_eager):
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(2))
    torch._dynamo.reset()
    counters.clear()
    for line in sys.stdin:
        wanted = json.loads(line)
        answer = json.loads(apart(found, sys.argv[1], wanted["name"], wanted["mode"]))
        print(json.dumps({**wanted, **answer}), flush=True)


if __name__ == "__main__":
    main()
