"""Captures every module of the zoo with this process's toolchain and prints the results, one JSON object a line."""

import contextlib
import importlib
import io
import json
import logging
import os
import sys
import warnings

import torch
import zoo_registry
from breakwatch_worker.dynamo import compat
from breakwatch_worker.dynamo.trace import trace

MODULES = ("zoo", "zoo_frames", "zoo_layers", "zoo_blocks", "zoo_iterators", "zoo_raises", "zoo_data", "zoo_shapes",
           "zoo_tensors", "zoo_autograd", "zoo_calls", "zoo_system", "zoo_operators", "zoo_objects", "zoo_times")


def kinds() -> list:
    found = []
    for name in MODULES:
        found += importlib.import_module(name).ALL
    return found


def settled(kind) -> dict:
    """The numbers after the first call of the loggers, because that call runs more frames than later ones. Not cached:
    other code may clear the caches of the loggers."""
    trace(kind().eval(), {"x": torch.ones(3)})
    return trace(kind().eval(), {"x": torch.ones(3)}).numbers()


def capture(kind) -> dict:
    module = kind().train(getattr(kind, "training_mode", False))
    arguments = module.arguments() if hasattr(module, "arguments") else {"x": torch.ones(3)}
    found = trace(module, arguments, **getattr(kind, "options", {}))
    numbers = found.numbers()
    sites = numbers["sites"]
    return {
        "name": kind.__name__, "events": numbers["breaks"], "sites": numbers["break_sites"],
        "graphs": numbers["graphs"], "ops": numbers["ops_captured"], "counter": numbers["dynamo_counter_breaks"],
        "explain": numbers["explain_breaks"], "fallback": numbers["frames_fallback"],
        "recompiles": numbers["recompiles"], "unexplained": numbers["unexplained_events"],
        "ids": sorted({site["gb_id"] for site in sites if site["gb_id"]}),
        "wrapped": sorted({site["wrapped_in"] for site in sites if site["wrapped_in"]}),
        "error": type(found.error).__name__ if found.error is not None else "",
        "details": sites, "segments": numbers["segments"],
    }


def main() -> None:
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    answers = os.fdopen(os.dup(1), "w")
    release = [int(part) for part in torch.__version__.split("+")[0].split(".")[:2]]
    known = {"ids": len(set(compat.registry().values())), "ids_lost": zoo_registry.ids_lost()}
    print(json.dumps({"torch": release, **known}), file=answers)
    for kind in kinds():
        with contextlib.redirect_stdout(io.StringIO()):
            found = capture(kind)
        print(json.dumps(found), file=answers)
    answers.flush()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
