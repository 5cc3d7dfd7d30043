"""The cause of a failed build, from a closed set: causes.yaml."""

import functools
import re
import traceback

from ..tables import read_beside


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


def _is_of_export(error: BaseException) -> bool:
    """Whether torch.export raised it."""
    frames = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    return any("/torch/export/" in name for name in frames) and not any("/torch/_inductor/" in name for name in frames)
