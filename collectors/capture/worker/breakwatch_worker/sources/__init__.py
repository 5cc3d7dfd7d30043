"""The user's own models: what a factory returns, and what a script calls. Code runs here that is nobody's but theirs.

Only a job with a `source` comes here, and only a zygote that was started with leave to: the daemon sends one for
selectors that the user typed, never for what a repository says of itself.
"""

import os

ALLOWED = "BREAKWATCH_ALLOW_FACTORIES"


def allowed() -> bool:
    return os.environ.get(ALLOWED) == "1"


def keep_hub_cache() -> None:
    """A factory may load from the user's cache of the Hub, which the worker's own HF_HOME would hide."""
    if allowed() and "HF_HUB_CACHE" not in os.environ:
        home = os.environ.get("HF_HOME") or os.path.join(os.path.expanduser("~"), ".cache", "huggingface")
        os.environ["HF_HUB_CACHE"] = os.path.join(home, "hub")
