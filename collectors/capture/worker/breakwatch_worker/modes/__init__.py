"""The ways of capturing a model. One module a mode or a few of a kind; `table.py` says which name means which.

This file imports nothing, so that the zygote can ask for a mode's policy before torch is there.
"""

NAMES = ("eval", "train", "dynamic", "fullgraph", "nested", "export", "recompile", "cold")

# Their verdict is about the model's kinds of layers, not about how often each is met: no leg at full depth.
REDUCED_ONLY = frozenset({"fullgraph", "export", "recompile"})


def mode_name(job: dict) -> str:
    """The mode a job asks for; `eval` where it names none."""
    mode = job.get("mode")
    return mode if isinstance(mode, str) and mode else "eval"


def mode_of(job: dict):
    """The mode of a job. Raises architecture.Stop for a name that is not in the table or a torch that lacks it."""
    from . import table

    return table.find(mode_name(job))


def __getattr__(name: str):  # these need torch
    if name in ("Call", "bounded"):
        from . import base

        return getattr(base, name)
    raise AttributeError(name)
