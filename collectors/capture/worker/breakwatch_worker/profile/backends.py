"""The backends: how each makes its version of a graph, and of a whole model. A new one is a class and a line below."""

import copy
import json
import os
import subprocess
import tempfile

import torch
from torch.utils import _pytree

from ..modes import exporters
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
        self._folder = tempfile.mkdtemp(prefix="aot-")
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
        from torch._inductor import aoti_compile_and_package, aoti_load_package

        program = torch.export.export(module, positional, named, strict=False)
        package = os.path.join(self._folder, f"{self._number}.pt2")
        aoti_compile_and_package(program, package_path=package,
                                 inductor_configs={"aot_inductor.link_libtorch": False})
        inputs = os.path.join(self._folder, f"{self._number}.safetensors")
        tensors = _tensors((positional, named))
        save_file({f"{place:04}": tensor.detach().contiguous().clone() for place, tensor in enumerate(tensors)}, inputs)
        self.packages.append((self._number, package, inputs))
        _show_libtorch()
        return aoti_load_package(package)

    def measure(self, package: str, inputs: str, share: float) -> dict:
        """The cell of a package, from breakwatch-runner. `share` of the time of one cell."""
        command = [os.environ[_RUNNER], "bench", "--package", package, "--inputs", inputs, "--json", "--threads",
                   str(self._options.threads), "--min-runs", str(self._options.min_runs), "--min-s",
                   f"{self._options.min_s * share:.3g}"]
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        try:
            answer = json.loads(ran.stdout)
            return {**{name: answer[name] for name in _OF_CELL if answer.get(name) is not None},
                    "status": answer["status"], "peak_rss_mb": answer.get("peak_rss_mb")}
        except (ValueError, KeyError, TypeError):
            text = ran.stderr.strip() or ran.stdout.strip() or "no output"
            return cells.failed("failed", f"breakwatch-runner ended with {ran.returncode}: {text}")


class OnnxRuntime(Exported):
    def check(self, options, dynamic):
        super().check(options, dynamic)
        for package in ("onnx", "onnxscript", "onnxruntime"):
            try:
                __import__(package)
            except ImportError as error:
                raise Skip(f"this toolchain has no {package}") from error

    def _compile(self, module, positional, named):
        import onnxruntime

        program = torch.export.export(module, positional, named, strict=False)
        data = self._converted(program).model_proto.SerializeToString()
        session = onnxruntime.InferenceSession(data, self._settings(onnxruntime), ["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        if len(names) != len(_tensors((positional, named))):
            raise RuntimeError(f"the program has {len(names)} inputs, the call has "
                               f"{len(_tensors((positional, named)))} tensors")

        def run(*given, **by_name):
            tensors = _tensors((given, by_name))
            feed = {name: tensor.detach().contiguous().numpy() for name, tensor in zip(names, tensors, strict=True)}
            return tuple(torch.from_numpy(value) for value in session.run(None, feed))

        return run

    @staticmethod
    def _converted(program):
        try:
            return torch.onnx.export(program, dynamo=True, verbose=False)
        except Exception as error:  # its text is advice; the first of the chain has the cause
            while error.__cause__ is not None:
                error = error.__cause__
            raise error from None

    def _settings(self, onnxruntime):
        settings = onnxruntime.SessionOptions()
        settings.intra_op_num_threads = self._options.threads
        settings.inter_op_num_threads = 1
        settings.log_severity_level = 3
        settings.add_session_config_entry("session.set_denormal_as_zero", "1" if _flushes() else "0")
        return settings


class TorchScript(Exported):
    def _compile(self, module, positional, named):
        call = {"example_kwarg_inputs": named} if named and not positional else {"example_inputs": positional}
        if named and positional:
            raise Skip("torch.jit.trace takes arguments by position or by name, not both")
        return torch.jit.trace(module, **call, strict=False, check_trace=False)


_TABLE = {"eager": Eager, "inductor": Inductor, "aot_inductor": AotInductor, "onnxruntime": OnnxRuntime,
          "torchscript": TorchScript}


def find(name: str) -> Backend:
    return _TABLE[name]()


def _same(graph_module):
    """A second module for the same graph, because inductor changes the one that it compiles. Tensors are shared."""
    made = torch.fx.GraphModule(graph_module, copy.deepcopy(graph_module.graph))
    made.meta = dict(graph_module.meta)
    return made


def _tensors(value) -> list:
    """The tensors among the arguments, in the order of the call."""
    return [leaf for leaf in _pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def _show_libtorch() -> None:
    """Makes the symbols of libtorch visible to packages, which do not link it."""
    import ctypes

    for name in ("libtorch_cpu.so", "libtorch.so"):
        path = os.path.join(os.path.dirname(torch.__file__), "lib", name)
        if os.path.exists(path):
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def _flushes() -> bool:
    """Whether this process flushes denormal numbers to zero."""
    return bool((torch.tensor([1e-40]) * 1).item() == 0)
