"""What the zygote does once for all captures: it imports libraries and traces two tiny models."""

import gc
import importlib
import logging
import os
import warnings

# Frequent model families: the zygote imports their modelling modules. Others are imported in the child process.
_MODELLING = ("bert", "llama", "gpt2", "vit", "t5", "clip", "qwen2", "whisper", "roberta", "mistral", "siglip", "bart")


def prepare() -> None:
    gc.disable()  # imports leave no garbage, and searching for it takes a tenth of the start
    try:
        _import_and_trace()
    finally:
        gc.enable()


def _import_and_trace() -> None:
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    import torch._dynamo
    import torch._dynamo.variables  # noqa: F401
    import transformers
    from transformers import modeling_outputs, modeling_utils  # noqa: F401
    from transformers.models.auto import modeling_auto  # noqa: F401

    transformers.logging.set_verbosity_error()
    logging.getLogger("torch").setLevel(logging.CRITICAL)
    for name in ("transformers.masking_utils", "timm", "torchvision", "torchvision.ops", "scipy.optimize",
                 "torchvision.transforms.v2.functional"):
        _try_import(name)
    for name in _MODELLING:
        _try_import(f"transformers.models.{name}.modeling_{name}")

    from .. import model_run  # noqa: F401
    from ..dynamo import logging_off, trace  # noqa: F401
    from ..inputs import forward_inputs  # noqa: F401
    from ..model import architecture, build, config_fixes, sizes, weights  # noqa: F401
    from ..modes import table  # noqa: F401
    from . import child  # noqa: F401

    forward_inputs.load_recipes()
    config_fixes.load_fixes()
    sizes.load_rules()
    weights.block()
    logging_off.turn_logging_off()
    _trace_tiny(trace)


def _try_import(name: str) -> None:
    try:
        importlib.import_module(name)
    except Exception as error:  # a broken optional package must not end the zygote
        print(f"breakwatch_worker: {name} not imported: {error}", file=os.fdopen(os.dup(2), "w"))


def _trace_tiny(trace) -> None:
    """Runs Dynamo's lazy initialisation on a Llama of one layer and a module that breaks. More would save no time."""
    import torch
    import transformers

    from ..model import build

    model = build.construct(transformers.LlamaForCausalLM, transformers.LlamaConfig(
        num_hidden_layers=1, hidden_size=32, num_attention_heads=2, num_key_value_heads=2, intermediate_size=32,
        vocab_size=64))
    ids = torch.ones(2, 8, dtype=torch.long)
    with torch.no_grad():
        model(input_ids=ids)
    trace.trace(model, {"input_ids": ids})
    trace.trace(_Breaking(), {"x": torch.ones(2, 2)})
    trace.reset()


def _breaking_class():
    import torch

    class Breaking(torch.nn.Module):
        def forward(self, x):
            x = x + 1
            torch._dynamo.graph_break()
            if x.sum() > 0:
                x = x * 2
            return x

    return Breaking


def _Breaking():  # noqa: N802
    return _breaking_class()()
