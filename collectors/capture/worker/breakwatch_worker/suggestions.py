"""Suggestions for failed captures: what a person can do, in one sentence, by status and detail."""

import re

# (status, pattern of the detail, suggestion). The first match wins; {0} is the first group of the pattern.
_TABLE = (
    ("failed_inputs", r"inputs_spec: (\S+):", "correct {0} in the inputs file"),
    ("failed_inputs", r"required argument (\w+)", "describe {0} in an inputs file: there is no recipe for it"),
    ("failed_inputs", r"the config has no (\w+)", "add {0} to the config, or describe the argument in an inputs file"),
    ("failed_inputs", "", "describe the arguments in an inputs file"),
    ("failed_create", r"no forward of its own", "name one of its parts as the architecture: the class has no forward"),
    ("failed_create", r"Could not find (\w+)", "none: the library's own table names {0}, which does not exist"),
    ("failed_create", r"unknown model_type '([^']*)'", "use a toolchain whose transformers knows {0}"),
    ("failed_create", r"has no attribute '(\w+)'", "add {0} to the config: the class requires it"),
    ("failed_create", r"NoneType|None", "complete the config like published models of this type: a value is null"),
    ("failed_create", "", "complete the config like published models of this type"),
    ("failed_eager", r"expected input\[|cannot be multiplied|normalized_shape|must match the size",
     "describe arguments of the right shape in an inputs file, or correct contradicting widths in the config"),
    ("failed_eager", "", "describe other arguments in an inputs file: the model itself fails when called"),
    ("failed_capture", "", "report the error text to PyTorch: this is an error of the compiler"),
    ("timeout", r"(\w+) passed its limit", "raise capture.limits.{0}, or capture on a less busy machine"),
    ("out_of_memory", "", "raise the memory limit, or give a config with smaller widths"),
    ("skipped_too_large", "", "give a config with smaller widths: these have no common divisor to reduce them by"),
    ("skipped_missing_dependency", r"needs a package:", "install in the toolchain what the error text names"),
    ("skipped_missing_dependency", r"needs ([\w.\-]+)", "install {0} in the toolchain"),
    ("skipped_custom_code", "", "none: code from a repository is never run; capture it as python:... if you trust it"),
    ("skipped_unsupported_library", "", "none: it has no model of transformers, timm or diffusers"),
    ("skipped_no_config", "", "none: without a config.json no model can be built"),
    ("crashed", "", "capture it again; if it crashes again, report the end of its output"),
)


# For the user's own code, which has no config. The first table applies if no row matches.
_OWN = (
    ("failed_create", r"no module (\w+) was called", "run `breakwatch discover` again: no module has the hash {0}"),
    ("failed_create", r"let the factory return", "let the factory return (module, inputs)"),
    ("failed_create", r"module '([^']+)' has no attribute '(\w+)'", "correct the selector: {0} has no {1}"),
    ("failed_create", "", "correct the factory or script: it failed before it made a module"),
    ("failed_inputs", r"breakwatch cannot copy", "none: this mode must copy the arguments, and they cannot be copied"),
    ("failed_inputs", r"no second shape", "none: the module accepts one batch size only, or its inputs are fixed"),
    ("failed_inputs", "", "correct the inputs that the factory returns or that the script passes"),
    ("failed_eager", "", "correct the code or its inputs"),
)


def suggestion_for(status: str, detail: str, own: bool = False) -> str:
    """The suggestion for a result; '' for a successful one. `own`: whether the job has a `source`."""
    for wanted, pattern, text in (_OWN if own else ()) + _TABLE:
        if wanted == status and (found := re.search(pattern, detail)):
            return text.format(*found.groups())
    return ""
