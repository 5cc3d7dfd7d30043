"""The files: of a whole capture or one of its sites, and the smallest one that still shows a site."""

import dataclasses
import platform
import textwrap

import torch
import transformers

from ..text import one_line
from . import config, draft, run
from .search import Search
from .values import CannotWrite

MOST_LINES = 60
_RUN_S = 180.0  # for one run in another process
_TEXT = 300
_MOST_BYTES = 512 << 10


@dataclasses.dataclass
class File:
    """One file, and whether it was seen to find the same in another process."""

    text: str
    differs: str = ""
    site_id: str = ""  # that it shows; empty: all
    minimal: bool = False
    why_full: str = ""  # why it is not minimal
    reduced: tuple = ()  # what was reduced

    def described(self) -> dict:
        fields = {name: value for name, value in dataclasses.asdict(self).items() if name != "text"}
        return {"script": self.text, "why_not": "", **fields, "reduced": list(self.reduced)}


def draft_of(call, attention: str) -> draft.Draft:
    """Raises CannotWrite."""
    model = call.model
    made_of = getattr(model, "config", None)
    if made_of is None or not type(model).__module__.startswith("transformers."):
        raise CannotWrite(f"{type(model).__name__} is not a model of transformers")
    if call.positional:
        raise CannotWrite("its call has positional arguments")
    for each in (type(model), type(made_of)):
        config.class_expression(each)
    return draft.Draft(type(made_of), config.written(made_of), type(model), named=dict(call.arguments),
                       dtype=model.dtype, attention=attention, eager_first=True)


def whole(drafted: draft.Draft, model: str, sites: list, site, counter_breaks: int) -> File:
    """The file of the capture as it is. `site`: the one that it shows; None: all."""
    shown = sites if site is None else [site]
    name = drafted.model_class.__name__
    text = _text(drafted, _about(f"Graph breaks of torch.compile in {name}", shown, model), draft.events_of(shown),
                 counter_breaks if site is None else None, "")
    if len(text) > _MOST_BYTES:
        raise CannotWrite(f"the file would have {len(text)} bytes")
    differs, _ = run.new_process(text, _RUN_S)
    return File(text, differs, site["site_id"] if site else "")


def minimal(drafted: draft.Draft, model: str, site: dict, end: float):
    """The smallest file that shows the site, found before `end`; or why there is none."""
    search = Search(dataclasses.replace(drafted, eager_first=False), site["site_id"], end)
    if not search.run(_inside(site, drafted)):
        return f"it could not be reduced: {search.seen.error or 'the break is gone in a model built by the file'}"
    why = ""
    for smallest, done in reversed([*search.kept, (search.best, search.done)]):
        file = _checked(smallest, done, model, site, search)
        if isinstance(file, File):
            return file
        why = why or file
    return f"it could not be reduced: the smaller file does not find the same in another process: {why}"


def _inside(site: dict, drafted: draft.Draft) -> str:
    """The path of the module whose code breaks; empty: the model itself."""
    return "" if site["module_path"] == drafted.model_class.__name__ else site["module_path"]


def _checked(smallest: draft.Draft, done: list, model: str, site: dict, search: Search):
    """The file if it shows the site in another process; what goes wrong otherwise."""
    shown = search.site()
    reason = site["reason"] if search.seen.reasons.get(site["site_id"]) else ""
    place, why = draft.place_of(site), ""
    about = _about(f"Graph break of torch.compile in {smallest.model_class.__name__}", [site], model, done,
                   search.outside)
    for eager_first in (False, True):
        events = shown["occurrences"]
        for _ in range(2):  # again with what the first run found
            text = _text(dataclasses.replace(smallest, eager_first=eager_first), about, {place: events}, None, reason)
            differs, found = run.new_process(text, _RUN_S)
            if not differs:
                return _file(text, done, site, search)
            why, again = why or differs, (found or {}).get(place)
            if not again or again == events:
                break
            events = again
    return why


def _file(text: str, done: list, site: dict, search: Search) -> File:
    lines = text.count("\n")
    why = [] if lines <= MOST_LINES else [f"the smallest file found has {lines} lines, more than {MOST_LINES}"]
    why += ["there was no time to try everything"] if search.stopped else []
    return File(text, "", site["site_id"], True, "; ".join(why), tuple(done))


def _text(drafted: draft.Draft, about: str, events: dict, counter_breaks, reason: str) -> str:
    return drafted.setup(about) + drafted.call(events) + draft.check(counter_breaks, reason)


def _about(title: str, sites: list, model: str, reduced=(), outside: str = "") -> str:
    lines = [f"{title}.", ""]
    for site in sites:
        reason = site["reason"] + (f" ({site['gb_id']})" if site["gb_id"] else "")
        lines += [f"{site['file']}:{site['line']} in {site['function']}, site {site['site_id']}: {reason}"]
        lines += [f"    {site['source_line']}"] if site["source_line"] else []
    lines += ["", f"From a capture of {model}." if model else "From a capture."]
    if reduced:
        lines[-1] = f"{lines[-1][:-1]}, reduced: {', '.join(reduced)}."
    if outside:
        lines.append(f"No module of the model is alone: {outside}.")
    lines.append(f"torch {torch.__version__}, transformers {transformers.__version__}, Python "
                 f"{platform.python_version()}.")
    text = "\n".join(textwrap.fill(_plain(line), draft.WIDTH, subsequent_indent="    ", break_long_words=False)
                     for line in lines)
    return f"{text}\n"


def _plain(line: str) -> str:
    """As it can stand in a docstring."""
    indent = line[:len(line) - len(line.lstrip())]
    return indent + one_line(line, _TEXT).strip().replace("\\", "\\\\").replace('"""', "'''")


