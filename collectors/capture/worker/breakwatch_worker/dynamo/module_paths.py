"""The nn.Module whose code a break is in: the first argument of the innermost translated frame that has a module there.

This is determined when a break is logged. Inlined callees have ended by then, so their arguments are read from the
frames of the exception's traceback. """

import sys
import types

import torch

from .breaks import plain_function


class Paths:
    """The paths of a model's modules. Made once for each trace; keeps no module alive after it."""

    def __init__(self, function):
        root = function if isinstance(function, torch.nn.Module) else getattr(function, "__self__", None)
        self._root = root if isinstance(root, torch.nn.Module) else None
        self._names = None

    def path_of(self, modules: list) -> str:
        """The path of the first module: the class name for the root itself, "" without a module."""
        return (self.known(modules[0]) or type(modules[0]).__name__) if modules else ""

    def known(self, module) -> str:
        """The path inside the root, "" for the root itself, None for a module that is not part of it."""
        if self._names is None:
            modules = self._root.named_modules() if self._root is not None else ()
            self._names = {id(found): name for name, found in modules}
        return self._names.get(id(module))


def modules_of(error: BaseException, translator) -> list:
    """The modules whose code was translated when `error` was raised, the innermost first."""
    found = (*reversed(_inlined_modules(error)), _own_module(translator), _resumed_module(translator))
    return [module for module in found if isinstance(module, torch.nn.Module)]


def _inlined_modules(error: BaseException) -> list:
    """The first arguments of the inlined calls when `error`, or an error that it replaced, was raised; innermost
    last."""
    found = []
    seen = set()
    while error is not None and id(error) not in seen and len(seen) < 16:
        seen.add(id(error))
        here = []
        place = error.__traceback__
        while place is not None:
            code = place.tb_frame.f_code
            if code.co_name == "inline_call" and code.co_filename.endswith("symbolic_convert.py"):
                names = place.tb_frame.f_locals
                arguments = names.get("args")
                here.append(_value_of(arguments[0], names.get("parent")) if arguments else None)
            place = place.tb_next
        found = here or found  # the replaced error has the deeper frames
        error = error.__cause__ or error.__context__
    return found


def _resumed_module(translator):
    """The module of a function that was resumed without `self`, because the code after the break does not use it. The
    frame with the break calls the resumed function, has the original name and still has the arguments."""
    code = getattr(translator, "f_code", None)
    name = plain_function(code.co_name) if code is not None else ""
    if code is None or name == code.co_name:
        return None
    frame = sys._getframe()
    while frame is not None:
        caller = frame.f_code
        if caller.co_filename == code.co_filename and plain_function(caller.co_name) == name:
            module = frame.f_locals.get("self", frame.f_locals.get(next(iter(caller.co_varnames), "")))
            if isinstance(module, torch.nn.Module):
                return module
            if caller.co_name == name:  # the original function: frames further out with this name are other calls
                return None
        frame = frame.f_back
    return None


def _own_module(translator):
    """The module of the compiled frame: its first argument, or `self` of a resumed function."""
    code = getattr(translator, "f_code", None)
    values = getattr(translator, "f_locals", None) or {}
    for name in (*(code.co_varnames[:1] if code is not None else ()), "self"):
        value = values.get(name)
        if isinstance(value, types.CellType):  # an inner function also uses the argument
            try:
                value = value.cell_contents
            except ValueError:  # empty
                continue
        if isinstance(value, torch.nn.Module):
            return value
    return None


def _value_of(variable, translator, depth: int = 0):
    """The module of a VariableTracker, without making Dynamo realize it."""
    if variable is None or depth > 4:
        return None
    cache = getattr(variable, "__dict__", {}).get("_cache")
    if cache is not None:  # lazy: it has its value before it is realized
        realized = getattr(cache, "vt", None)
        return _value_of(realized, translator, depth + 1) if realized is not None else getattr(cache, "value", None)
    fields = getattr(variable, "__dict__", {})
    if isinstance(fields.get("value"), torch.nn.Module):
        return fields["value"]
    if "module_key" in fields:
        return translator.output.nn_modules.get(fields["module_key"])
    return None
