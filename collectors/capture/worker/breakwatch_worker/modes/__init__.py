"""The capture modes: what is called, and what is counted. `table.py` maps names to classes.

This file imports nothing, so that the zygote can look up the policy of a mode before torch is imported.
"""

NAMES = ("eval", "train", "dynamic", "fullgraph", "nested", "export", "recompile", "cold")

# Their verdict depends on the kinds of layers, not on their number: no full-depth run follows.
REDUCED_ONLY = frozenset({"fullgraph", "export", "recompile"})


def mode_name(job: dict) -> str:
    """The name of a job's mode; the default is `eval`."""
    mode = job.get("mode")
    return mode if isinstance(mode, str) and mode else "eval"


def mode_of(job: dict):
    """The mode of a job. Raises architecture.Stop for an unknown name, or if this torch does not have the mode."""
    from . import table

    return table.find(mode_name(job))


def __getattr__(name: str):  # these need torch
    if name in ("Call", "bounded"):
        from . import base

        return getattr(base, name)
    raise AttributeError(name)
