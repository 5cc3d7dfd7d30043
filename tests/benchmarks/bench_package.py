"""Compares breakwatch-runner with Python on one package, and measures how long a check takes: part of `make bench`.

Two requirements: the median of `breakwatch-runner bench` is within 5 % of that of torch.utils.benchmark on the same
package, and a check of a package of BERT's size takes less than 1 s besides the load. Exits 1 if one is not met.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time

_ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(_ROOT / "tests/worker"))

import packages_support  # noqa: E402

_BERT = {"model_type": "bert", "architectures": ["BertModel"]}  # the defaults are those of bert-base
_LIMITS = {**packages_support.LIMITS, "rss_bytes": 6 << 30}
_MOST_DIFFERENCE, _MOST_CHECK_S = 0.05, 1.0
_ROUNDS = 3  # alternating, so that a slow minute of the machine affects both

# Runs in a process of its own, as the runner does.
_IN_PYTHON = """
import ctypes, os, sys, torch
from safetensors.torch import load_file
from torch.utils.benchmark import Timer
torch.set_num_threads(1)
libtorch = os.path.join(os.path.dirname(torch.__file__), "lib/libtorch_cpu.so")
ctypes.CDLL(libtorch, mode=ctypes.RTLD_GLOBAL)  # packages do not link it
model = torch._inductor.aoti_load_package(sys.argv[1], run_single_threaded=False)
inputs = [tensor for _, tensor in sorted(load_file(sys.argv[2]).items())]
timer = Timer("model(*inputs)", globals={"model": model, "inputs": inputs}, num_threads=1)
print(timer.blocked_autorange(min_run_time=5).median)
"""


def _in_python(folder) -> float:
    command = [_ROOT / ".venv/bin/python", "-c", _IN_PYTHON, folder / "package.pt2", folder / "inputs.safetensors"]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _in_runner(folder) -> float:
    return packages_support.run("bench", folder)["median_s"]


def _check_seconds(folder) -> float:
    """Of the whole program, without the load of the package."""
    begun = time.monotonic()
    command = [packages_support.RUNNER, "check", folder, "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return time.monotonic() - begun - json.loads(ran.stdout)["load_s"]


def main() -> int:
    zygote = packages_support.zygote(BREAKWATCH_SCRATCH_BYTES=str(8 << 30))
    try:
        with tempfile.TemporaryDirectory() as parent:
            result = packages_support.build(zygote, parent, _BERT, targets=["aot_inductor"], full=True, limits=_LIMITS)
            if result["status"] != "full_graph":
                print(f"not built: {result['detail']}", file=sys.stderr)
                return 1
            return _measure(pathlib.Path(parent) / "aot_inductor")
    finally:
        zygote.close()


def _measure(folder: pathlib.Path) -> int:
    pairs = [(_in_runner(folder), _in_python(folder)) for _ in range(_ROUNDS)]
    runner, python = (sorted(times)[_ROUNDS // 2] for times in zip(*pairs, strict=True))
    difference = runner / python - 1
    check = min(_check_seconds(folder) for _ in range(_ROUNDS))
    print(f"breakwatch-runner {runner * 1e3:.2f} ms, torch.utils.benchmark {python * 1e3:.2f} ms: {difference:+.1%} "
          f"(at most {_MOST_DIFFERENCE:.0%})")
    print(f"check of a package of BERT's size: {check:.2f} s besides the load (at most {_MOST_CHECK_S:g} s)")
    return 0 if abs(difference) <= _MOST_DIFFERENCE and check < _MOST_CHECK_S else 1


if __name__ == "__main__":
    sys.exit(main())
