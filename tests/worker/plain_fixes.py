"""Applies printed lines of Python to library models with torch and transformers alone, and prints what Dynamo says.

    python plain_fixes.py FILE

FILE has a line of JSON for each claim: the file of the model's call, and the lines. The answer is a line of JSON for
each: graphs and breaks. Each claim is applied in a fork that has not compiled anything.
"""

import importlib
import json
import os
import pathlib
import pickle
import sys

import torch
import torch._dynamo
import transformers


def model_of(path: str) -> tuple:
    with open(path, "rb") as file:
        kept = pickle.load(file)
    torch.manual_seed(0)
    cls = getattr(importlib.import_module(kept["module"]), kept["class"])
    return cls(kept["config"]).eval(), kept["inputs"]


def explained(model, inputs: dict, lines: list) -> dict:
    """By torch._dynamo.explain. It compiles the model itself, so what the lines pass to torch.compile is not in it: a
    model that is compiled with fullgraph=True is also called."""
    names = {"torch": torch, "model": model, "inputs": inputs}
    with torch.no_grad():
        model(**inputs)
        exec("\n".join(lines), names)
        if "fullgraph=True" in lines[-1]:
            graphs = []

            def count(graph, _):
                graphs.append(graph)
                return graph.forward

            torch.compile(model, fullgraph=True, backend=count)(**inputs)
            return {"graphs": len(graphs), "breaks": 0}
        found = torch._dynamo.explain(model)(**inputs)
    return {"graphs": found.graph_count, "breaks": found.graph_break_count}


def answer(call: tuple, lines: list) -> None:
    """In a fork. Never returns."""
    try:
        found = explained(*call, lines)
    except BaseException as error:
        found = {"error": f"{type(error).__name__}: {error}"[:500]}
    print(json.dumps(found), flush=True)
    os._exit(0)


def main() -> None:
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    path = call = None
    for claim in map(json.loads, pathlib.Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()):
        if claim["call"] != path:
            path, call = claim["call"], model_of(claim["call"])
        if (pid := os.fork()) == 0:
            answer(call, claim["python"])
        os.waitpid(pid, 0)
    assert not [name for name in sys.modules if name.startswith("breakwatch")]


if __name__ == "__main__":
    main()
