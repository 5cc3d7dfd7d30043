"""The worker's data files: what it knows of models is YAML beside the code that reads it."""

import importlib.metadata
import os

import yaml


def read_beside(code: str, name: str) -> dict:
    """The YAML file `name` in the folder of `code`, a module's `__file__`."""
    with open(os.path.join(os.path.dirname(os.path.abspath(code)), name), encoding="utf-8") as file:
        return yaml.safe_load(file)


def for_release(table: dict, release: str = "") -> dict:
    """A table without the entries of its lists that hold for other releases of transformers: `transformers: ">=5.10"`.
    `release` is the installed one by default. ValueError where an entry says no range of releases."""
    from packaging.specifiers import SpecifierSet  # the library's own need: it is there where recipes are read

    release = release or importlib.metadata.version("transformers")

    def holds(entry) -> bool:
        stated = entry.get("transformers") if isinstance(entry, dict) else None
        return stated is None or SpecifierSet(stated).contains(release, prereleases=True)

    return {name: [entry for entry in value if holds(entry)] if isinstance(value, list) else value
            for name, value in table.items()}
