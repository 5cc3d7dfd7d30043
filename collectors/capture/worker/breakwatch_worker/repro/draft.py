"""What a file builds and calls, and the text of the file. It asserts the break events that a capture found."""

import dataclasses
import keyword
import pprint
import sys
import textwrap

import torch

from . import config, values

WIDTH = 110
_START = '''\
"""{about}"""

import logging

import torch
import torch._dynamo
import transformers
{imports}
{config}
torch.manual_seed(0)
{model}
'''
_CALL = '''
EVENTS = {events}  # breaks by line
messages = []
handler = logging.Handler()
handler.emit = lambda record: messages.append(record.getMessage())
torch._logging.set_logs(graph_breaks=True)
logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks").addHandler(handler)
with torch.no_grad():
{first}    torch.compile({target}, backend="eager")({arguments})
'''
_CHECK = '''
found = {{place: sum(f"{{place}}\\n" in message for message in messages) for place in EVENTS}}
assert found == EVENTS, f"found {{found}}"
{more}print("as expected:", found)
'''


@dataclasses.dataclass(frozen=True)
class Draft:
    """A model, one of its modules, and the arguments of a call. Immutable; its values are never written into."""

    config_class: type
    tree: dict  # the arguments of the config class
    model_class: type
    more: tuple = ()  # further arguments of the model class, after the config: (name, literal)
    path: str = ""  # of the module that is compiled; empty: the model
    positional: tuple = ()
    named: dict = dataclasses.field(default_factory=dict)
    dtype: torch.dtype = torch.float32
    attention: str = ""  # set in the config; empty: the library's choice
    eager_first: bool = False  # one call without a compiler comes first, as in the capture
    exact: bool = True  # tensors of integers are written out, however long

    def setup(self, about: str) -> str:
        """The file up to the arguments. Raises CannotWrite."""
        config_class, first = config.class_expression(self.config_class)
        model_class, second = config.class_expression(self.model_class)
        more = "".join(f", {name}={value!r}" for name, value in self.more)
        lines = [f"model = {model_class}(config{more}){_cast(self.dtype)}.eval()"]
        lines += [f"module = model.get_submodule({self.path!r})"] if self.path else []
        if self.positional:
            lines.append(f"arguments = {self._written(self.positional)}")
        lines += ["inputs = {", *(f"    {name!r}: {self._written(value)}," for name, value in self.named.items()), "}"]
        attention = f"config._attn_implementation = {self.attention!r}\n" if self.attention else ""
        imports = "".join(f"{line}\n" for line in dict.fromkeys((first, second)) if line)
        return _START.format(about=about, imports=imports, config=_config_text(config_class, self.tree) + attention,
                             model="\n".join(lines))

    def call(self, events: dict) -> str:
        """`events` has the number of breaks of each place: see place_of."""
        target = "module" if self.path else "model"
        arguments = "*arguments, **inputs" if self.positional else "**inputs"
        first = f"    {target}({arguments})  # the capture was of a second call\n" if self.eager_first else ""
        return _CALL.format(events=pprint.pformat(events, width=WIDTH), first=first, target=target, arguments=arguments)

    def _written(self, value) -> str:
        return values.expression(value, values.MOST_WRITTEN if self.exact else values.FEW)


def check(counter_breaks=None, reason: str = "") -> str:
    """The assertions. `counter_breaks`: there is no other break, and Dynamo counts so many. `reason`: every break has
    it."""
    more = ""
    if counter_breaks is not None:
        more += ('assert len(messages) == sum(EVENTS.values()), messages\n'
                 'counted = sum(torch._dynamo.utils.counters["graph_break"].values())\n'
                 f'assert counted == {counter_breaks}, f"Dynamo counts {{counted}}"\n')
    if reason:
        more += (f"assert all({reason!r} in message for message in messages\n"
                 '           if any(f"{place}\\n" in message for place in EVENTS)), messages\n')
    return _CHECK.format(more=more)


def place_of(site: dict) -> str:
    """"FILE:LINE" as the end of a file name in Dynamo's log."""
    file = site["file"]
    module = sys.modules.get(file.removesuffix(".py").replace("/", "."))
    if getattr(getattr(module, "__spec__", None), "origin", "") == "frozen":
        file = f"<frozen {module.__name__}>"
    return f"{file}:{site['line']}"


def events_of(sites: list) -> dict:
    """Breaks by place. Two sites can share a line."""
    events = {}
    for site in sites:
        events[place_of(site)] = events.get(place_of(site), 0) + site["occurrences"]
    return events


def _cast(dtype: torch.dtype) -> str:
    return "" if dtype is torch.float32 else f".to({dtype})"


def _config_text(cls: str, tree: dict) -> str:
    if not all(name.isidentifier() and not keyword.iskeyword(name) for name in tree):
        return f"config = {cls}(**{pprint.pformat(tree, width=WIDTH, sort_dicts=False, compact=True)})\n"
    arguments = [f"{name}={_pretty(value, len(name) + 1)}" for name, value in tree.items()]
    line = f"config = {cls}({', '.join(arguments)})"
    if len(line) <= WIDTH and "\n" not in line:
        return line + "\n"
    return f"config = {cls}(\n{_packed(arguments)}\n)\n"


def _pretty(value, indent: int) -> str:
    text = pprint.pformat(value, width=max(40, WIDTH - 4 - indent), sort_dicts=False, compact=True)
    return text.replace("\n", "\n" + " " * indent)


def _packed(arguments: list) -> str:
    """Several to a line, where they fit."""
    lines, line = [], ""
    for argument in arguments:
        if line and (len(line) + len(argument) + 2 > WIDTH - 4 or "\n" in argument or "\n" in line):
            lines.append(line + ",")
            line = ""
        line = f"{line}, {argument}" if line else argument
    return textwrap.indent("\n".join([*lines, f"{line},"]), "    ")
