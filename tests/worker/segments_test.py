"""The graphs of a capture: their content, and the break that ended each."""

import torch
import zoo
from breakwatch_worker.dynamo import breaks, segments
from breakwatch_worker.dynamo.trace import trace


def capture(module, **arguments):
    return trace(module.eval(), arguments or {"x": torch.ones(3)}).numbers()


class Layer(torch.nn.Module):
    def forward(self, x):
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2


class Nested(torch.nn.Module):
    """Two layers that break, called one after the other, and a method whose argument an inner function uses."""

    def __init__(self):
        super().__init__()
        self.stem = Layer()
        self.blocks = torch.nn.ModuleList([torch.nn.Sequential(torch.nn.Tanh(), Layer())])

    def forward(self, x):
        x = self.blocks[0](self.stem(x))
        torch._dynamo.graph_break()  # the model itself
        return (lambda y: y.relu() if self.training else y)(x)


def test_a_graph_has_its_ops_by_kind_its_inputs_and_its_guards():
    class Mixed(torch.nn.Module):
        def forward(self, x, y):
            return torch.relu(x.view(-1) + y.view(-1)).view(3, 1)

    (segment,) = capture(Mixed(), x=torch.ones(3), y=torch.ones(3))["segments"]
    assert segment["ops"] == {"call_function": 2, "call_method": 3}
    assert segment["top_ops"] == {"Tensor.view": 3, "add": 1, "relu": 1}
    assert (segment["ops_total"], segment["inputs"], segment["ended_by"]) == (5, 2, "")
    assert segment["guards"] > 0
    assert (segment["file"], segment["function"], segment["compile_id"]) == ("segments_test.py", "forward", "0/0")


def test_a_graph_names_the_break_that_ended_it():
    numbers = capture(zoo.TwoIfs())
    first, second, third = numbers["segments"]
    assert [first["ended_by"], second["ended_by"]] == [site["site_id"] for site in numbers["sites"]]
    assert third["ended_by"] == ""
    assert first["line"] < second["line"] < third["line"]


def test_segments_add_up_to_the_numbers_of_the_capture():
    for kind in zoo.ALL:
        numbers = capture(kind())
        assert len(numbers["segments"]) == numbers["graphs"]
        assert sum(segment["ops_total"] for segment in numbers["segments"]) == numbers["ops_captured"]
        sites = {site["site_id"] for site in numbers["sites"]}
        assert {segment["ended_by"] for segment in numbers["segments"]} <= sites | {""}


def test_the_number_of_segments_is_bounded(monkeypatch):
    monkeypatch.setattr(segments, "MAX_SEGMENTS", 2)
    numbers = capture(zoo.TwoIfs())
    assert (numbers["graphs"], len(numbers["segments"])) == (3, 2)


def test_a_site_names_the_module_whose_code_it_is_in():
    numbers = capture(Nested())
    paths = [site["module_path"] for site in numbers["sites"]]
    assert paths == ["stem", "Nested"]  # one line of Layer.forward is one site, with the module of its first break
    assert numbers["sites"][0]["occurrences"] == 3, numbers


def test_a_site_has_the_calls_from_the_compiled_frame_down_to_it():
    numbers = capture(Nested())
    (stem, own) = (site["stack"] for site in numbers["sites"])
    functions = [frame.rsplit(" in ", 1)[1] for frame in stem]
    assert functions == ["forward", "forward"] and all(frame.startswith("segments_test.py:") for frame in stem)
    site = numbers["sites"][0]
    assert stem[-1] == f"{site['file']}:{site['line']} in {site['function']}"
    assert len(own) == 1, "a break in the compiled frame itself"


def helper(x):
    return x + 1 if x.sum() > 0 else x


class Calling(torch.nn.Module):
    def forward(self, x):
        return helper(x)


class Twice(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.other = Calling(), Calling()

    def forward(self, x):
        x = self.one(x)
        torch._dynamo.graph_break()
        return self.other(x)


def test_a_stack_begins_at_the_forward_of_the_model_even_if_a_called_frame_is_compiled():
    sites = {site["source_line"]: site for site in capture(Twice())["sites"]}
    site = sites["return x + 1 if x.sum() > 0 else x"]
    assert site["stack_source"] == ["x = self.one(x)", "return helper(x)", site["source_line"]]
    assert [frame.rsplit(" in ", 1)[1] for frame in site["stack"]] == ["forward", "forward", "helper"]
    own = sites["torch._dynamo.graph_break()"]
    assert own["stack_source"] == [own["source_line"]], "the rest of forward after a break is still one call"


def test_a_site_is_the_same_by_whatever_calls_it_is_reached():
    inside = {site["site_id"] for site in capture(Twice())["sites"]}
    alone = {site["site_id"] for site in capture(Calling())["sites"]}
    assert len(alone) == 1 and alone < inside


def test_a_stack_keeps_the_innermost_calls():
    def inner(x, depth):
        if depth == 0:
            torch._dynamo.graph_break()
            return x + 1
        return inner(x, depth - 1)

    (site,) = trace(lambda x: inner(x, 60), {"x": torch.ones(3)}).numbers()["sites"]
    assert len(site["stack"]) == breaks.STACK_FRAMES
    assert site["stack"][-1].endswith(f":{site['line']} in inner")


def test_a_module_path_is_empty_without_a_module():
    def function(x):
        torch._dynamo.graph_break()
        return x + 1

    (site,) = trace(function, {"x": torch.ones(3)}).numbers()["sites"]
    assert site["module_path"] == ""


def test_a_break_behind_two_wrappers_still_knows_its_module():
    class Loop(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Layer()

        def forward(self, x):
            for _ in range(2):
                x = self.inner(x)
            return x

    (site,) = capture(Loop())["sites"]
    assert (site["module_path"], site["occurrences"]) == ("inner", 2)
