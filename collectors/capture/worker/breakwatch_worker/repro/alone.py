"""A module of a model alone: the arguments that the model calls it with, and how to build it without the model."""

import dataclasses
import inspect

import torch

from . import config, values
from .draft import Draft
from .values import CannotWrite

_NUMBERS = ("layer_idx", "layer_id", "layer_index", "idx")  # of a layer, as its class takes it
_CONFIG = "config"


def above(path: str) -> list:
    """The path and those of the modules that contain it, the innermost first, without the model itself."""
    parts = path.split(".") if path else []
    return [".".join(parts[:count]) for count in range(len(parts), 0, -1)]


def drafts(draft: Draft, path: str) -> list:
    """For `path` and each module that contains it, innermost first: (its path, a draft that calls it, why there is
    none). A module that can be built without the model has two. Builds and calls the model: for a fork. Raises what the
    model raises."""
    names = {"__name__": "__main__"}
    exec(compile(draft.setup(""), "repro.py", "exec"), names)
    model, calls, handles = names["model"], {}, []
    for each in above(path):
        module = model.get_submodule(each)

        def record(module, positional, named, each=each):
            if each not in calls:
                calls[each] = _plain(module, positional, named)

        handles.append(module.register_forward_pre_hook(record, with_kwargs=True))
    with torch.no_grad():
        model(*names.get("arguments", ()), **names["inputs"])
    found = []
    for each in above(path):
        arguments = calls.get(each, "the model does not call it as a module")
        if isinstance(arguments, str):
            found.append((each, None, arguments))
        else:
            inside = dataclasses.replace(draft, path=each, positional=arguments[0], named=arguments[1])
            found += [(each, one, "") for one in (_built_alone(inside, model), inside) if one is not None]
    return found


def _plain(module, positional: tuple, named: dict):
    """(positional, named) arguments that a file can have, by name where possible; or why it cannot have them."""
    signature = inspect.signature(module.forward)
    try:
        bound = signature.bind(*positional, **named)
    except TypeError as error:
        return str(error)
    kinds = {parameter.name: parameter.kind for parameter in signature.parameters.values()}
    first, by_name = (), {}
    for name, value in bound.arguments.items():
        if kinds[name] is inspect.Parameter.VAR_KEYWORD:
            by_name.update(value)
        elif kinds[name] in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.POSITIONAL_ONLY):
            first += tuple(value) if kinds[name] is inspect.Parameter.VAR_POSITIONAL else (value,)
        else:
            by_name[name] = value
    if first:  # what comes before it must stay in its place
        first, by_name = positional, dict(named)
    kept = {}
    try:
        first = tuple(_copied(value) for value in first)
        for name, value in by_name.items():
            if _is_left_out(signature, name, value):
                continue
            kept[name] = _copied(value)
    except CannotWrite as error:
        return str(error)
    return first, kept


def _is_left_out(signature, name: str, value) -> bool:
    """Whether an argument is at its default, or has a default and no expression."""
    parameter = signature.parameters.get(name)
    if parameter is not None and parameter.default is inspect.Parameter.empty:
        return False
    if parameter is not None and value is parameter.default:
        return True
    try:
        values.expression(value)
    except CannotWrite:
        return True
    return False


def _copied(value):
    """Raises CannotWrite for what a file cannot have."""
    values.expression(value)
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(_copied(item) for item in value)
    return {name: _copied(item) for name, item in value.items()} if type(value) is dict else value


def _built_alone(draft: Draft, model):
    """The draft with the module built from its class and a config, without the model around it; or None."""
    module = model.get_submodule(draft.path)
    cls = type(module)
    made_of = _config_of(model, draft.path)
    try:
        config.class_expression(cls)
        config.class_expression(type(made_of))
        needed = {name: parameter for name, parameter in inspect.signature(cls).parameters.items()
                  if parameter.default is inspect.Parameter.empty
                  and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)}
        if next(iter(needed), "") != _CONFIG:
            return None
        more = tuple((name, getattr(module, name, _number_in(draft.path))) for name in needed if name != _CONFIG)
        if any(name not in _NUMBERS or not isinstance(value, int) for name, value in more):
            return None
        tree = config.written(made_of)
    except (CannotWrite, ValueError, TypeError):
        return None
    return dataclasses.replace(draft, config_class=type(made_of), tree=tree, model_class=cls, more=more, path="")


def _config_of(model, path: str):
    """The config of the module, or of the nearest module around it that has one."""
    for each in above(path):
        if (found := getattr(model.get_submodule(each), "config", None)) is not None:
            return found
    return model.config


def _number_in(path: str):
    return next((int(part) for part in reversed(path.split(".")) if part.isdigit()), 0)
