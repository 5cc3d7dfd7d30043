"""What torch.compile alone finds in models at a given length. Reads cases from standard input, JSON lists, and writes
one line for each: graphs, operations in them, and Dynamo's own count of breaks. Nothing of the worker is imported."""

import json
import os
import sys

import torch
import transformers
from torch._dynamo.utils import counters


def counted(case: dict) -> dict:
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(**case["config"])
    model = getattr(transformers, case["class"])(config).eval()
    arguments = {name: torch.randint(5, config.vocab_size - 1, (2, tokens)) for name, tokens in case["tokens"].items()}
    arguments["attention_mask"] = torch.ones_like(arguments["input_ids"])
    graphs, operations = 0, 0

    def backend(graph, _):
        nonlocal graphs, operations
        graphs += 1
        operations += sum(node.op in ("call_function", "call_method", "call_module") for node in graph.graph.nodes)
        return graph.forward

    with torch.no_grad():
        model(**arguments)
        torch.compile(model, backend=backend)(**arguments)
    breaks = sum(counters["graph_break"].values())
    return {"graphs": graphs, "ops_captured": operations, "dynamo_counter_breaks": breaks}


def main() -> None:
    torch.set_num_threads(1)
    for case in (case for line in sys.stdin for case in json.loads(line)):
        if (child := os.fork()) == 0:  # each in a process that compiled nothing before
            print(json.dumps(counted(case)), flush=True)
            os._exit(0)
        os.waitpid(child, 0)


if __name__ == "__main__":
    main()
