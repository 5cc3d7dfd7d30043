"""The straightforward method to count graph breaks, with which the benchmark compares: one process for each model.

    python baseline_explain.py config.json [--architecture CLASS] [--task TASK]

Builds the model in the usual way, calls torch._dynamo.explain on it once and prints one JSON line. Only the reduced
config and the inputs come from the worker's own functions, so that both sides trace the same. It is kept simple on
purpose, and never tuned.
"""

import argparse
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../collectors/capture/worker"))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch  # noqa: E402
import torch._dynamo  # noqa: E402
import transformers  # noqa: E402
from breakwatch_worker.inputs import forward_inputs  # noqa: E402
from breakwatch_worker.inputs.call_variants import CallVariants  # noqa: E402
from breakwatch_worker.model import architecture, sizes  # noqa: E402


def build(cls, config):
    model = cls._from_config(config, dtype=torch.float32) if hasattr(cls, "_from_config") else cls(config)
    return model.eval()


def first_that_runs(cls, config_class, config):
    for variants in (CallVariants(cls), CallVariants(cls, partial=True)):
        for variant in variants:
            for size in sizes.plans(config, "reduced"):
                try:
                    shrunk = size.make(config_class)
                    model = build(cls, shrunk)
                    arguments = forward_inputs.make(model, shrunk, variant)
                    with torch.no_grad():
                        model(**forward_inputs.fresh(arguments))
                    return model, arguments
                except Exception as error:
                    print(f"{type(error).__name__}: {error}", file=sys.stderr)
                    if variants.add_fix(str(error)):
                        break
    raise SystemExit("the model does not run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("--architecture", default="")
    parser.add_argument("--task", default="")
    options = parser.parse_args()
    with open(options.config, encoding="utf-8") as file:
        values = json.load(file)
    job = {"architecture": options.architecture, "task": options.task}

    torch.manual_seed(0)
    transformers.logging.set_verbosity_error()
    config_class = architecture.config_class_of(job, values)
    config, _ = architecture.make_config(config_class, values)
    cls, _ = architecture.model_class_of(job, values, config)
    model, arguments = first_that_runs(cls, config_class, config)
    with torch.no_grad():
        explained = torch._dynamo.explain(model)(**arguments)
    print(json.dumps({"architecture": cls.__name__, "graph_break_count": explained.graph_break_count,
                      "graph_count": explained.graph_count, "op_count": explained.op_count}))


if __name__ == "__main__":
    main()
