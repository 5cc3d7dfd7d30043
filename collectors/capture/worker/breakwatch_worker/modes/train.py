"""Mode `train`: forward and backward of a model in training mode. Counts the graphs that AOTAutograd makes."""

import dataclasses
import functools
import inspect
import re

import torch
from torch._dynamo.backends.common import aot_autograd

from ..dynamo.trace import Trace, trace
from ..inputs.copies import module_of
from ..inputs.make_values import CannotMake, make_value
from ..tables import read_beside
from ..text import one_line
from .base import Call, Found, Mode, seed, text_of_error


@functools.cache
def _label_rules() -> list:
    return read_beside(__file__, "labels.yaml")["rules"]


def labels_for(call: Call) -> dict:
    """The labels for the loss of this class, by the first rule that matches. Empty without a rule."""
    name = type(call.model).__name__
    if call.sizes is None:
        return {}
    names = set(inspect.signature(call.model.forward).parameters)
    for rule in _label_rules():
        if re.search(rule["class"], name) is None or not set(rule["labels"]) <= names:
            continue
        try:
            return {label: _label(label, recipe, call) for label, recipe in rule["labels"].items()}
        except CannotMake:
            return {}
    return {}


def _label(name: str, recipe: dict, call: Call):
    if "like" not in recipe:
        return make_value(name, recipe, call.sizes)
    for source in recipe["like"]:
        if isinstance(value := call.arguments.get(source), torch.Tensor):
            return value.clone()
    raise CannotMake(f"none of {recipe['like']} is passed")


def loss_of(output):
    """(loss, its origin). The loss is None if no floating-point output has a gradient."""
    loss = getattr(output, "loss", None)
    if isinstance(loss, torch.Tensor) and loss.requires_grad and loss.numel() == 1:
        return loss.reshape(()), "the class's own loss"
    tensors = [tensor for tensor in _tensors(output) if tensor.requires_grad]
    if not tensors:
        return None, "none: no output carries a gradient"
    return sum(map(_sum, tensors)), "the sum of the floating outputs"


def _sum(tensor: torch.Tensor) -> torch.Tensor:
    """The sum of all elements of any kind of tensor."""
    if tensor.is_nested:
        return sum(map(_sum, tensor.unbind()))
    if tensor.layout is not torch.strided:
        tensor = tensor.to_dense()
    return (torch.view_as_real(tensor) if tensor.is_complex() else tensor).sum()


def _tensors(output):
    if isinstance(output, torch.Tensor):
        yield output
    elif isinstance(output, (dict, list, tuple)):
        for item in output.values() if isinstance(output, dict) else output:
            yield from _tensors(item)
    elif dataclasses.is_dataclass(output) and not isinstance(output, type):
        for field in dataclasses.fields(output):
            yield from _tensors(getattr(output, field.name, None))


class _Autograd:
    """Counts the graphs that AOTAutograd makes, and the runs of backward graphs."""

    def __init__(self):
        self.forward = self.backward = self.inference = self.backward_runs = 0

    def compiler(self):
        return aot_autograd(fw_compiler=self._forward, bw_compiler=self._backward, inference_compiler=self._inference)

    def _forward(self, graph_module, example_inputs):
        self.forward += 1
        return _boxed(_with_reshapes(graph_module).forward)

    def _inference(self, graph_module, example_inputs):
        self.inference += 1
        return _boxed(_with_reshapes(graph_module).forward)

    def _backward(self, graph_module, example_inputs):
        self.backward += 1
        run = _with_reshapes(graph_module).forward

        def counted(*arguments):
            self.backward_runs += 1
            return run(*arguments)

        return _boxed(counted)


def _with_reshapes(graph_module):
    """Replaces views by reshapes, as compilers do. The graph has the strides of the fake kernels. A real kernel may use
    other strides, for which there is no view."""
    views = graph_module.graph.find_nodes(op="call_function", target=torch.ops.aten.view.default)
    for node in views:
        node.target = torch.ops.aten.reshape.default
    if views:
        graph_module.recompile()
    return graph_module


def _boxed(function):
    """A function that takes its arguments as one list and empties it, so that they can be freed while it runs."""
    def boxed(arguments: list):
        given = tuple(arguments)
        arguments.clear()
        return function(*given)

    boxed._boxed_call = True
    return boxed


def _forget_gradients(model) -> None:
    if (module := module_of(model)) is not None:
        module.zero_grad(set_to_none=True)


_SECOND_TIME = "backward through the graph a second time"


class Train(Mode):
    """Random numbers are seeded, so that two captures see the same ones."""

    trains = True

    def __init__(self):
        self._own_backward = None  # whether the called code runs a backward itself; None: not known yet

    def ready(self, call: Call) -> None:
        if (module := module_of(call.model)) is not None:
            module.train()

    def eager(self, call: Call):
        """Forward and backward, with labels if the model accepts them, else without."""
        plain, self._own_backward = call.arguments, False
        if labels := labels_for(call):
            call.arguments = {**plain, **labels}
            try:
                return self._eager_step(call)
            except Exception as error:
                # The error holds frames, and these hold activations. Free them before the next attempt.
                error.__traceback__ = error.__context__ = error.__cause__ = None
                call.arguments = plain
                _forget_gradients(call.model)
        return self._eager_step(call)

    def _eager_step(self, call: Call):
        seed()
        positional, named = call.given()
        with torch.enable_grad():
            output = call.model(*positional, **named)
            loss, _ = loss_of(output)
            if loss is not None:
                self._first_backward(loss)
        _forget_gradients(call.model)
        return output

    def _first_backward(self, loss) -> None:
        """Runs backward. If its graph is already used up, the called code has run a backward itself."""
        try:
            loss.backward()
        except RuntimeError as error:
            if _SECOND_TIME not in str(error):
                raise
            self._own_backward = True

    def learned(self):
        return bool(self._own_backward)

    def learn(self, learned) -> None:
        self._own_backward = learned

    def capture(self, call: Call) -> Found:
        counts, outcome = _Autograd(), {"loss": "", "backward_ran": False}
        found = self._step(call, counts, outcome, False)
        detail = {
            "loss": outcome["loss"], "forward_graphs": counts.forward, "inference_graphs": counts.inference,
            "backward_graphs": counts.backward, "backward_graph_runs": counts.backward_runs,
            "backward_ran": outcome["backward_ran"],
        }
        notes = []
        if "backward_error" in outcome:
            detail["backward_error"] = outcome["backward_error"]
            notes = [f"the captured backward failed when run: {outcome['backward_error']}"]
        elif not outcome["backward_ran"] and found.error is None:
            notes = [f"no backward, loss {outcome['loss']}"]
        return Found(found, notes=notes, mode_detail=detail, error=found.error)

    def suppressed(self, call: Call) -> Found:
        return Found(self._step(call, _Autograd(), {}, True))

    def _step(self, call: Call, counts: _Autograd, outcome: dict, suppress_errors: bool) -> Trace:
        positional, named = call.given()

        def step(compiled):
            loss, outcome["loss"] = loss_of(compiled(*positional, **named))
            try:
                if loss is not None and not self._own_backward:
                    loss.backward()
                    outcome["backward_ran"] = True
            except Exception as error:
                if self._own_backward is None and _SECOND_TIME in str(error):
                    self._own_backward = True
                elif counts.backward < counts.forward:
                    raise  # it was not captured; otherwise all graphs exist and running one failed
                else:
                    outcome["backward_error"] = f"{type(error).__name__}: {one_line(text_of_error(error))}"
            if self._own_backward:
                outcome["loss"] = "none added: the called code runs a backward itself"
                outcome["backward_ran"] = counts.backward_runs > 0

        seed()
        found = trace(call.model, {}, suppress_errors, backend=counts.compiler(), call=step, grad=True)
        _forget_gradients(call.model)
        return found
