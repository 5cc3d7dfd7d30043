"""The arguments of a model's `forward`."""
