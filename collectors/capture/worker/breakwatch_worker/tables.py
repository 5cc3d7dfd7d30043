"""The worker's data files: what it knows of models is YAML beside the code that reads it."""

import os

import yaml


def read_beside(code: str, name: str) -> dict:
    """The YAML file `name` in the folder of `code`, a module's `__file__`."""
    with open(os.path.join(os.path.dirname(os.path.abspath(code)), name), encoding="utf-8") as file:
        return yaml.safe_load(file)
