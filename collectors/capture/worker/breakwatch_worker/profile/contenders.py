"""What runs in the process of one backend: it prepares, is timed in turns, and reports its cells.

Each method returns plain values, which the process sends to the parent (lanes.py)."""

import dataclasses
import gc
import resource

import torch
from torch._dynamo import utils as dynamo_utils

from ..compilers import outputs
from ..dynamo.segments import MAX_SEGMENTS
from ..dynamo.trace import is_recompile, reset, trace
from ..inputs.copies import fresh, module_of, tensors_of
from ..modes.base import seed
from ..process import host
from . import backends, cells
from .between import Causes
from .options import Options
from .pieces import Recorder, clock

_MOST_WARM_UP = 10  # runs in which something compiles
_MOST_FAILURES = 3  # runs that fail, one after another


@dataclasses.dataclass(frozen=True)
class Subject:
    """What all backends call."""

    model: object  # a module or another callable
    positional: tuple
    named: dict
    dynamic: bool = False

    def on(self, device: str):
        if device == "cpu":
            return self
        module = module_of(self.model)
        if module is not None:
            module.to(device)
        move = torch.utils._pytree.tree_map_only(torch.Tensor, lambda tensor: tensor.to(device),
                                                 (self.positional, self.named))
        return dataclasses.replace(self, positional=move[0], named=move[1])

    def given(self) -> tuple:
        return fresh((self.positional, self.named), self.model)


class Contender:
    """The model called by one backend. Owner: the process of the backend."""

    def __init__(self, subject: Subject, options: Options):
        self._subject, self._options = subject, options
        self._times, self._used, self._failures, self._in_a_row = [], 0.0, 0, 0
        self._discarded, self._recompiles, self._compile_s = 0, 0, None
        self._function = None

    def prepare(self) -> dict:
        torch.set_num_threads(self._options.threads)
        if self._options.device == "cuda":
            host.show_cuda()
        self._subject = self._subject.on(self._options.device)
        with torch.no_grad():
            answer = self._prepare()
        gc.collect()
        gc.freeze()
        gc.disable()
        return answer

    def _prepare(self) -> dict:
        self._function = self._subject.model
        self._warm_up(self._function)
        return {}

    def turn(self, seconds: float) -> dict:
        """Runs for at least `seconds`, once at least. The answer says whether enough was measured."""
        begun = clock()
        with torch.no_grad():
            while clock() - begun < seconds and not self._is_enough():
                self._run()
        return {"enough": self._is_enough()}

    def finish(self) -> dict:
        return {"total": self._total(), "discarded_runs": self._discarded, "recompiles": self._recompiles}

    def _total(self) -> dict:
        if not self._times:
            return cells.failed("timeout", "no run ended within the time limit of the capture")
        few = len(self._times) < self._options.min_runs and self._used < self._options.most_s
        detail = "fewer runs than requested: the time limit of the capture was reached" if few else ""
        return cells.measured(self._times, self._failures, detail, compile_s=self._compile_s)

    def _is_enough(self) -> bool:
        options = self._options
        return self._used >= options.most_s or (
            len(self._times) >= options.min_runs and self._used >= options.min_s)

    def _run(self) -> None:
        positional, named = self._subject.given()
        compiled = _compilations()
        begun = clock()
        try:
            self._call(self._function, positional, named)
            ended = clock()
        except Exception:
            self._failures += 1
            self._in_a_row += 1
            self._used += clock() - begun
            if self._in_a_row >= _MOST_FAILURES:
                raise
            return
        self._in_a_row = 0
        self._used += ended - begun
        if _compilations() != compiled:
            self._note_compilation()
            return
        self._times.append(ended - begun)
        self._ran(begun, ended)

    def _call(self, function, positional: tuple, named: dict):
        output = function(*positional, **named)
        if self._options.device != "cpu":
            torch.cuda.synchronize()
        return output

    def _ran(self, begun: float, ended: float) -> None:
        """Called after a run that counts."""

    def _warm_up(self, function) -> None:
        """Calls until nothing compiles, and once more."""
        begun = clock()
        while True:
            compiled = _compilations()
            self._call(function, *self._subject.given())
            if _compilations() == compiled:
                break
            self._note_compilation()
        self._recompiles = sum(map(is_recompile, dynamo_utils.get_compilation_metrics()))
        if self._compile_s is None and self._discarded:
            self._compile_s = cells.digits(clock() - begun)

    def _note_compilation(self) -> None:
        self._discarded += 1
        if self._discarded > _MOST_WARM_UP:
            raise RuntimeError(f"something is compiled in each of {_MOST_WARM_UP} runs")


class GraphsContender(Contender):
    """The model under Dynamo, each graph run by the backend. `settings`: (name, values of torch._dynamo.config) to try
    in order, with which the whole model must be one graph; None: any number of graphs."""

    def __init__(self, subject: Subject, options: Options, backend: str, settings: list = None):
        super().__init__(subject, options)
        self._name, self._settings = backend, settings
        self._spent = {}  # (graph number,) or (previous graph, next graph) -> list of seconds, one of each run
        self._calls = {}

    def _prepare(self) -> dict:
        self._backend = backends.find(self._name)
        self._backend.check(self._options, self._subject.dynamic)
        how, found = self._compile()
        self._recorder.recording = True
        self._call(self._function, *self._subject.given())
        self._recorder.recording = False
        self._recorder.build()
        compiled = _compilations()
        self._call(self._function, *self._subject.given())
        if _compilations() != compiled:  # an exporter left something behind that Dynamo guards on
            self._recorder.begin_again()
            self._trace(dict(self._settings or [("", {})])[how])
        self._call(self._function, *self._subject.given())
        spent = [piece.compile_s for piece in self._recorder.pieces if piece.compile_s is not None]
        self._compile_s = cells.digits(sum(spent)) if spent else None
        return {"how": how, **self._described(found)}

    def _compile(self) -> tuple:
        """(the name of the settings, the trace) of the first settings with which Dynamo has no error."""
        for place, (how, config) in enumerate(self._settings or [("", {})]):
            self._recorder = Recorder(self._backend, tensors_of(self._subject.model))
            found = self._trace(config)
            if found.error is None:
                return how, found
            if place + 1 == len(self._settings or [()]):
                raise found.error
            found.error = None
        raise AssertionError("no settings")

    def _trace(self, config: dict):
        seed()
        reset()
        self._discarded = 0

        def warm_up(compiled):
            self._function = compiled
            self._warm_up(compiled)

        return trace(self._subject.model, {}, backend=self._recorder.compile, call=warm_up, config=config,
                     dynamic=True if self._subject.dynamic else None, fullgraph=self._settings is not None)

    def _described(self, found) -> dict:
        if self._settings is not None:
            return {"failed": {str(piece.number): piece.cell for piece in self._recorder.pieces if piece.cell}}
        self._causes = Causes(found)
        return {
            "graphs": found.segments[:MAX_SEGMENTS], "sites": self._causes.sites(),
            "failed": {str(piece.number): piece.cell for piece in self._recorder.pieces if piece.cell},
        }

    def _call(self, function, positional: tuple, named: dict):
        self._recorder.log.clear()
        return super()._call(function, positional, named)

    def _ran(self, begun: float, ended: float) -> None:
        spent, calls = {}, {}
        before, last = begun, 0
        for number, start, end in [*self._recorder.log, (0, ended, ended)]:
            for key, seconds in (((last, number), start - before), ((number,), end - start)):
                spent[key] = spent.get(key, 0.0) + seconds
                calls[key] = calls.get(key, 0) + 1
            before, last = end, number
        del spent[(0,)], calls[(0,)]
        for key, seconds in spent.items():
            self._spent.setdefault(key, []).append(seconds)
        self._calls = calls
        graphs = sum(seconds for key, seconds in spent.items() if len(key) == 1)
        self._spent.setdefault("graphs", []).append(graphs)
        self._spent.setdefault("python", []).append(ended - begun - graphs)

    def finish(self) -> dict:
        if not self._times:
            return super().finish()
        parts = {f"{name}_s": cells.median(self._spent.pop(name)) for name in ("graphs", "python")}
        return {**super().finish(), "parts": parts,
                "segments": [self._segment(key, seconds) for key, seconds in self._spent.items()]}

    def _segment(self, key: tuple, seconds: list) -> dict:
        share = cells.digits(sum(seconds) / sum(self._times))
        return {"key": list(key), "calls": self._calls.get(key, 0), "cause": self._cause(key),
                "cell": cells.measured(seconds, share=share, compile_s=self._compile_s_of(key))}

    def _cause(self, key: tuple) -> str:
        return self._causes.of(*key) if self._settings is None and len(key) == 2 else ""

    def _compile_s_of(self, key: tuple):
        return self._recorder.pieces[key[0] - 1].compile_s if len(key) == 1 else None


class PackagesContender(GraphsContender):
    """The graphs as packages that breakwatch-runner times. One package a turn."""

    def _prepare(self) -> dict:
        answer = super()._prepare()
        for piece in self._recorder.pieces:  # compared; from now on breakwatch-runner loads them
            piece.version = piece.eager
        gc.collect()
        self._waiting = list(self._backend.packages)
        self._cells = {}
        return answer

    def turn(self, seconds: float) -> dict:
        if self._waiting:
            number, package, inputs = self._waiting.pop(0)
            cell = self._backend.measure(package, inputs, 1 / len(self._backend.packages))
            piece = self._recorder.pieces[number - 1]
            if piece.cell is None:
                self._cells[number] = {**cell, "compile_s": piece.compile_s}
        return {"enough": not self._waiting}

    def finish(self) -> dict:
        for number, _, _ in self._waiting:
            self._cells[number] = cells.failed("timeout", "not measured within the time limit of the capture")
        return {"segments": [{"key": [number], "cell": cell} for number, cell in self._cells.items()],
                "discarded_runs": self._discarded, "recompiles": self._recompiles}


class ModelContender(Contender):
    """The whole model by one backend, as its users run it."""

    def __init__(self, subject: Subject, options: Options, backend: str):
        super().__init__(subject, options)
        self._name = backend

    def _prepare(self) -> dict:
        self._backend = backends.find(self._name)
        self._backend.check(self._options, self._subject.dynamic)
        reset()
        wanted = self._output(self._subject.model, 0)
        is_random = bool(outputs.difference(wanted, self._output(self._subject.model, 1)))
        begun = clock()
        positional, named = self._subject.given()
        self._function = self._backend.compile_model(
            _as_module(self._subject.model), positional, named, True if self._subject.dynamic else None)
        self._warm_up(self._function)
        if self._name != "eager":
            self._compile_s = cells.digits(clock() - begun)
            text = "" if is_random else outputs.difference(wanted, self._output(self._function, 0))
            if text:
                return {"cell": cells.failed("wrong_result", text, compile_s=self._compile_s)}
        return {}

    def _output(self, function, salt: int) -> list:
        seed()
        if salt:
            torch.manual_seed(salt)
        return outputs.flat(self._call(function, *self._subject.given()))

    def turn(self, seconds: float) -> dict:
        if self._backend.in_process:
            return super().turn(seconds)
        self._cell = self._backend.measure(*self._backend.packages[0][1:], 1.0)
        return {"enough": True}

    def finish(self) -> dict:
        if self._backend.in_process:
            return {**super().finish(), "peak_rss_mb": _peak_mb()}
        memory = self._cell.pop("peak_rss_mb", None)
        return {"total": {**self._cell, "compile_s": self._compile_s}, "peak_rss_mb": memory, "discarded_runs": 0,
                "recompiles": 0}


def contender(subject: Subject, options: Options, name: str) -> Contender:
    """For a profile."""
    kind = GraphsContender if backends.is_in_process(name) else PackagesContender
    return kind(subject, options, name)


def _as_module(model) -> torch.nn.Module:
    if isinstance(model, torch.nn.Module):
        return model

    class Called(torch.nn.Module):
        def forward(self, *positional, **named):
            return model(*positional, **named)

    return Called().eval()


def _compilations() -> int:
    return len(dynamo_utils.get_compilation_metrics())


def _peak_mb() -> float:
    """The peak of this process since its fork, with the compilation."""
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)
