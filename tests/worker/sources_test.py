"""The user's own models: what a factory returns, what a script calls, and that both need permission."""

import copy
import functools
import json
import subprocess
import sys

import pytest
from breakwatch_worker import sources
from breakwatch_worker.process import child
from worker_support import BERT, environment

MODULES = '''
import sys
import torch

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = torch.nn.Linear(width, width)

    def forward(self, x):
        torch._dynamo.graph_break()
        return self.inner(x)

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.block = Block(width)

    def forward(self, x, scale=1.0):
        return self.block(x) * scale
'''
FACTORIES = MODULES + '''
def by_name(): return Net(8), {"x": torch.randn(3, 8), "scale": 2.0}
def by_position(): return Net(8), (torch.randn(3, 8),)
def alone(): return Net(8)
def function():
    def double(x):
        return x * 2
    return double, torch.ones(3)
def nearly_nothing():
    def is_something(x):
        if (x * 0.5).max() > 0:
            torch._dynamo.graph_break()
        return x
    return is_something, torch.full((3,), 1e-39)
def many():
    def add(*parts):
        return sum(parts)
    return add, (torch.ones(3), torch.ones(3))
@torch._dynamo.assume_constant_result
def evaluated_by_python():
    from breakwatch_worker.dynamo import evaluator
    return evaluator.is_pythons_own() or evaluator._FUNCTIONS is None
def while_traced():
    def add(x):
        if not evaluated_by_python():
            torch._dynamo.graph_break()
        return x + 1
    return add, torch.ones(3)
class FirstCall(torch.nn.Module):
    ready = False
    def forward(self, x):
        if not self.ready:
            torch._dynamo.graph_break()
            self.ready = True
        return x + 1
def first_call(): return FirstCall(), (torch.ones(3),)
def compiled(): return torch.compile(Net(8)), (torch.randn(3, 8),)
def compiled_in_place():
    net = Net(8)
    net.block.compile()
    return net, (torch.randn(3, 8),)
def of_a_leaf():
    def ask(x):
        if x.is_leaf:
            torch._dynamo.graph_break()
        return x + 1
    return ask, torch.ones(3, requires_grad=True)
def number(): return 7
def raising(): raise RuntimeError("no data here")
def leaving(): sys.exit("no data, so I leave")
made = Net(8)
'''
SCRIPT = MODULES + '''
def main():
    net = torch.compile(Net(int(sys.argv[1])))
    print("printed by the script")
    for _ in range(3):
        out = net(torch.randn(5, int(sys.argv[1])))
    torch.nn.ReLU()(out)
    if "fail" in sys.argv:
        raise ValueError("asked to fail")

if __name__ == "__main__":
    main()
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("own")
    (made / "factories_of_a_user.py").write_text(FACTORIES)
    (made / "script.py").write_text(SCRIPT)
    return made


def factory(folder, name: str) -> dict:
    return {"kind": "python", "factory": f"factories_of_a_user:{name}", "path": [str(folder)]}


def discover(folder, *arguments) -> dict:
    """What running the script finds, computed once for all tests with the same arguments."""
    return copy.deepcopy(_discovered(folder, arguments))


@functools.cache
def _discovered(folder, arguments: tuple, run: int = 0) -> dict:
    done = subprocess.run([sys.executable, "-m", "breakwatch_worker", "--discover", str(folder / "script.py"),
                           *arguments], capture_output=True, text=True, env=environment(), check=True)
    running, found = map(json.loads, done.stdout.splitlines())
    assert running == {"type": "running"}
    return found


@pytest.mark.parametrize("name, shape", [("by_name", [3, 8]), ("by_position", [3, 8])])
def test_a_factorys_module_is_called_with_its_inputs(allowing, folder, name, shape):
    result = allowing.capture(source=factory(folder, name))
    assert (result["status"], result["break_sites"], result["architecture"]) == ("graph_breaks", 1, "Net"), result
    assert result["inputs"]["x"]["shape"] == shape
    assert result["params"] == 72 and result["depth"] == "original"
    assert result["sites"][0]["source_line"] == "torch._dynamo.graph_break()"


@pytest.mark.parametrize("mode", ["eval", "train", "recompile"])
def test_code_of_the_first_call_only_is_captured(allowing, folder, mode):
    result = allowing.capture(source=factory(folder, "first_call"), mode=mode)
    assert (result["status"], result["breaks"]) == ("graph_breaks", 1), result


@pytest.mark.parametrize("name", ["compiled", "compiled_in_place"])
def test_a_compiled_module_of_a_factory_is_captured_uncompiled(allowing, folder, name):
    result, plain = (allowing.capture(source=factory(folder, which)) for which in (name, "by_position"))
    for number in ("graphs", "breaks", "break_sites", "ops_captured", "explain_breaks", "architecture", "params"):
        assert result[number] == plain[number], number


def test_a_leaf_input_is_a_leaf_in_the_capture(allowing, folder):
    assert allowing.capture(source=factory(folder, "of_a_leaf"))["breaks"] == 1


@pytest.mark.parametrize("name, names", [("function", ["x"]), ("many", ["parts"])])
def test_any_callable_can_be_captured(allowing, folder, name, names):
    result = allowing.capture(source=factory(folder, name))
    assert (result["status"], result["breaks"]) == ("full_graph", 0), result
    assert list(result["inputs"]) == names


@pytest.mark.parametrize("name, words", [
    ("alone", "let the factory return (module, inputs)"), ("made", "Net needs x"), ("number", "returned int"),
    ("raising", "no data here"), ("leaving", "sys.exit('no data, so I leave')"), ("absent", "absent")])
def test_a_factory_without_a_callable_fails_with_the_reason(allowing, folder, name, words):
    result = allowing.capture(source=factory(folder, name))
    assert result["status"] == "failed_create"
    assert words in result["detail"]


def test_a_child_uses_pythons_own_evaluator_while_dynamo_traces(folder, allowing):
    result = allowing.capture(source=factory(folder, "while_traced"))
    assert (result["status"], result["breaks"]) == ("full_graph", 0), result


def test_denormal_numbers_are_kept_in_the_users_code(folder, allowing):
    result = allowing.capture(source=factory(folder, "nearly_nothing"))
    assert "Call to `torch._dynamo.graph_break()`" in {site["reason"] for site in result["sites"]}


@pytest.mark.parametrize("source", [
    {"kind": "python", "factory": "os:getcwd", "path": []}, {"kind": "script", "path": "/nonexistent", "hash": ""}])
def test_the_users_code_is_not_run_without_permission(monkeypatch, source):
    monkeypatch.delenv(sources.ALLOWED, raising=False)
    result = child._guarded({"source": source}, "reduced", lambda message: None)
    assert result["status"] == "skipped_custom_code"
    assert "--allow-factories" in result["detail"]


def test_a_config_that_looks_like_a_source_is_a_config(allowing):
    result = allowing.capture({**BERT, "source": {"kind": "python", "factory": "os:getcwd"}})
    assert result["architecture"] == "BertModel"


def test_discover_lists_the_outermost_modules_in_the_order_of_their_calls(folder):
    found = discover(folder, "--", "6")
    assert [(m["class"], m["calls"], m["parameters"], m["depth"]) for m in found["modules"]] == [
        ("Net", 3, 42, 0), ("ReLU", 1, 0, 0)]
    assert found["ended"] == "" and found["output_tail"] == "printed by the script\n"
    net = found["modules"][0]
    assert net["file"] == str(folder / "script.py")
    assert SCRIPT.split("\n")[net["line"] - 1].strip() == "out = net(torch.randn(5, int(sys.argv[1])))"
    assert net["inputs"]["args"][0]["shape"] == [5, 6]


def test_discover_goes_as_deep_as_asked(folder):
    found = discover(folder, "--max-depth", "1", "--", "6")
    assert [(m["class"], m["depth"]) for m in found["modules"]] == [("Net", 0), ("Block", 1), ("ReLU", 0)]


def test_a_script_that_fails_is_listed_up_to_there_with_its_error(folder):
    found = discover(folder, "--", "6", "fail")
    assert [m["class"] for m in found["modules"]] == ["Net", "ReLU"]
    assert found["ended"] == "ValueError: asked to fail" and "asked to fail" in found["error"]


def test_a_script_that_never_ends_is_listed_up_to_its_time_limit(tmp_path):
    (tmp_path / "script.py").write_text("import torch\nnet = torch.nn.ReLU()\nwhile True:\n    net(torch.ones(2))\n")
    found = discover(tmp_path, "--timeout", "0.5")
    assert [m["class"] for m in found["modules"]] == ["ReLU"] and found["modules"][0]["calls"] > 1
    assert found["ended"] == "stopped after 0.5 s" and not found["error"]


def test_a_script_that_exits_at_once_is_listed_up_to_there(tmp_path):
    (tmp_path / "script.py").write_text(
        "import os, torch\ntorch.nn.Linear(2, 2)(torch.ones(1, 2))\nos._exit(os.fork() and os.wait()[1] or 5)\n")
    found = discover(tmp_path)
    assert ([module["class"] for module in found["modules"]], found["ended"]) == (["Linear"], "os._exit(1280)")


def test_a_script_that_traces_for_torchscript_is_listed(tmp_path):
    (tmp_path / "script.py").write_text("import torch\ntorch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))\n")
    found = discover(tmp_path)
    first = found["modules"][0]
    assert (first["class"], first["parameters"], first["inputs"]["args"][0]["shape"]) == ("Linear", 6, [1, 2])


def test_the_hash_is_of_the_structure_and_not_of_the_weights_or_the_run(folder):
    runs = [(("--", "6"), 0), (("--", "6"), 1), (("--", "7"), 0)]
    first, again, wider = (_discovered(folder, given, run)["modules"][0]["hash"] for given, run in runs)
    assert first == again != wider


def test_a_script_is_run_up_to_the_call_of_the_module_with_the_hash(allowing, folder):
    inner = discover(folder, "--max-depth", "1", "--", "6")["modules"][1]
    source = {"kind": "script", "path": str(folder / "script.py"), "hash": inner["hash"], "args": ["6"]}
    result = allowing.capture(source=source)
    assert (result["status"], result["architecture"], result["breaks"]) == ("graph_breaks", "Block", 1), result
    assert result["inputs"]["x"]["shape"] == [5, 6]
    assert "called at script.py:" in result["detail"]


def test_an_unknown_hash_is_reported_with_the_known_ones(allowing, folder):
    source = {"kind": "script", "path": str(folder / "script.py"), "hash": "0" * 12, "args": ["6"]}
    result = allowing.capture(source=source)
    assert result["status"] == "failed_create"
    assert "no module 000000000000 was called; seen: " in result["detail"]


SEVERAL = '''
import torch

class Net(torch.nn.Module):
    def forward(self, x, low):
        return x.clamp(min=low)

def run(width):
    return torch.nn.Linear(width, 2)(torch.ones(3, width))

Net()(torch.ones(2), float("-inf"))
run(4)
torch.nn.MSELoss()(run(8), torch.zeros(3, 2))
'''


@pytest.fixture(scope="module")
def several(tmp_path_factory, allowing):
    """(what discover reports about each module of that script, a function that captures one)."""
    folder = tmp_path_factory.mktemp("several")
    (folder / "script.py").write_text(SEVERAL)
    return discover(folder)["modules"], lambda module, mode="eval": allowing.capture(
        source={"kind": "script", "path": str(folder / "script.py"), "hash": module["hash"]}, mode=mode)


def test_modules_that_live_one_after_another_are_distinguished(several):
    found, capture = several
    for module in found[1:3]:
        result = capture(module)
        assert (result["status"], result["params"]) == ("full_graph", module["parameters"]), result
    assert [module["parameters"] for module in found[1:3]] == [10, 18]


def test_a_non_finite_argument_does_not_break_the_listing(several):
    module, capture = several[0][0], several[1]
    assert module["inputs"]["args"][1] == "-inf"
    result = capture(module)
    assert result["status"] == "full_graph" and "-inf" in result["inputs"].values(), result


def test_a_loss_trains_on_what_its_script_computed(several):
    result = several[1](several[0][3], "train")
    assert result["mode_detail"]["backward_ran"] and "failed" not in result["detail"], result
