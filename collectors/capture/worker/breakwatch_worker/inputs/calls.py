"""Call variants: which of forward's optional arguments are passed. What each passes is data: calls.yaml."""

import functools
import re

from ..model.architecture import Stop
from ..tables import read_beside
from ..text import clip
from .copies import signature_of
from .make_values import CannotMake

DEFAULT = "default"
_NO_TENSOR = {"value", "list", "session"}
_NAMES_KEPT, _NAME_BYTES = 64, 100


@functools.cache
def load() -> dict:
    return read_beside(__file__, "calls.yaml")


def call_name(job: dict) -> str:
    """The call that a job asks for. Stop with failed_inputs for one that is not known here."""
    call = job.get("call") or DEFAULT
    if call not in (DEFAULT, "minimal", "all"):
        raise Stop("failed_inputs", f"unknown call {str(call)[:40]!r}; known are default, minimal, all")
    return call


def variants_of(call: str, partial: bool):
    """The ways of calling to try, in the order of the table; None: those of the default call. A variant leaves out or
    passes what its name says: it has no `part`."""
    if call == DEFAULT:
        return None
    return [] if partial else load()[call]


def begin(plan) -> None:
    """What a Plan knows of its call, before the steps of its variant."""
    if plan.call == "minimal" and not plan.step.get("rules"):
        plan.add = []
    if plan.call == "all":
        plan.arguments = {**load()["arguments"], **plan.arguments}


def chosen(plan, wanted: list) -> list:
    """The arguments to pass, of a Plan and those that its default call passes."""
    if plan.call == "minimal":
        return _least(plan, wanted)
    if plan.call == "all":
        added = [name for name in sorted(plan.names) if _is_added(plan, name, wanted)]
        plan.arguments.update({name: {"kind": "like_main"} for name in load()["like_main"] if name in added})
        return wanted + added
    return wanted


def _least(plan, wanted: list) -> list:
    if "without" in plan.step:
        kept = [name for name in wanted if name in plan.required or not re.search(plan.step["without"], name)]
        if kept == wanted:
            raise CannotMake("the default call passes nothing that can be left out")
        return kept
    instead = (name for name in load()["main_instead"] if name in wanted)
    main = plan.main if plan.main in wanted else next(instead, "")
    return [name for name in wanted if name == main or name in plan.required or name in plan.add]


def _is_added(plan, name: str, wanted: list) -> bool:
    if name in wanted or name in plan.omit or re.search(load()["never"], name):
        return False
    if "only" in plan.step and not re.search(plan.step["only"], name):
        return False
    if "but" in plan.step and re.search(plan.step["but"], name):
        return False
    recipe = plan.recipe(name)
    return recipe is not None and recipe.get("kind", "normal") not in _NO_TENSOR


def optional_arguments(model, arguments: dict) -> dict:
    """What the result says of the arguments that forward can do without: which were passed, which were not."""
    signature = signature_of(model)
    if signature is None:
        return {}
    optional = [p.name for p in signature.parameters.values()
                if p.default is not p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {"optional_passed": _bounded([name for name in optional if name in arguments]),
            "optional_left_out": _bounded([name for name in optional if name not in arguments])}


def _bounded(names: list) -> list:
    return [clip(name, _NAME_BYTES) for name in names[:_NAMES_KEPT]]
