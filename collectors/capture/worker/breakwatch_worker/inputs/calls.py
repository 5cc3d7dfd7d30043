"""The job's `call` (default, minimal, all): which optional arguments of forward are passed. The data is in
calls.yaml."""

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
    """The `call` of a job. Raises Stop with failed_inputs for an unknown one."""
    call = job.get("call") or DEFAULT
    if call not in (DEFAULT, "minimal", "all"):
        raise Stop("failed_inputs", f"unknown call {str(call)[:40]!r}; known are default, minimal, all",
                   "use one of the known calls")
    return call


def variants_of(call: str, partial: bool):
    """The call variants to try, in the order of the table. None for the default call, whose variants are in
    recipes.yaml. Only these can be partial."""
    if call == DEFAULT:
        return None
    return [] if partial else load()[call]


def begin(plan) -> None:
    """Prepares a Plan for its call, before the steps of its call variant are applied."""
    if plan.call == "minimal" and not plan.step.get("rules"):
        plan.add = []
    if plan.call == "all":
        plan.arguments = {**load()["arguments"], **plan.arguments}


def chosen(plan, wanted: list) -> list:
    """The arguments to pass. `wanted` are those of the default call."""
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
            raise CannotMake("the default call passes no argument that can be left out",
                             "capture this model with the default call")
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
    """The optional arguments of forward that were passed and that were not, as in the protocol."""
    signature = signature_of(model)
    if signature is None:
        return {}
    optional = [p.name for p in signature.parameters.values()
                if p.default is not p.empty and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    return {"optional_passed": _bounded([name for name in optional if name in arguments]),
            "optional_left_out": _bounded([name for name in optional if name not in arguments])}


def _bounded(names: list) -> list:
    return [clip(name, _NAME_BYTES) for name in names[:_NAMES_KEPT]]
