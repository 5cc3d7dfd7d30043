"""From a config to a model without weights, at the size that a run needs."""
