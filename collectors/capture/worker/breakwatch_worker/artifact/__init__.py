"""Packages: compiled models that programs load without Python, with a recorded call to check them by.

Mode `build` (modes/build.py) uses this package. ../../../artifact/README.md describes what it makes.
"""
