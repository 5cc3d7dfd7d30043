"""The modules that are compared: factories of unseen/*.py, and its scripts."""

import ast
import hashlib
from pathlib import Path

HERE = Path(__file__).parent
UNSEEN = HERE / "unseen"
MODES = ("eval", "train", "dynamic", "fullgraph", "nested", "export", "recompile")


def selectors() -> dict:
    """Selector -> its file. A factory is a function without arguments, or with `batch`; a script has a make()."""
    found = {}
    for path in sorted(UNSEEN.glob("*.py")):
        if path.stem.startswith("script_"):
            found[f"script:unseen/{path.name}"] = path
            continue
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and [a.arg for a in node.args.args] in ([], ["batch"]):
                found[f"python:unseen.{path.stem}:{node.name}"] = path
    return found


def digest(*paths: Path, more: str = "") -> str:
    text = hashlib.sha256(more.encode())
    for path in paths:
        text.update(path.read_bytes())
    return text.hexdigest()[:16]
