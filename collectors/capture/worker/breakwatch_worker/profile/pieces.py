"""The graphs of one model, each with the version of a backend, and the times of their calls.

The backend for Dynamo is `Recorder.compile`: the function that it returns for a graph takes the time and calls the
current version of this graph. The time between two graphs is Python's."""

import time

import torch

from ..compilers import outputs
from ..inputs.copies import fresh
from ..modes.base import seed
from . import cells

clock = time.perf_counter  # the same clock in all processes of a machine


class Piece:
    """One graph. `version` is called for it; `cell` is set if the backend has no version of it."""

    def __init__(self, number: int, graph_module, examples):
        self.number, self.graph_module, self.examples = number, graph_module, examples
        self.eager = self.version = graph_module.forward
        self.cell, self.compile_s = None, None
        self.inputs = None  # of its first recorded call: copies, except for parameters and buffers of the model
        self.owned = frozenset()  # places of these parameters and buffers
        self._sizes, self._owners = set(), set()

    def record(self, given: tuple, owned_ids: set) -> None:
        places = frozenset(place for place, value in enumerate(given) if id(value) in owned_ids)
        self._sizes.add(tuple(_size_of(value) for value in given))
        self._owners.add(tuple(id(given[place]) for place in sorted(places)))
        if self.inputs is None:
            self.inputs, self.owned = list(given), places
            self.inputs = self.copies()

    @property
    def has_one_size(self) -> bool:
        return len(self._sizes) == 1

    @property
    def has_one_owner(self) -> bool:
        """Whether each call passes the same parameters. If not, several layers share this graph."""
        return len(self._owners) == 1

    def copies(self) -> list:
        """The recorded inputs, for a call that may write into them."""
        free = [place for place in range(len(self.inputs)) if place not in self.owned]
        made = dict(zip(free, fresh([self.inputs[place] for place in free]), strict=True))
        return [made.get(place, value) for place, value in enumerate(self.inputs)]

    def check(self, version) -> str:
        """How the results of `version` differ from those of the graph as it is; empty if they do not."""
        wanted, changed = self._results(self.eager, 0)
        again, _ = self._results(self.eager, 1)
        if outputs.difference(wanted, again):  # it draws random numbers, and backends draw others
            self._results(version, 0)
            return ""
        got, also_changed = self._results(version, 0)
        if text := outputs.difference(wanted, got):
            return text
        return f"inputs after the call: {text}" if (text := outputs.difference(changed, also_changed)) else ""

    def _results(self, function, salt: int) -> tuple:
        given = self.copies()
        seed()
        if salt:
            torch.manual_seed(salt)
        result = outputs.flat(function(*given))
        return result, outputs.flat([value for place, value in enumerate(given) if place not in self.owned])


def _size_of(value):
    return (tuple(value.shape), value.dtype) if isinstance(value, torch.Tensor) else repr(value)


class Recorder:
    """Owner: the process of one backend. `log` has (number, begin, end) of each graph called since it was cleared."""

    def __init__(self, backend, tensors: list):
        """`tensors`: the parameters and buffers of the model."""
        self.pieces, self.log = [], []
        self.recording = False
        self._backend = backend
        self._owned = {id(tensor) for tensor in tensors}
        self._made = 0  # by this trace
        self._built = False

    def compile(self, graph_module, examples):
        """The backend for Dynamo."""
        if self._made == len(self.pieces):
            self._add(graph_module, examples)
        self._made += 1
        return self._timed(self.pieces[self._made - 1])

    def begin_again(self) -> None:
        """The next trace makes the same graphs again, which keep their versions."""
        self._made = 0

    def _add(self, graph_module, examples) -> None:
        piece = Piece(len(self.pieces) + 1, graph_module, examples)
        self.pieces.append(piece)
        if self._backend.with_dynamo:
            install(piece, lambda: self._backend.compile_graph(piece))
        elif self._built:
            piece.cell = cells.failed("failed", "this graph was made only after the others were compiled")

    def _timed(self, piece: Piece):
        log = self.log

        def run(*given):
            if self.recording:
                piece.record(given, self._owned)
            begun = clock()
            output = piece.version(*given)
            log.append((piece.number, begun, clock()))
            return output

        return run

    def called(self) -> list:
        """The graphs that recorded calls reached."""
        return [piece for piece in self.pieces if piece.inputs is not None]

    def build(self) -> None:
        """Makes the backend's version of each recorded graph and checks its results. A failure is the graph's cell."""
        for piece in self.called():
            if not self._backend.with_dynamo:
                install(piece, lambda piece=piece: self._backend.compile_graph(piece))
            if piece.cell is None and piece.version is not piece.eager:
                self._check(piece)
            piece.examples = None  # they hold tensors
        self._built = True

    def _check(self, piece: Piece) -> None:
        try:
            text = piece.check(piece.version)
            piece.cell = cells.failed("wrong_result", text) if text else None
        except Exception as error:
            piece.cell = cells.of_error(error)
        if piece.cell is not None:
            piece.version = piece.eager


class Skip(Exception):
    """This backend does not apply here; the text has the reason."""


def install(piece: Piece, make) -> None:
    begun = clock()
    try:
        piece.version = make()
    except Skip as error:
        piece.cell = cells.failed("skipped", str(error))
    except Exception as error:
        piece.cell = cells.of_error(error)
    if piece.version is not piece.eager:
        piece.compile_s = cells.digits(clock() - begun)
