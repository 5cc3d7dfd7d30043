"""Selectors and queries that several dashboards share.

The queries compare states, now and `$compare` ago. compile_breaks_total is a state, the result of the last capture, so
rate() and increase() of it have no meaning. Pools hold disjoint models and a series is scraped once, so sums over pools
are right. Where only job, pool and family are chosen, the recorded series are read: they are small.
"""

GROUP = 'job=~"$job",pool=~"$pool"'
FAMILY = GROUP + ',family=~"$family"'
MODEL = FAMILY + ',model=~"$model"'
REASON = MODEL + ',reason=~"$reason"'
KNOWN_REASON = GROUP + ',reason=~"$reason"'
JOB = f"{{{GROUP}}}"

BREAKS = f"compile_breaks_total{{{REASON}}}"
SITES = f"compile_break_sites{{{REASON}}}"
BROKEN = f'compile_breaks_total{{{REASON},reason!="none"}}'
BROKEN_SITES = f'compile_break_sites{{{REASON},reason!="none"}}'
STATUS = f"breakwatch_model_status{{{MODEL}}}"
NO_NUMBERS = 'status!~"full_graph|graph_breaks|skipped_.*"'

# An id of the Hub: `name` or `namespace/name`. Other ids (script:..., python:..., a path) have other characters.
NAME = "[A-Za-z0-9][A-Za-z0-9_.-]*"
HUB_ID = f"({NAME}|{NAME}/{NAME})"


def before(selector):
    return f"{selector} offset $compare"


def with_hub(expression):
    """Adds the label `hub`, the id on the Hub, to the series of its models only: other cells have nothing to link."""
    return f'label_replace({expression}, "hub", "$1", "model", "{HUB_ID}")'


def cohort(series, selector):
    """Only the models that had numbers all through the time shown: a change of this series is not one of the models."""
    samples = f"count_over_time(model:full_graph:bool{{{selector}}}[$__range] @ end())"
    return f"{series} and on (job, pool, model) ({samples} >= 0.99 * scalar(max({samples})))"


def status_change(selector, now):
    """Models that have a status on one side only; the label `status` becomes a column named after the side."""
    status = f"breakwatch_model_status{{{selector}}}"
    sides = [f"max by (job, pool, family, model, status) ({side})" for side in (status, before(status))]
    one, other = sides if now else reversed(sides)
    name = "now" if now else "before"
    changed = f"{one} unless on (job, pool, model, status) {other}"
    return f'max by (job, pool, family, model, {name}) (label_replace({changed}, "{name}", "$1", "status", "(.*)"))'


def first_seen(selector):
    """The time of the first sample in the time shown, exact to one step; what is younger than a step is there, too."""
    return f"(min_over_time(timestamp({selector})[$__range:$__interval]) or timestamp({selector})) * 1000"


def last_seen(selector):
    return f"(timestamp({selector}) or max_over_time(timestamp({selector})[$__range:$__interval])) * 1000"


def of_group(name):
    return f"max by (job, pool) ({name}{JOB})"


def of_exporter(name):
    return f"max by (job, pool, exporter) ({name}{JOB})"


# `last_over_time` bridges missed scrapes: what was there within a day is not new.
def appeared(name, labels, always):
    """The series of a name that were not there an hour ago, when there was the series `always`."""
    known, group = (f"last_over_time({one}{JOB}[1d] offset 1h)" for one in (name, always))
    return f"{name}{JOB} unless on (job, pool, {labels}) {known} and on (job, pool) {group}"
