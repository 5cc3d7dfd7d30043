"""The parts of PromQL and the exposition format that the tests must parse themselves."""

import re

KEYWORDS = {"by", "without", "on", "ignoring", "group_left", "group_right", "bool", "offset", "and", "or", "unless"}


def metric_names(expression):
    """The names of the series that an expression selects."""
    text = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    text = re.sub(r"\{[^}]*\}", " ", text)
    text = re.sub(r"\[[^\]]*\]", " ", text)
    text = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", " ", text)
    text = re.sub(r"\boffset\s+[\w$]+", " ", text)
    names = set()
    for match in re.finditer(r"(?<![\w:.$])([a-zA-Z_:][\w:]*)\s*(\(?)", text):
        name, call = match.groups()
        if not call and name not in KEYWORDS:
            names.add(name)
    return names


def families(exposition):
    """Family name -> type, from the TYPE lines."""
    return dict(re.findall(r"^# TYPE (\S+) (\S+)$", exposition, re.MULTILINE))


def samples(exposition):
    """(series text, value) of every sample."""
    for line in exposition.splitlines():
        if line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            yield series, value


def in_group(series, job, pool):
    """The series after a scrape of the gateway: with the group's labels."""
    name, brace, rest = series.partition("{")
    group = f'job="{job}",pool="{pool}"'
    return f"{name}{{{group},{rest}" if brace else f"{name}{{{group}}}"
