"""The user's own models: what a factory returns, and what a script calls.

This package runs the user's code. It is used only for a job with a `source`, and only by a zygote that was started with
permission. The daemon sends a `source` for selectors that the user typed, never for the content of a repository.
"""

import os

ALLOWED = "BREAKWATCH_ALLOW_FACTORIES"


def allowed() -> bool:
    return os.environ.get(ALLOWED) == "1"


def keep_hub_cache() -> None:
    """Keeps the user's cache of the Hub, which a factory may load from. The worker's HF_HOME would hide it."""
    if allowed() and "HF_HUB_CACHE" not in os.environ:
        home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
        os.environ["HF_HUB_CACHE"] = os.path.join(home, "hub")
