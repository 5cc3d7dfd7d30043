"""The numbers that a module of the zoo expects. They are counted by reading the module and are the numbers of Dynamo.
"""


def counts(*, events, sites, graphs, ops, counter, explain, ids="", wrapped="", fallback=0, recompiles=0, error="",
           until=None) -> dict:
    """`ids` and `wrapped` are separated by commas. `until`: {release of torch: (why the numbers differ up to this
    release, {numbers})}."""
    said = {"events": events, "sites": sites, "graphs": graphs, "ops": ops, "counter": counter, "explain": explain,
            "ids": [name for name in ids.split(",") if name], "fallback": fallback, "recompiles": recompiles,
            "wrapped": [name for name in wrapped.split(",") if name], "error": error}
    return {**said, "until": until or {}}


def for_torch(expected: dict, release: tuple) -> dict:
    """The numbers for one release of torch: of the entries in `until` that include it, the oldest one wins."""
    said = {key: value for key, value in expected.items() if key != "until"}
    reach = sorted((tuple(map(int, name.split("."))), name) for name in expected["until"])
    for last, name in reversed(reach):
        if release <= last:
            said.update(expected["until"][name][1])
    return said


def kinds_of(names: dict) -> list:
    """The modules of a file that list their numbers, in the order of the file."""
    return [value for value in names.values()
            if isinstance(value, type) and hasattr(value, "expected") and value.__module__ == names["__name__"]]
