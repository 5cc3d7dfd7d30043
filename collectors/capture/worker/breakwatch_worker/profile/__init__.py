"""What a model costs: the time of each graph, of the Python code between graphs, and of whole models, by backend.

Modes `profile` and `bench` (modes/measure.py) use this package. MEASURING.md says how it is measured.
"""
