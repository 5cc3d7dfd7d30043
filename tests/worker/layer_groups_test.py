"""Which results depend on the number of layers."""

import pytest
import torch
from breakwatch_worker.dynamo.trace import trace

FEW, MANY = 2, 5


class Layer(torch.nn.Module):
    def forward(self, x):
        return (x + 1).relu()


class PrintingLayer(torch.nn.Module):
    def forward(self, x):
        print("in a layer")
        return x + 1


class LayerOfParts(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.part = PrintingLayer()

    def forward(self, x):
        return self.part(x) * 2


class Layers(torch.nn.Module):
    """The layers, one after the other."""

    def __init__(self, depth, layer=Layer):
        super().__init__()
        self.layers = torch.nn.ModuleList(layer() for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


class BreakBeside(torch.nn.Module):
    """A break before the layers and one after them, each in a callee."""

    def __init__(self, depth):
        super().__init__()
        self.body = Layers(depth)

    def say(self, x):
        print("outside the layers")
        return x + 1

    def forward(self, x):
        return self.say(self.body(self.say(x))) * 2


class BranchAfter(torch.nn.Module):
    """A branch on a value that the layers return."""

    def __init__(self, depth):
        super().__init__()
        self.body = Layers(depth)

    def forward(self, x):
        x = self.body(x)
        return x * 2 if x.sum() > 0 else x - 1


def remembered(function):
    def wrapper(*arguments, **named):
        return function(*arguments, **named)

    return wrapper


class Wrapped(BreakBeside):
    """The frames of the outer and the inner call share the code of one decorator."""

    @remembered
    def say(self, x):
        print("outside the layers")
        return x + 1

    @remembered
    def forward(self, x):
        return self.body(self.say(x)) * 2


class BreakInEach(Layers):
    def __init__(self, depth):
        super().__init__(depth, PrintingLayer)


class BreakDeeperInEach(Layers):
    def __init__(self, depth):
        super().__init__(depth, LayerOfParts)


class BreakBetween(Layers):
    """A break in the loop and outside of the layers: the frame with the loop is skipped, and each layer is a frame of
    its own."""

    def forward(self, x):
        for layer in self.layers:
            print("between")
            x = layer(x)
        return x


class BreakInTheLast(Layers):
    def __init__(self, depth):
        super().__init__(depth)
        self.layers[-1] = PrintingLayer()


class SharedByEach(torch.nn.Module):
    """The layers call a module that is not one of their own, and it breaks."""

    class Caller(torch.nn.Module):
        def forward(self, x, shared):
            return shared(x) * 2

    def __init__(self, depth):
        super().__init__()
        self.shared = PrintingLayer()
        self.layers = torch.nn.ModuleList(self.Caller() for _ in range(depth))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x, self.shared)
        return x


class StepByStep(torch.nn.Module):
    """The same frame resumes after each of its breaks, once for each layer."""

    def __init__(self, depth):
        super().__init__()
        self.depth, self.block = depth, Layer()

    def step(self, x, left):
        print("a step")
        x = self.block(x)
        return self.step(x, left - 1) if left else x

    def forward(self, x):
        return self.step(x, self.depth)


class TwoTowers(torch.nn.Module):
    """One layer group breaks in each layer; the one before it is inlined completely."""

    def __init__(self, depth, other=FEW):
        super().__init__()
        self.quiet, self.loud = Layers(other), Layers(depth, LayerOfParts)

    def forward(self, x):
        return self.loud(self.quiet(x))


class BlocksInStages(torch.nn.Module):
    """Each stage is a layer group; only its inner layers break."""

    def __init__(self, depth):
        super().__init__()
        self.stages = torch.nn.ModuleList(Layers(depth, PrintingLayer) for _ in range(FEW))

    def forward(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class ReturnBehind(torch.nn.Module):
    """A loop in which Dynamo resumes: the code after the break returns before the loop jumps back."""

    def __init__(self, depth):
        super().__init__()
        self.layers, self.done = torch.nn.ModuleList(Layer() for _ in range(depth)), False

    def forward(self, x):
        for index in range(len(self.layers)):
            print("in the loop")
            x = self.layers[index](x)
            if self.done:
                return x
            x = x + 1
        return x


class ReturnBehindWhile(ReturnBehind):
    def forward(self, x):
        index = 0
        while index < len(self.layers):
            print("in the loop")
            x = self.layers[index](x)
            if self.done:
                return x
            index = index + 1
        return x


class ReturnOnValue(ReturnBehind):
    def forward(self, x):
        for index, _ in enumerate(range(len(self.layers))):
            x = self.layers[index](x)
            if x.sum() > 1e9:
                return x
            x = x + 1
        return x


class NumberedByName(torch.nn.Module):
    """Layers that are not in a list; the name of each ends with its number."""

    def __init__(self, depth):
        super().__init__()
        self.depth = depth
        for index in range(depth):
            self.add_module(f"layer{index}", PrintingLayer())

    def forward(self, x):
        for index in range(self.depth):
            x = getattr(self, f"layer{index}")(x)
        return x


class LoopInLayer(Layers):
    """A layer repeats a loop; only its code contains the number of iterations."""

    class Layer(torch.nn.Module):
        def forward(self, x):
            for _ in range(3):
                x = self.turn(x)
            return x

        def turn(self, x):
            print("a turn")
            return x + 1

    def __init__(self, depth):
        super().__init__(depth, self.Layer)


WITHOUT = (BreakBeside, BranchAfter, Wrapped)
WITH = {
    BreakInEach: {"layers.*"}, BreakDeeperInEach: {"layers.*"}, BreakBetween: {"layers.*"},
    BreakInTheLast: {"layers.*"}, SharedByEach: {"layers.*"}, StepByStep: None, TwoTowers: {"loud.layers.*"},
    BlocksInStages: {"stages.*", "stages.*.layers.*"}, LoopInLayer: {"layers.*"}, NumberedByName: {"layer*"},
    ReturnBehind: None, ReturnBehindWhile: None, ReturnOnValue: None,
}


def found(kind, depth):
    return trace(kind(depth).eval(), {"x": torch.ones(3)})


@pytest.mark.parametrize("kind", WITHOUT, ids=lambda kind: kind.__name__)
def test_breaks_outside_inlined_layers_are_the_same_at_any_depth(kind):
    few, many = found(kind, FEW), found(kind, MANY)
    assert few.layer_groups == set() and few.events
    ours, theirs = few.numbers(), many.numbers()
    assert theirs.pop("ops_captured") > ours.pop("ops_captured")
    del ours["segments"], theirs["segments"]
    assert ours == theirs


@pytest.mark.parametrize("kind", WITH, ids=lambda kind: kind.__name__)
def test_layers_that_are_met_one_by_one_name_their_group_or_any_group(kind):
    assert found(kind, FEW).layer_groups == WITH[kind]


def test_a_group_that_is_not_named_changes_only_the_ops():
    ours, theirs = (trace(TwoTowers(MANY, other).eval(), {"x": torch.ones(3)}).numbers() for other in (FEW, MANY))
    assert theirs.pop("ops_captured") > ours.pop("ops_captured")
    del ours["segments"], theirs["segments"]
    assert ours == theirs


def test_a_module_outside_the_model_may_always_matter():
    module = BreakBeside(FEW).eval()
    assert trace(lambda x: module(x), {"x": torch.ones(3)}).layer_groups is None
