"""How two captures of one module in one mode differ: breakwatch's result, and plain torch's answer."""

import fnmatch
import re

NUMBERS = {"breaks": "breaks", "sites": "break_sites", "graphs": "graphs", "counter": "dynamo_counter_breaks"}
GOOD = ("full_graph", "graph_breaks")


def differences(mode: str, answers: list, result: dict | None) -> dict:
    """Field -> (plain torch's, breakwatch's); empty if they agree."""
    if result is None:
        return {"result": ("one", "none")}
    if mode == "export":
        return of_export(answers, result)
    (want,) = map(as_summary, answers)
    if mode == "recompile" and want["status"] in GOOD and (want.get("later") or want["shapes"] != shapes_of(result)):
        return of_other_shapes(want, result)
    found = different({"status": want["status"]}, {"status": result["status"]})
    if found or want["status"] not in GOOD:
        return found
    seen, names = summary(result), [*NUMBERS, "ids", "places"]
    if mode == "fullgraph":
        # A break is an exception here and ends the capture, so there is nothing else to count.
        names = ["breaks", "ids", "places"]
    return different({name: want[name] for name in names}, {name: seen[name] for name in names})


def as_summary(answer: dict) -> dict:
    """An answer with its reasons and places in the form of summary()."""
    return {**answer, "ids": added(answer.get("ids", {}), name_of), "places": added(answer.get("places", {}), place_of)}


def name_of(reason: str) -> str:
    """The id, or nothing for every reason without one: breakwatch chooses their texts."""
    return reason if re.fullmatch(r"GB\d+", reason) else ""


def place_of(place: str) -> str:
    """The source file of `<frozen os>:685`, as described in COUNTING.md."""
    reason, _, where = re.sub(r"<frozen (?:\w+\.)*(\w+)>", r"\1.py", place).rpartition(" ")
    return f"{name_of(reason)} {where}"


def added(counts: dict, name) -> dict:
    found = {}
    for key, count in counts.items():
        found[name(key)] = found.get(name(key), 0) + count
    return found


def of_other_shapes(want: dict, result: dict) -> dict:
    """Only the first call is compared: the breaks must be the same, and the other calls are ignored. There is no second
    shape only if plain torch's second call also fails."""
    expected = ("graph_breaks",) if want["first"] == "graph_breaks" else GOOD
    # The result of plain torch is not defined for a factory without a batch argument.
    fails = want.get("later") and "unexpected keyword argument 'batch'" not in want["later"]
    if result["status"] in expected or (fails and result["status"] == "failed_inputs"):
        return {}
    return {"status": (" or ".join(expected), result["status"])}


def of_export(answers: list, result: dict) -> dict:
    if any(answer.get("status") == "failed_eager" for answer in answers):
        return different({"status": "failed_eager"}, {"status": result["status"]})
    if any(answer.get("exported") for answer in answers):
        return different({"status": "full_graph"}, {"status": result["status"]})
    ids = {name for answer in answers for name in map(name_of, answer.get("ids", {})) if name}
    if not ids:
        # The registry has no such reason. breakwatch decides which texts are reasons; it must not report a full graph.
        return {} if result["status"] in ("graph_breaks", "failed_capture") else {
            "status": ("graph_breaks or failed_capture", result["status"])}  # fmt: skip
    seen = {name for name in summary(result)["ids"] if name}
    wrong = different({"status": "graph_breaks"}, {"status": result["status"]})
    return wrong or ({} if ids <= seen else {"ids": (sorted(ids), sorted(seen))})


def summary(result: dict) -> dict:
    ids, places = {}, {}
    for site in result.get("sites") or []:
        name = site["gb_id"]
        place = f"{name} {site['file'].rsplit('/', 1)[-1]}:{site['line']}"
        ids[name] = ids.get(name, 0) + site["occurrences"]
        places[place] = places.get(place, 0) + site["occurrences"]
    return {**{name: result.get(field) for name, field in NUMBERS.items()}, "ids": ids, "places": places}


def shapes_of(result: dict) -> list:
    """In the form of the oracle: the shapes of a call, without their names."""
    calls = (result.get("mode_detail") or {}).get("shapes") or []
    return [sorted(list(shape) for shape in call["shape"].values()) for call in calls]


def different(want: dict, got: dict) -> dict:
    return {name: (want[name], got[name]) for name in want if want[name] != got[name]}


def explanation(explained: list, selector: str, mode: str, found: dict) -> dict | None:
    """The entry that explains every field that differs."""
    for entry in explained:
        if fnmatch.fnmatch(selector, entry["module"]) and mode in entry["modes"] and set(found) <= set(entry["fields"]):
            return entry
    return None
