"""What the result says of a site that no fix removes: where it is, whose code it is, and what Dynamo says."""

_STACK, _HINTS, _TEXT = 12, 8, 2000


def described(site: dict) -> dict:
    return {
        **{name: site[name] for name in ("site_id", "reason", "gb_id", "file", "line", "function")},
        "stack": list(site["stack"])[:_STACK], "owner": site["frame"], "explanation": site["explanation"][:_TEXT],
        "hints": list(site["hints"])[:_HINTS],
    }
