"""Captures the graph breaks of one model at a time, each in a forked child.

Read first: PROTOCOL.md one folder up, then zygote.py (supervision), child.py (the phases), trace.py (the count).
Nothing here imports torch at import time: `--describe` has to answer at once.
"""

__version__ = "1.0.0"
