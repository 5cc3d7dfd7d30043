"""Leaves out what Dynamo does only for logs that nobody reads here. No count depends on any of it.

Measured, of a capture's processor time: timing every new guard, with a cache flush of 32 MB before it, 4 to 12 %;
formatting the same frames of the stack anew for every node of a graph, 3 to 6 %; tokenizing whole source files to
name a function in a debug line, 1 to 2 %; asking 90,000 times for settings that stay, 4 to 7 %; cutting the same file
names short in the text of guards, 1 %. A torch or Python without one of these places loses nothing.
"""

import contextvars
import functools
import importlib
import traceback

_FRAMES_KEPT = 1 << 14
_FILES_KEPT = 1 << 12


def turn_logging_off() -> None:
    from torch._dynamo import guards, symbolic_convert

    if hasattr(guards, "profile_guard_manager"):
        guards.profile_guard_manager = lambda *_: 0.0
    if hasattr(symbolic_convert, "get_funcname"):
        symbolic_convert.get_funcname = lambda *_: None
    remember_frames()
    remember_file_names()
    for name in ("torch._dynamo.config", "torch.fx.experimental._config", "torch._functorch.config"):
        remember_settings(importlib.import_module(name))


def remember_file_names() -> None:
    from torch.utils import _traceback

    if hasattr(_traceback, "shorten_filename"):
        _traceback.shorten_filename = functools.lru_cache(_FILES_KEPT)(_traceback.shorten_filename)


def _is_plain(value) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


class _Setting:
    """A setting's own variable, which tells the module's dictionary of every new value. Found there, a value costs a
    look-up; elsewhere each read asks for aliases, deprecations, the environment and a context variable."""

    def __init__(self, variable, module, name: str):
        self._variable, self._module, self._name = variable, module, name
        self.get = variable.get
        self.publish()

    def set(self, value):
        token = self._variable.set(value)
        if _is_plain(value):
            self.publish()
        else:  # a mark that it is unset or deleted among them
            vars(self._module).pop(self._name, None)
        return token

    def reset(self, token) -> None:
        self._variable.reset(token)
        self.publish()

    def publish(self) -> None:
        values = vars(self._module)
        values.pop(self._name, None)
        try:
            value = getattr(self._module, self._name)
        except AttributeError:  # deleted, as mock.patch does before it sets again
            return
        if _is_plain(value):
            values[self._name] = value


def remember_settings(module) -> None:
    """Plain values only, and only where the module keeps each in a variable of its own."""
    for name, entry in getattr(module, "_config", {}).items():
        variable = getattr(entry, "user_override", None)
        plain = not getattr(entry, "alias", None) and not getattr(entry, "deprecated", False) and "." not in name
        if plain and isinstance(variable, contextvars.ContextVar):
            entry.user_override = _Setting(variable, module, name)


def remember_frames() -> None:
    """The text of a frame of equal place, name and line is made once; it is the same text."""
    if not hasattr(traceback.FrameSummary, "_original_line") or not hasattr(traceback.FrameSummary, "colno"):
        return
    original = traceback.StackSummary.format_frame_summary
    summary = traceback.StackSummary()

    @functools.lru_cache(_FRAMES_KEPT)
    def text_of(*fields):
        filename, lineno, name, line, end_lineno, colno, end_colno = fields
        return original(summary, traceback.FrameSummary(
            filename, lineno, name, lookup_line=False, line=line, end_lineno=end_lineno, colno=colno,
            end_colno=end_colno))

    def format_frame_summary(self, frame, **options):
        if options or frame.locals:
            return original(self, frame, **options)
        return text_of(frame.filename, frame.lineno, frame.name, frame._original_line, frame.end_lineno, frame.colno,
                       frame.end_colno)

    traceback.StackSummary.format_frame_summary = format_frame_summary
