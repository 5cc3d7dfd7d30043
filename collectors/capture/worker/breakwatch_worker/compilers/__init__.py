"""How a module becomes a program of another runtime, and how its outputs are compared: one function for each runtime.

Packages (artifact/) and measurements (profile/) use them, so what is measured is what is deployed.
"""
