"""A config as a file writes it: only the values that its class does not set anyway."""

import ast
import copy

import transformers

from .values import CannotWrite

# They change nothing that a file makes from a config.
_IGNORED = ("architectures", "transformers_version", "dtype", "torch_dtype", "_name_or_path", "model_type")
_LABELS, _IDS = "id2label", "label2id"


def written(config) -> dict:
    """The arguments that make an equal config. Raises CannotWrite."""
    cls = type(config)
    everything = config.to_dict()
    if not is_literal(everything):
        raise CannotWrite("the config has a value that is no literal of Python")
    wanted = _comparable(everything)

    def makes_equal(tree: dict) -> bool:
        try:
            return _comparable(make(cls, tree).to_dict()) == wanted
        except Exception:  # a config class may refuse any part of its own values
            return False

    tree = copy.deepcopy(everything)
    if not makes_equal(tree):
        raise CannotWrite("its config class makes another config of the same values")
    if (labels := tree.pop(_LABELS, None)) is not None:
        tree = {**{name: value for name, value in tree.items() if name != _IDS}, "num_labels": len(labels)}
    return _without_defaults(tree, tree, makes_equal)


def make(cls, tree: dict):
    return cls(**copy.deepcopy(tree))


def class_expression(cls) -> tuple:
    """(how a file names the class, the import that this needs beside transformers)."""
    if not cls.__module__.startswith("transformers."):
        raise CannotWrite(f"{cls.__name__} is not a class of transformers")
    if getattr(transformers, cls.__name__, None) is cls:
        return f"transformers.{cls.__name__}", ""
    return cls.__name__, f"from {cls.__module__} import {cls.__name__}"


def _without_defaults(root: dict, node: dict, makes_equal) -> dict:
    """Removes in place what does not matter. The rest keeps its order: what stays moves to the end."""
    for key in list(node):
        value = node.pop(key)
        if makes_equal(root):
            continue
        node[key] = value
        if isinstance(value, dict) and value and all(isinstance(name, str) for name in value):
            _without_defaults(root, value, makes_equal)
    return root


def _comparable(tree):
    """Of labels only their number: no name changes a model."""
    if isinstance(tree, dict):
        return {str(key): len(value) if key == _LABELS and isinstance(value, dict) else _comparable(value)
                for key, value in tree.items() if key not in (*_IGNORED, _IDS)}
    return [_comparable(item) for item in tree] if isinstance(tree, (list, tuple)) else tree


def is_literal(value) -> bool:
    try:
        return ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
