"""The config keys of the size policy (sizes.yaml), and the iteration over the nodes of a config."""

import functools

from ..tables import read_beside


@functools.cache
def load_rules() -> dict:
    return {key: set(value) if isinstance(value, list) and key != "token_suffixes" else value
            for key, value in read_beside(__file__, "sizes.yaml").items()}


def nodes(tree: dict, path: str = ""):
    yield path, tree
    for key, value in tree.items():
        if isinstance(value, dict) and key not in ("id2label", "label2id", "rope_parameters", "rope_scaling"):
            yield from nodes(value, f"{path}{key}.")
        elif isinstance(value, list):  # a few configs hold a list of configs
            for index, item in enumerate(value):
                if isinstance(item, dict):
                    yield from nodes(item, f"{path}{key}.{index}.")


def is_int(value) -> bool:
    return type(value) is int
