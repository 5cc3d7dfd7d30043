"""Leaves out what Dynamo does only for logs that nobody reads here. No count depends on any of it.

Measured, of a capture's processor time: timing every new guard, with a cache flush of 32 MB before it, 4 to 12 %;
formatting the same frames of the stack anew for every node of a graph, 3 to 6 %; tokenizing whole source files to
name a function in a debug line, 1 to 2 %. A torch or Python without one of these places loses nothing.
"""

import functools
import traceback

_FRAMES_KEPT = 1 << 14


def down() -> None:
    from torch._dynamo import guards, symbolic_convert

    if hasattr(guards, "profile_guard_manager"):
        guards.profile_guard_manager = lambda *_: 0.0
    if hasattr(symbolic_convert, "get_funcname"):
        symbolic_convert.get_funcname = lambda *_: None
    remember_frames()


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
