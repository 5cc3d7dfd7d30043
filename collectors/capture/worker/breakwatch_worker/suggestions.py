"""Suggestions for failed captures: what a person can do, in one sentence.

The worker's own errors carry theirs (errors.py). Here are those for errors of other libraries, found by patterns of
their messages, and the default of each status.
"""

import re

# Where the model is from, which decides what a person can change: a config of transformers; a config of another
# library, for which inputs files have no effect; or the user's own code, which has no config.
CONFIG, LIBRARY, OWN = "config", "library", "own"

# (status, pattern of the message of another library, suggestion). For models from a config of transformers. The first
# match wins; {0} is the first group of the pattern.
_FOREIGN = (
    ("failed_create", r"Could not find (\w+) (?:neither )?in <module",
     "none: the library's own table names {0}, which does not exist"),
    ("failed_create", r"'\w*Config' object has no attribute '(\w+)'", "add {0} to the config: the class requires it"),
    ("failed_create", r"\bNone(Type)?\b",
     "set the value that is null or missing in the config; compare it with a published model of this type"),
    ("failed_eager", r"expected input\[|cannot be multiplied|normalized_shape|must match the size",
     "describe arguments of the right shape in an inputs file, or correct contradicting widths in the config"),
)

_DEFAULTS = {
    "failed_create":
        "correct missing or contradicting values of the config; compare it with a published model of this type",
    "failed_inputs": "describe the arguments in an inputs file",
    "failed_eager": "describe other arguments in an inputs file: the model itself fails when called",
    "failed_capture": "report the error text to PyTorch: this is an error of the compiler",
    "timeout": "raise capture.limits, or capture on a less busy machine",
    "out_of_memory": "raise the memory limit, or give a config with smaller widths",
    "skipped_too_large": "give a config with smaller widths",
    "skipped_missing_dependency": "install in the toolchain what the error text names",
    "skipped_custom_code":
        "none: code from a repository is never run; capture it as python:... if you trust it",
    "skipped_unsupported_library": "none: it has no model of transformers, timm or diffusers",
    "skipped_no_config": "none: without a config.json no model can be built",
    "crashed": "capture it again; if it crashes again, report the end of its output",
}

# Those that differ for other models.
_DEFAULTS_OF = {
    CONFIG: {},
    LIBRARY: {
        "failed_inputs": "none: breakwatch cannot make the arguments of this class",
        "failed_eager": "none: the class fails when called with the arguments that breakwatch makes for it",
    },
    OWN: {
        "failed_create": "correct the factory or script: it failed before it made a module",
        "failed_inputs": "correct the inputs that the factory returns or that the script passes",
        "failed_eager": "correct the code or its inputs",
        "out_of_memory": "raise the memory limit, or capture a smaller module",
    },
}


def for_foreign(status: str, message: str, origin: str) -> str:
    """The suggestion for an error of another library; '' without a pattern for it."""
    for wanted, pattern, text in _FOREIGN if origin == CONFIG else ():
        if wanted == status and (found := re.search(pattern, message)):
            return text.format(*found.groups())
    return ""


def default_for(status: str, origin: str) -> str:
    """The suggestion for a status; '' for a successful capture and for one that was not attempted."""
    return _DEFAULTS_OF[origin].get(status) or _DEFAULTS.get(status, "")
