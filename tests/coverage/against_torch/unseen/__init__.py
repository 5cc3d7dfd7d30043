"""Modules that breakwatch was not developed against. A factory returns (callable, inputs); `batch` is the first size of
the inputs that vary, for the calls of the mode recompile."""
