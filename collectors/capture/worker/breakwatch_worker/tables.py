"""Reads the worker's data files: YAML beside the code that uses it."""

import importlib.metadata
import os

import yaml


def read_beside(code: str, name: str) -> dict:
    """The YAML file `name` in the folder of `code`, the `__file__` of a module."""
    with open(os.path.join(os.path.dirname(os.path.abspath(code)), name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def for_release(table: dict, release: str = "") -> dict:
    """The table without list entries for other releases of transformers (`transformers: ">=5.10"`). `release` defaults
    to the installed one. Raises ValueError for an entry with an invalid range."""
    from packaging.specifiers import SpecifierSet  # a dependency of transformers, so it is installed

    release = release or importlib.metadata.version("transformers")

    def holds(entry) -> bool:
        stated = entry.get("transformers") if isinstance(entry, dict) else None
        return stated is None or SpecifierSet(stated).contains(release, prereleases=True)

    return {name: [entry for entry in value if holds(entry)] if isinstance(value, list) else value
            for name, value in table.items()}
