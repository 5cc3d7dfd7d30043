"""The text of the file. What it asserts is what the capture found: its sites, and Dynamo's own count of breaks."""

import ast
import dataclasses
import platform
import pprint
import string
import textwrap

import torch
import transformers

from . import values

_FILE = string.Template('''\
"""$title

$versions
$expected"""

import logging
import os
import re

import torch
import torch._dynamo
import transformers

CONFIG = $config
SITES = $sites  # file and line
BREAKS = $breaks  # as Dynamo counts them


class Breaks(logging.Handler):
    """Collects the places of Dynamo's log of graph breaks."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.sites = set()

    def emit(self, record):
        for file, line in re.findall(r"in user code at (.+):(\\d+)$$", record.getMessage(), re.MULTILINE):
            self.sites.add((os.path.basename(file), int(line)))


def make_model():
    config = transformers.$config_class.from_dict(CONFIG)
$attention    return transformers.$model_class._from_config(config)$cast.eval()


def make_inputs():
    return {
$inputs
    }


torch.manual_seed(0)
torch._logging.set_logs(graph_breaks=True)
breaks = Breaks()
logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks").addHandler(breaks)
model, inputs = make_model(), make_inputs()
with torch.no_grad():
    torch.compile(model, backend="eager")(**inputs)
counted = sum(torch._dynamo.utils.counters["graph_break"].values())
assert breaks.sites == SITES, breaks.sites
assert counted == BREAKS, counted
print(f"{counted} graph breaks at {len(breaks.sites)} lines, as expected")
''')


@dataclasses.dataclass
class Found:
    """What a capture found, as the file asserts it. `sites` are those of the result."""

    sites: list
    counter_breaks: int


def text_of(model, arguments: dict, found: Found) -> str:
    """The file for a model of transformers. Raises values.CannotWrite."""
    config = _config_of(model)
    places = sorted({(site["file"].rsplit("/", 1)[-1], site["line"]) for site in found.sites})
    dtype = model.dtype
    attention = getattr(model.config, "_attn_implementation", None)
    return _FILE.substitute(
        title=f"Graph breaks of torch.compile in {type(model).__name__}.",
        versions=f"torch {torch.__version__}, transformers {transformers.__version__}, "
                 f"Python {platform.python_version()}.",
        expected="\n".join(f"{site['file']}:{site['line']} in {site['function']}: {site['reason']}"
                           + (f" ({site['gb_id']})" if site["gb_id"] else "") for site in found.sites) + "\n",
        config=pprint.pformat(config, width=110, sort_dicts=False, compact=True),
        sites=pprint.pformat(set(places), width=110) if places else "set()",
        breaks=found.counter_breaks,
        config_class=type(model.config).__name__,
        model_class=type(model).__name__,
        attention=f"    config._attn_implementation = {attention!r}\n" if isinstance(attention, str) else "",
        cast="" if dtype is torch.float32 else f".to({dtype})",
        inputs=textwrap.indent("\n".join(f"{name!r}: {values.expression(value)}," for name, value in arguments.items()),
                               " " * 8),
    )


def _config_of(model) -> dict:
    """The config without what its class sets anyway, if that makes the same config. Raises CannotWrite."""
    config = getattr(model, "config", None)
    module = type(model).__module__
    if config is None or not module.startswith("transformers."):
        raise values.CannotWrite(f"{type(model).__name__} is not a model of transformers")
    for name in (type(model).__name__, type(config).__name__):
        if not hasattr(transformers, name):
            raise values.CannotWrite(f"transformers does not export {name}")
    everything = config.to_dict()
    for written in (config.to_diff_dict(), everything):
        if not _is_literal(written):
            continue
        if type(config).from_dict(dict(written)).to_dict() == everything:
            return written
    if not _is_literal(everything):
        raise values.CannotWrite("the config has a value that is no literal of Python")
    return everything


def _is_literal(value) -> bool:
    try:
        return ast.literal_eval(repr(value)) == value
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
