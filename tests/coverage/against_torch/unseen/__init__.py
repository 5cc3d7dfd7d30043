"""Modules that nobody wrote breakwatch against. A factory returns (callable, inputs); `batch` is the first size of what
its inputs vary in, for the calls of the mode recompile."""
