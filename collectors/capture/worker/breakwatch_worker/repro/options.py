"""The job's `repro`: which site the file shows, and whether it is made small."""

import dataclasses
import re

from ..model.architecture import Stop

_SITE = re.compile(r"[0-9a-f]{8,64}")
_MOST_S = 86_400


@dataclasses.dataclass(frozen=True)
class Options:
    site: str = ""  # the id of a site or its beginning; empty: all sites
    minimal: bool = False
    budget_s: float = 120.0  # of the search for a smaller file


def _is_site(value) -> bool:
    return isinstance(value, str) and (not value or _SITE.fullmatch(value) is not None)


def _is_time(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= _MOST_S


# What each field accepts: a test, and its text in an error.
_FIELDS = {
    "site": (_is_site, "the id of a site, or at least its first 8 digits"),
    "minimal": (lambda value: isinstance(value, bool), "true or false"),
    "budget_s": (_is_time, "seconds above 0, at most a day"),
}


def options_of(job: dict) -> Options:
    """Raises Stop with failed_create and the name of a field with a wrong value."""
    given = job.get("repro")
    if given is None:
        return Options()
    if not isinstance(given, dict):
        raise Stop("failed_create", "repro: an object was expected", "correct repro in the job")
    for name, value in given.items():
        if name in _FIELDS and not _FIELDS[name][0](value):
            raise Stop("failed_create", f"repro.{name}: {str(value)[:80]!r} is not {_FIELDS[name][1]}",
                       f"set it to {_FIELDS[name][1]}")
    return Options(**{name: value for name, value in given.items() if name in _FIELDS})


def site_of(sites: list, wanted: str) -> tuple:
    """(the site whose id begins so, ""), or (None, why there is not exactly one)."""
    found = [site for site in sites if site["site_id"].startswith(wanted)]
    if len(found) == 1:
        return found[0], ""
    if not sites:
        return None, f"no site {wanted}: the model has no break"
    known = ", ".join(f"{site['site_id']} ({site['file'].rsplit('/', 1)[-1]}:{site['line']})"
                      for site in (found or sites)[:8])
    if found:
        return None, f"{len(found)} sites begin with {wanted}: {known}; give more digits"
    return None, f"no site {wanted} in this capture, which has {known}"
