"""Repeats a capture in separate child processes with other random seeds, and compares the results."""

MAX_REPEATS = 100
# The numbers that are compared, under their names in `differs`.
_NUMBERS = ("status", "breaks", "break_sites", "graphs", "ops_captured", "dynamo_counter_breaks", "recompiles")
_SITES_NAMED = 64


def count_of(job: dict) -> int:
    wanted = job.get("repeat")
    wanted = wanted if isinstance(wanted, int) and not isinstance(wanted, bool) else 1
    return min(max(wanted, 1), MAX_REPEATS)


def _sites(outcome: dict) -> dict:
    return {site["site_id"]: (site["occurrences"], site["compile_id"]) for site in outcome.get("sites") or ()}


def _segments(outcome: dict) -> list:
    return [(item["compile_id"], item["ops"], item["ended_by"]) for item in outcome.get("segments") or ()]


def verdict(outcomes: list) -> dict:
    """`flaky`, and the `mode_detail` of a repeat: the numbers that differ, and the sites that are not the same in
    all."""
    first = outcomes[0]
    differs = [name for name in _NUMBERS if any(other.get(name) != first.get(name) for other in outcomes)]
    sites = [_sites(outcome) for outcome in outcomes]
    moving = sorted({site for each in sites for site in each
                     if any(other.get(site) != sites[0].get(site) for other in sites)})
    if moving:
        differs.append("sites")
    if any(_segments(outcome) != _segments(first) for outcome in outcomes):
        differs.append("segments")
    detail = {"repeats": len(outcomes), "differs": differs}
    if moving:
        detail["sites_that_differ"] = moving[:_SITES_NAMED]
        detail["seen"] = {site: sum(site in each for each in sites) for site in moving[:_SITES_NAMED]}
    return {"flaky": bool(differs), "mode_detail": detail}


def publish(result: dict, outcomes: list) -> dict:
    """The published result with the comparison. `outcomes` begins with the run that the result is from."""
    compared = verdict(outcomes)
    cost = {name: round(sum(outcome.get(name) or 0 for outcome in outcomes[1:]) + (result.get(name) or 0), 4)
            for name in ("cpu_s", "capture_s")}
    differs = compared["mode_detail"]["differs"]
    text = f"flaky over {len(outcomes)} captures: {', '.join(differs)} differ" if differs else (
        f"the same in {len(outcomes)} captures")
    detail = f"{result.get('detail') or result['status']}; {text}"
    return {**result, **cost, "flaky": compared["flaky"], "detail": detail,
            "mode_detail": {**(result.get("mode_detail") or {}), **compared["mode_detail"]}}
