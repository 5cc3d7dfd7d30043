"""The backends: how each makes its version of a graph, and of a whole model. A new one is a class and a line below."""

import copy
import json
import os
import shutil
import subprocess
import tempfile

import torch
from torch.utils import _pytree

from ..artifact import targets
from ..artifact.recording import Flat
from ..compilers import aot_inductor, onnx_runtime, torchscript
from ..compilers.program import exported
from ..modes import exporters
from ..process import tuning
from . import cells
from .pieces import Piece, Skip

_RUNNER = "BREAKWATCH_RUNNER"
_OF_CELL = ("status", "detail", "runs", "failures", "mean_s", "median_s", "low_s", "high_s", "p50_s", "p90_s", "p95_s",
            "p99_s")


class Backend:
    """`with_dynamo`: compiles a graph while Dynamo does, so that sizes may be dynamic. `in_process`: the versions are
    called by the model, in this process."""

    with_dynamo = False
    in_process = True

    def check(self, options, dynamic: bool) -> None:
        """Raises Skip if the backend cannot be used here, or not with dynamic shapes."""

    def compile_graph(self, piece: Piece):
        """A function with the arguments of the graph."""
        raise NotImplementedError

    def compile_model(self, model: torch.nn.Module, positional: tuple, named: dict, dynamic):
        """A function with the arguments of the model. Its outputs are compared as lists of tensors."""
        raise NotImplementedError


class Eager(Backend):
    with_dynamo = True

    def compile_graph(self, piece):
        return piece.eager

    def compile_model(self, model, positional, named, dynamic):
        return model


class Inductor(Backend):
    with_dynamo = True

    def check(self, options, dynamic):
        """Imports and tries the compiler, so that the compile time of the first graph does not contain it."""
        torch.compile(lambda x: x + 1, backend="inductor")(torch.ones(3))

    def compile_graph(self, piece):
        from torch._inductor.compile_fx import compile_fx

        return compile_fx(_same(piece.graph_module), piece.examples)

    def compile_model(self, model, positional, named, dynamic):
        return torch.compile(model, backend="inductor", dynamic=dynamic)


class Exported(Backend):
    """A backend for programs of fixed sizes, which have the model's parameters in them."""

    def check(self, options, dynamic):
        self._options = options
        if dynamic:
            raise Skip("its programs have fixed sizes here: see the profile without dynamic shapes")
        if options.device != "cpu":
            raise Skip("it is measured on the CPU only")

    def compile_graph(self, piece):
        if not piece.has_one_size:
            raise Skip("it is called with arguments of several sizes, and this backend compiles one")
        bound = _Bound(piece)
        if not bound.given:
            raise Skip("it has no tensor as an argument")
        compiled = self._compile(bound, tuple(piece.copies()[place] for place in bound.given), {})
        return lambda *given: compiled(*[given[place] for place in bound.given])

    def compile_model(self, model, positional, named, dynamic):
        exporters.register_caches(model)
        return self._compile(model, positional, named)

    def _compile(self, module, positional: tuple, named: dict):
        raise NotImplementedError


class _Bound(torch.nn.Module):
    """A graph with its parameters, buffers and plain numbers fixed: its arguments are the other tensors."""

    def __init__(self, piece: Piece):
        super().__init__()
        self._graph, self._sources, self.given = piece.graph_module, [], []
        for place, value in enumerate(piece.inputs):
            if not isinstance(value, torch.Tensor):
                self._sources.append(("value", value))
            elif place in piece.owned and piece.has_one_owner:
                fixed = value if isinstance(value, torch.nn.Parameter) else torch.nn.Parameter(value, False)
                self.register_parameter(f"fixed_{place}", fixed)
                self._sources.append(("fixed", f"fixed_{place}"))
            else:
                self._sources.append(("given", len(self.given)))
                self.given.append(place)
        self.eval()

    def forward(self, *given):
        return self._graph(*[given[key] if kind == "given" else getattr(self, key) if kind == "fixed" else key
                             for kind, key in self._sources])


class AotInductor(Exported):
    """A package of AOTInductor, timed by breakwatch-runner in a process of its own without Python."""

    in_process = False

    def __init__(self):
        self.packages = []  # (the piece's number or 0 for a model, package, inputs) in the order of compilation

    def check(self, options, dynamic):
        super().check(options, dynamic)
        if not os.environ.get(_RUNNER):
            raise Skip(f"there is no breakwatch-runner here: {_RUNNER} is not set")
        Inductor().check(options, dynamic)

    def compile_graph(self, piece):
        self._number = piece.number
        return super().compile_graph(piece)

    def compile_model(self, model, positional, named, dynamic):
        self._number = 0
        return super().compile_model(model, positional, named, dynamic)

    def _compile(self, module, positional, named):
        from safetensors.torch import save_file

        folder = tempfile.mkdtemp(prefix="package-")  # removed with the other files of this process
        package, inputs = os.path.join(folder, "package.pt2"), os.path.join(folder, "inputs.safetensors")
        aot_inductor.save(exported(module, positional, named), package)
        tensors = _tensors((positional, named))
        save_file({f"{place:04}": tensor.detach().contiguous().clone() for place, tensor in enumerate(tensors)}, inputs)
        self.packages.append((self._number, package, inputs))
        return aot_inductor.load(package)

    def measure(self, package: str, inputs: str, share: float) -> dict:
        """The cell of a package, from breakwatch-runner. `share` of the time of one cell."""
        command = [os.environ[_RUNNER], "bench", "--package", package, "--inputs", inputs, "--json", "--threads",
                   str(self._options.threads), "--min-runs", str(self._options.min_runs), "--min-s",
                   f"{self._options.min_s * share:.3g}"]
        if tuning.flushes_denormals():
            command.append("--flush-denormals")
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        try:
            answer = json.loads(ran.stdout)
            answer["detail"] = str(answer.get("detail") or "").removeprefix(f"{package}: ")
            return {**{name: answer[name] for name in _OF_CELL if answer.get(name) is not None},
                    "status": answer["status"], "peak_rss_mb": answer.get("peak_rss_mb")}
        except (ValueError, KeyError, TypeError):
            text = ran.stderr.strip() or ran.stdout.strip() or "no output"
            return cells.failed("failed", f"breakwatch-runner ended with {ran.returncode}: {text}")


class OnnxRuntime(Exported):
    def check(self, options, dynamic):
        super().check(options, dynamic)
        if why := targets.find("onnx").why_skipped():
            raise Skip(why)

    def _compile(self, module, positional, named):
        path = os.path.join(tempfile.mkdtemp(prefix="onnx-"), "model.onnx")
        onnx_runtime.save(exported(module, positional, named), path)
        session = onnx_runtime.Session(path, self._options.threads)
        shutil.rmtree(os.path.dirname(path))  # it is loaded
        return lambda *given, **by_name: tuple(session.run(_tensors((given, by_name))))


class TorchScript(Exported):
    def compile_model(self, model, positional, named, dynamic):
        if positional:
            return super().compile_model(model, positional, named, dynamic)
        # A trace returns tensors only, and outputs of models also have caches.
        traced = super().compile_model(Flat(model, named), tuple(_tensors(named)), {}, dynamic)
        return lambda **given: traced(*_tensors(given))

    def _compile(self, module, positional, named):
        try:
            return torchscript.traced(module, positional, named)
        except torchscript.CannotTrace as error:
            raise Skip(str(error)) from error


_TABLE = {"eager": Eager, "inductor": Inductor, "aot_inductor": AotInductor, "onnxruntime": OnnxRuntime,
          "torchscript": TorchScript}


def find(name: str) -> Backend:
    return _TABLE[name]()


def is_in_process(name: str) -> bool:
    return _TABLE[name].in_process


def _same(graph_module):
    """A second module for the same graph, because inductor changes the one that it compiles. Tensors are shared."""
    made = torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))
    made.meta = dict(graph_module.meta)
    return made


def _tensors(value) -> list:
    """The tensors among the arguments, in the order of the call."""
    return [leaf for leaf in _pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]
