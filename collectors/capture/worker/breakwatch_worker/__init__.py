"""Captures the graph breaks of one model at a time, each in a forked child process.

Read first: PROTOCOL.md two folders up, then process/zygote.py (supervision), process/child.py (the child process),
model_run.py (the phases) and dynamo/trace.py (the count). Nothing here imports torch at import time, because
`--describe` must answer at once. """

__version__ = "1.0.0"
