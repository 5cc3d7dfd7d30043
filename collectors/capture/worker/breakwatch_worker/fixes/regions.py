"""Regional compilation: the largest parts of a model without a break, as a pattern of their names."""

import re

import torch

_CONTAINERS = (torch.nn.ModuleList, torch.nn.ModuleDict)
_LEAST_SHARE = 0.02  # of the model's parameters: smaller parts are not worth a graph of their own
_MOST = 16  # patterns


def of(model, sites: list) -> str:
    """A regular expression that the names of these parts match; empty if there are none. Layers of a list are one
    pattern for any number of them, as the published model has more than the reduced one."""
    if not isinstance(model, torch.nn.Module) or not sites:
        return ""
    broken = {site["module_path"] for site in sites}
    names = dict(model.named_modules())
    if not all(path in names or path == type(model).__name__ for path in broken):
        return ""
    broken = {path if path in names else "" for path in broken}
    least = max(1, int(_LEAST_SHARE * sum(parameter.numel() for parameter in model.parameters())))
    whole = list(_largest(model, "", broken, least))
    patterns = {_pattern(name, whole, names): None for name in whole}
    return "|".join(patterns) if 0 < len(patterns) <= _MOST else ""


def _largest(module, name: str, broken: set, least: int):
    below = f"{name}." if name else ""
    is_broken = any(path == name or path.startswith(below) for path in broken)
    if not is_broken and not isinstance(module, _CONTAINERS):
        if sum(parameter.numel() for parameter in module.parameters()) >= least:
            yield name
        return
    for child, part in module.named_children():
        yield from _largest(part, below + child, broken, least)


def _pattern(name: str, whole: list, names: dict) -> str:
    """With any number for the position in a list, if this matches no part that is not whole."""
    parts = name.split(".")
    general = r"\.".join(r"\d+" if part.isdigit() else part for part in parts)
    same = [other for other in names if re.fullmatch(general, other)]
    return general if all(other in whole for other in same) else r"\.".join(parts)
