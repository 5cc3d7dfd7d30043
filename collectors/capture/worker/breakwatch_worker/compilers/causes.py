"""The cause of a failed build, from a closed set (causes.yaml), and its text."""

import functools
import re
import subprocess
import traceback

from ..modes.base import text_of_error, without_advice
from ..tables import read_beside
from ..text import one_line, one_line_end

_OUTPUT = "\nOutput:\n"  # in the text of a CppCompileError: the command is before it
_IS_ERROR = re.compile(r"\b(error|undefined reference|cannot find|[Nn]o space left|Killed|Terminated)\b")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^\s/:]+/)+")


@functools.cache
def _rules() -> list:
    return read_beside(__file__, "causes.yaml")["rules"]


def cause_of(error: BaseException) -> str:
    classes = [cls.__name__ for cls in type(error).__mro__]
    text = f"{type(error).__name__}: {error}"
    step = "export" if _is_of_export(error) else "compile"
    for rule in _rules():
        if rule.get("during", step) == step and (
                "class" not in rule or any(re.search(rule["class"], name) for name in classes)) and (
                "text" not in rule or re.search(rule["text"], text)):
            return rule["cause"]
    return "other"


def text_of(error: BaseException, most: int) -> str:
    """One line of at most `most` bytes. For an error of the C++ compiler: the errors at the end of its output."""
    name = type(error).__name__
    output = _output_of(error)
    if not output:
        return one_line(f"{name}: {text_of_error(error)}", most)
    lines = output.splitlines()
    errors = "; ".join(line.strip() for line in dict.fromkeys(lines) if _IS_ERROR.search(line)) or output
    head = f"{name}: C++ compile error: "
    return head + one_line_end(_FOLDERS.sub("", errors), most - len(head))


def _output_of(error: BaseException) -> str:
    """What the compiler said; empty if it was not the compiler."""
    if isinstance(error, subprocess.CalledProcessError):
        output = error.stderr or error.output or ""
        return output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    return without_advice(str(error)).partition(_OUTPUT)[2]


def _is_of_export(error: BaseException) -> bool:
    """Whether torch.export raised it."""
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return any("/torch/export/" in name for name in frames) and not any("/torch/_inductor/" in name for name in frames)
