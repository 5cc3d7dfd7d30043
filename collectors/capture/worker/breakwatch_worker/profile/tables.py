"""The tables of a profile, from the findings of the lanes: segments, totals, the whole model, the cost of breaks."""

from . import cells
from .backends import is_in_process
from .options import PLAIN, Options

_NUMBERS = ("mean_s", "median_s", "low_s", "high_s", "p50_s", "p90_s", "p95_s", "p99_s")
_PACKAGED = "graphs in breakwatch-runner, Python code as timed with {}"


def is_whole(answer: dict) -> bool:
    """Whether the model is one graph that no break ended, as a lane with all its graphs found."""
    return len(answer.get("graphs", ())) == 1 and not answer.get("sites")


def bench(options: Options, lanes: dict, found: dict) -> dict:
    totals = {}
    for name in options.backends:
        cell = dict(found[name]["total"]) if name in found else dict(lanes[name].cell)
        if cell["status"] == "ok" and found[name].get("peak_rss_mb") is not None:
            cell["peak_rss_mb"] = found[name]["peak_rss_mb"]
        totals[name] = cell
    return {**_counts(found), "totals": totals}


def _counts(found: dict) -> dict:
    """Of the backend with most: each compiles for itself."""
    return {name: max((each.get(name, 0) for each in found.values()), default=0)
            for name in ("discarded_runs", "recompiles")}


def check_same_graphs(lanes: dict) -> None:
    """Fails each lane whose graphs are not those of the reference."""
    def graphs(lane) -> list:
        return [(each["compile_id"], each["ops_total"]) for each in lane.answer.get("graphs", ())]

    for lane in lanes.values():
        if lane.alive and "graphs" in lane.answer and graphs(lane) != graphs(lanes["eager"]):
            lane.fail(cells.failed("failed", "its graphs are not those of eager: the model behaves differently"))


def with_throughput(profile: dict) -> dict:
    """The profile with the items in a second in each total."""
    for cell in profile["totals"].values():
        if cell.get("mean_s"):
            cell["throughput"] = cells.digits(profile["batch"] / cell["mean_s"])
    return profile


def without_numbers(options: Options, cell: dict, in_graphs: bool) -> dict:
    """The tables of a profile that could not begin."""
    names = [*([PLAIN] if in_graphs else []), *options.backends]
    made = {"inputs": {}, "discarded_runs": 0, "recompiles": 0, "totals": {name: dict(cell) for name in names}}
    if in_graphs:
        made.update(segments=[], break_costs=[], whole={"available": False, "how": "", "why_not": cell["detail"],
                                                        "cells": {}})
    return made


def profile(options: Options, lanes: dict, found: dict, whole: dict) -> dict:
    reference = lanes["eager"].answer
    segments = _segments(options, lanes, found, reference)
    totals = {name: _total(name, lanes, found, segments) for name in (PLAIN, *options.backends)}
    described = _whole(whole, found, reference, options)
    return {
        **_counts({name: each for name, each in found.items() if not name.startswith("whole ")}),
        "segments": segments, "totals": totals, "whole": described,
        "break_costs": _break_costs(reference.get("sites", []), segments, totals, described),
    }


def _segments(options: Options, lanes: dict, found: dict, reference: dict) -> list:
    """The segments of the reference, in the order of a run, with the cells of each backend."""
    graphs, sites = reference.get("graphs", []), {site["site_id"]: site for site in reference.get("sites", [])}
    by_key = {name: {tuple(each["key"]): each for each in found.get(name, {}).get("segments", ())} for name in lanes}
    segments = []
    for key, measured in by_key["eager"].items():
        described = _graph(graphs, key[0]) if len(key) == 1 else _python(sites.get(measured["cause"]))
        in_cells = {name: cell for name in options.backends
                    if (cell := _segment_cell(lanes[name], key, by_key[name], found.get(name, {}))) is not None}
        if len(key) == 1:  # a package is measured by the call, a segment by the run of the model
            in_cells = {name: cell if is_in_process(name) else _times(measured["calls"], cell)
                        for name, cell in in_cells.items()}
        segments.append({"index": len(segments), **described, "calls": measured["calls"], "cells": in_cells,
                         **({"between": list(key)} if len(key) == 2 else {})})
    return segments


def _times(calls: int, cell: dict) -> dict:
    return {key: cells.digits(calls * value) if key in _NUMBERS else value for key, value in cell.items()}


def _graph(graphs: list, number: int) -> dict:
    known = graphs[number - 1] if number <= len(graphs) else {}
    return {"kind": "graph", "graph": number, "compile_id": known.get("compile_id", ""), "file": known.get("file", ""),
            "line": known.get("line", 0), "function": known.get("function", ""), "ops": known.get("ops_total", 0),
            "ended_by": known.get("ended_by", "")}


def _python(site) -> dict:
    """The Python code between two graphs. Its place is that of the break."""
    place = {name: site[name] for name in ("file", "line", "function")} if site else {
        "file": "", "line": 0, "function": ""}
    return {"kind": "python", "compile_id": "", **place, "ops": 0, "ended_by": site["site_id"] if site else ""}


def _segment_cell(lane, key: tuple, measured: dict, found: dict):
    if len(key) == 1 and (cell := lane.answer.get("failed", {}).get(str(key[0]))) is not None:
        return cell
    if key in measured:
        return measured[key]["cell"]
    if lane.cell is not None:
        return lane.cell
    if found.get("total", {}).get("status", "ok") != "ok":
        return found["total"]
    if len(key) == 2:
        return None  # graphs that are timed in another process have no Python code between them
    return cells.failed("failed", "it was not reached")


def _total(name: str, lanes: dict, found: dict, segments: list) -> dict:
    lane = lanes[name]
    if name not in found:
        return dict(lane.cell)
    if failed := lane.answer.get("failed"):
        number, cell = next(iter(failed.items()))
        rest = f", and {len(failed) - 1} more" if len(failed) > 1 else ""
        return cells.failed(cell["status"], f"graph {number}{rest}: {cell['detail']}")
    if "total" in found[name]:
        return {**found[name]["total"], **found[name].get("parts", {})}
    return _sum(name, found, segments)


def _sum(name: str, found: dict, segments: list) -> dict:
    """The total of a backend whose graphs run in another process: the sum over the segments, Python code as in another
    total. The limits of the interval are added, which gives a wider interval than a measurement."""
    graphs = [each["cells"][name] for each in segments if each["kind"] == "graph"]
    bad = next((cell for cell in graphs if cell["status"] != "ok"), None)
    if bad is not None:
        return cells.failed(bad["status"], bad["detail"])
    other = next((each for each in ("eager", "inductor") if found.get(each, {}).get("total", {}).get("runs")), "")
    if not other:
        return cells.failed("failed", "no run of the Python code between the graphs was timed")
    python = [each["cell"] for each in found[other]["segments"] if len(each["key"]) == 2]
    made = {key: cells.digits(sum(cell.get(key, 0.0) for cell in (*graphs, *python))) for key in _NUMBERS}
    return {"status": "ok", "detail": _PACKAGED.format(other), "failures": 0,
            "runs": min((cell["runs"] for cell in graphs), default=0), **made,
            "graphs_s": cells.digits(sum(cell["median_s"] for cell in graphs)),
            "python_s": found[other]["parts"]["python_s"],
            "compile_s": cells.digits(sum(cell.get("compile_s") or 0.0 for cell in graphs))}


def _whole(whole: dict, found: dict, reference: dict, options: Options) -> dict:
    if is_whole(reference):
        return {"available": True, "how": "fullgraph", "why_not": "", "cells": {}}  # they would be the totals
    if not whole:
        return {"available": False, "how": "", "why_not": "its graphs were not found", "cells": {}}
    first = whole["eager"]
    if not first.answer:
        return {"available": False, "how": "", "why_not": first.cell["detail"], "cells": {}}
    in_cells = {}
    for name, lane in whole.items():
        if name in options.backends:
            in_cells[name] = _total(lane.name, {lane.name: lane}, found, [])
    return {"available": True, "how": first.answer["how"], "why_not": "", "cells": in_cells}


def _break_costs(sites: list, segments: list, totals: dict, whole: dict) -> list:
    """The Python code that each break caused, and what all breaks together keep the compiler from fusing."""
    backend = next((name for name in ("inductor", "eager") if totals.get(name, {}).get("median_s")), "")
    fusion, why_not = _fusion(backend, totals, whole)
    costs = []
    for site in sites:
        medians = [cell["median_s"] for each in segments if each["kind"] == "python"
                   and each["ended_by"] == site["site_id"]
                   and (cell := each["cells"].get(backend, {})).get("median_s") is not None]
        costs.append({
            **{name: site[name] for name in ("site_id", "reason", "gb_id", "occurrences")},
            "between_s": cells.digits(sum(medians)) if medians else None, "fusion_s": fusion,
            "shared_with": len(sites) - 1, "why_not": why_not, "backend": backend})
    return costs


def _fusion(backend: str, totals: dict, whole: dict) -> tuple:
    """(seconds by which the graphs of the whole model are faster than its pieces, why this is unknown)."""
    if not backend:
        return None, "no backend was measured"
    if not whole["available"]:
        return None, f"the model cannot be captured as one graph: {whole['why_not']}"
    cell = whole["cells"].get(backend, {})
    if cell.get("graphs_s") is None:
        return None, f"the model as one graph was not measured: {cell.get('detail') or cell.get('status')}"
    return cells.digits(totals[backend]["graphs_s"] - cell["graphs_s"]), ""
