"""The capture modes: what is called, and what is counted. `table.py` maps names to classes.

This file imports nothing, so that the zygote can look up the policy of a mode before torch is imported.
"""

NAMES = ("eval", "train", "dynamic", "fullgraph", "nested", "export", "recompile", "cold")
# Modes with options of their own in the job, in one run each: they do not only capture.
MEASURE_NAMES = ("profile", "bench", "build", "fix", "repro")

# Their verdict depends on the kinds of layers, not on their number: no full-depth run follows.
REDUCED_ONLY = frozenset({"fullgraph", "export", "recompile", *MEASURE_NAMES})


def mode_name(job: dict) -> str:
    """The name of a job's mode; the default is `eval`."""
    mode = job.get("mode")
    return mode if isinstance(mode, str) and mode else "eval"


def depth_of(job: dict):
    """The depth of a job: the configuration as published, if that is what it measures."""
    name = mode_name(job)
    options = job.get("build" if name == "build" else "measure") if name in MEASURE_NAMES else None
    options = options if isinstance(options, dict) else {}
    return "original" if options.get("full") is True or options.get("weights") else job.get("depth")


def mode_of(job: dict):
    """The mode of a job. Raises architecture.Stop for an unknown name, for wrong options of a measure mode, or if this
    torch does not have the mode."""
    from . import table

    mode = table.find(mode_name(job))
    mode.configure(job)
    return mode


def __getattr__(name: str):  # these need torch
    if name in ("Call", "bounded"):
        from . import base

        return getattr(base, name)
    raise AttributeError(name)
