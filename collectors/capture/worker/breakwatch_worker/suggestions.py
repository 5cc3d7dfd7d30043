"""What a person can do about a capture that gave no answer: one sentence by status and text."""

import re

# The first that matches wins; {0} is what the pattern found.
_TABLE = (
    ("failed_inputs", r"inputs_spec: (\S+):", "correct {0} in the inputs file"),
    ("failed_inputs", r"required argument (\w+)", "say in an inputs file how {0} is made: no recipe can know it"),
    ("failed_inputs", r"the config has no (\w+)", "add {0} to the config, or describe the argument in an inputs file"),
    ("failed_inputs", "", "describe the arguments in an inputs file"),
    ("failed_create", r"no forward of its own", "name one of its parts as the architecture: it is never called whole"),
    ("failed_create", r"Could not find (\w+)", "none here: the library's own table names {0}, which it does not have"),
    ("failed_create", r"unknown model_type '([^']*)'", "use a toolchain whose transformers knows {0}"),
    ("failed_create", r"has no attribute '(\w+)'", "add {0} to the config: the class demands it"),
    ("failed_create", r"NoneType|None", "complete the config as published models of this type have it: a null"),
    ("failed_create", "", "complete the config as published models of this type have it"),
    ("failed_eager", r"expected input\[|cannot be multiplied|normalized_shape|must match the size",
     "describe arguments of the right shape in an inputs file, or correct widths of the config that disagree"),
    ("failed_eager", "", "the model itself fails when called: describe other arguments in an inputs file"),
    ("failed_capture", "", "an error of the compiler: the error's text is what to report to PyTorch"),
    ("timeout", r"(\w+) passed its limit", "raise capture.limits.{0}, or capture on a less busy machine"),
    ("out_of_memory", "", "raise the memory limit, or give a config with smaller widths"),
    ("skipped_too_large", "", "give a config with smaller widths: this one's have no common divisor to shrink by"),
    ("skipped_missing_dependency", r"needs a package:", "install in the toolchain what the error's text asks for"),
    ("skipped_missing_dependency", r"needs ([\w.\-]+)", "install {0} in the toolchain"),
    ("skipped_custom_code", "", "none: code from a repository is never run; name it as python:... if you trust it"),
    ("skipped_unsupported_library", "", "none: no model of transformers, timm or diffusers is in it"),
    ("skipped_no_config", "", "none: without a config.json there is nothing to build"),
    ("crashed", "", "capture it once more; where it crashes again, the output's tail is what to report"),
)


# Of the user's own code, which has no config; what follows from no row here is of the first table.
_OWN = (
    ("failed_create", r"no module (\w+) was called", "run `breakwatch discover` again: the hash {0} is of no module"),
    ("failed_create", r"let the factory return", "let the factory return (module, inputs)"),
    ("failed_create", r"module '([^']+)' has no attribute '(\w+)'", "correct the selector: {0} has no {1}"),
    ("failed_create", "", "correct the factory or script: it failed before there was a module"),
    ("failed_inputs", r"breakwatch cannot copy", "none: what it is called with cannot be copied, as this mode must"),
    ("failed_inputs", r"no second shape", "none: this module takes one batch only, or its inputs cannot be changed"),
    ("failed_inputs", "", "correct the inputs that the factory returns, or that the script calls it with"),
    ("failed_eager", "", "correct the code, or the inputs it is called with"),
)


def suggestion_for(status: str, detail: str, own: bool = False) -> str:
    """'' where an answer was found. `own`: of a job with a source."""
    for wanted, pattern, text in (_OWN if own else ()) + _TABLE:
        if wanted == status and (found := re.search(pattern, detail)):
            return text.format(*found.groups())
    return ""
