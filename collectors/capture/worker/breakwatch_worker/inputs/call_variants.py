"""The call variants of a model: the arguments to try, one set after another, until a call runs.

A variant passes everything, leaves something out, or adds the argument that the model's error message names. The last
are input fixes: recipes.yaml lists them, each with a pattern of the message.
"""

import inspect
import re

from . import calls, inputs_spec
from .forward_inputs import load_recipes, names_of

_MAX_FIXES = 4  # of one model: a call that still fails after so many fixes is given up
_CONDITION_KEYS = ("error", "has", "reason", "transformers")  # of a fix: when it applies, and why
_MAX_FIXES_OF_A_KIND = 2  # for errors that differ in numbers only: another size may need another number


class CallVariants:
    """Iterates over the call variants to try: first one that passes everything, then the same with the fixes that the
    model's errors led to, then the others. `partial`: only the variants that leave out a part of the input.
    """

    def __init__(self, model_class, spec: dict = None, partial: bool = False, call: str = calls.DEFAULT,
                 trains: bool = False):
        self._names = names_of(inspect.signature(model_class.forward).parameters.values())
        self._spec = inputs_spec.checked(spec, self._names)
        self._fixes = []
        self._accepts_fixes = True
        self._fixed_kinds = []  # kinds of errors that a fix was found for
        self._partial = partial
        self.sets_length = "seq" in self._spec.get("sizes", ()) or "input_ids" in self._spec.get("arguments", ())
        self._call, self._trains = call, trains

    def __iter__(self):
        entries = calls.variants_of(self._call, self._partial)
        if entries is None:
            entries = [entry for entry in load_recipes()["call_variants"]
                       if entry.get("partial", False) == self._partial]
        entries = [entry for entry in entries if set(entry.get("has", ())) <= self._names]
        if not entries:
            return
        first, *others = entries
        yield self._variant(first)
        tried = 0
        while tried < len(self._fixes):
            tried = len(self._fixes)
            yield self._variant(first)
        for entry in others:
            yield self._variant(entry)
        if self._fixes:  # without fixes it was tried at one size only: now at every size
            self._fixes, self._accepts_fixes = [], False
            yield self._variant(first)

    def add_fix(self, error: str) -> bool:
        """Whether a recipe answers this error with a fix that was not tried yet. If so, another variant follows."""
        kind = re.sub(r"\d+", "#", error)
        if not self._accepts_fixes or len(self._fixes) >= _MAX_FIXES or (
                self._fixed_kinds.count(kind) >= _MAX_FIXES_OF_A_KIND):
            return False
        for entry in load_recipes()["input_fixes"]:
            found = re.search(entry["error"], error)
            if found is None or not set(entry.get("has", ())) <= self._names:
                continue
            fix = _filled({key: value for key, value in entry.items() if key not in _CONDITION_KEYS}, found)
            if fix not in self._fixes and set(fix.get("add", ())) <= self._names:
                self._fixes.append(fix)
                self._fixed_kinds.append(kind)
                return True
        return False

    def _variant(self, entry: dict) -> dict:
        names = [entry["name"]] * (entry["name"] != "all" or not self._fixes) + [fix["name"] for fix in self._fixes]
        return {"name": ", ".join(names), "steps": [*self._fixes, entry], "spec": self._spec, "call": self._call,
                "trains": self._trains}


def _filled(value, found):
    """A copy with $1, $2, ... replaced by what the pattern found."""
    if isinstance(value, dict):
        return {_filled(key, found): _filled(item, found) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, found) for item in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\$(\d)", lambda match: found.group(int(match.group(1))) or "", value)
