"""Turns off work that Dynamo does only for logs, and caches settings and texts. No count depends on it.

Shares of a capture's processor time:

- timing each new guard, with a cache flush of 32 MB before it: 4 to 12 %
- formatting the same frames of the call stack for each node of a graph: 3 to 6 %
- tokenizing whole source files to name a function in a debug line: 1 to 2 %
- 90,000 look-ups of settings that do not change: 4 to 7 %
- shortening the same file names for the text of guards: 1 %

Parts that a release of torch or Python does not have are skipped.
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
    """Replaces the context variable of a setting and copies each new value into the module's dictionary. A read is then
    one look-up. Without it, each read checks aliases, deprecations, the environment and the context variable."""

    def __init__(self, variable, module, name: str):
        self._variable, self._module, self._name = variable, module, name
        self.get = variable.get
        self.publish()

    def set(self, value):
        token = self._variable.set(value)
        if _is_plain(value):
            self.publish()
        else:  # including the markers for unset and deleted values
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
        except AttributeError:  # deleted, which mock.patch does before it sets a value again
            return
        if _is_plain(value):
            values[self._name] = value


def remember_settings(module) -> None:
    """Caches plain values of a config module, if the module keeps each setting in a context variable."""
    for name, entry in getattr(module, "_config", {}).items():
        variable = getattr(entry, "user_override", None)
        plain = not getattr(entry, "alias", None) and not getattr(entry, "deprecated", False) and "." not in name
        if plain and isinstance(variable, contextvars.ContextVar):
            entry.user_override = _Setting(variable, module, name)


def remember_frames() -> None:
    """Caches the text of a stack frame by file, line, name and columns."""
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
