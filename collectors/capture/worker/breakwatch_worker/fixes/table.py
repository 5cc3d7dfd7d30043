"""The fixes of fixes.yaml: when each applies, whether this toolchain has it, and the Python that a user writes."""

import dataclasses
import functools
import hashlib
import importlib.metadata
import os
import re

import torch
import torch._dynamo

from ..inputs.copies import signature_of
from ..inputs.make_values import sub_configs
from ..tables import read_beside

_NAME = "fixes.yaml"
_DIGITS = 16
NO_CAUSE = "no break of its kind"


@dataclasses.dataclass(frozen=True)
class Fix:
    """One entry of fixes.yaml. FIXES.md describes the fields."""

    name: str
    title: str
    sets: dict
    source: str
    when: dict = dataclasses.field(default_factory=dict)
    python: list = dataclasses.field(default_factory=list)
    holds: str = ""
    caution: str = ""
    anew: bool = False  # worth another try together with others, even if it changed nothing alone

    @property
    def changes(self) -> dict:
        """(kind, key) -> value of everything that it sets. Two fixes that set one key differently exclude each
        other."""
        return {(kind, key): value for kind, values in self.sets.items() for key, value in values.items()}

    @property
    def compiles(self) -> dict:
        return self.sets.get("compile") or {}

    @property
    def is_partial(self) -> bool:
        """Whether parts of the model are compiled instead of the model."""
        return bool(self.compiles.get("regions"))

    @property
    def kind(self) -> str:
        """What a user changes: a `setting` of torch, the `call` (its arguments, or how the model is made for it), or
        what is compiled (`regions`)."""
        if self.is_partial:
            return "regions"
        return "setting" if set(self.sets) <= {"dynamo", "compile", "environment"} else "call"

    @property
    def keeps_eager(self) -> bool:
        """Whether a call without the compiler is the same with it."""
        return set(self.sets) <= {"dynamo", "compile"}


@functools.cache
def load() -> dict:
    """name -> Fix, in the order of the file."""
    return {entry["name"]: Fix(**entry) for entry in read_beside(__file__, _NAME)["fixes"]}


@functools.cache
def version() -> str:
    """A digest of fixes.yaml."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME), "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()[:_DIGITS]


def exclude_each_other(fixes) -> bool:
    """Whether two of the fixes set something differently. Only one can decide what is compiled."""
    values = {}
    for fix in fixes:
        for key, value in fix.changes.items():
            if values.setdefault(key, value) != value:
                return True
    return sum(bool(fix.compiles) for fix in fixes) > 1


def change_of(fixes) -> frozenset:
    """What the fixes set together: two lists of fixes that set the same are the same attempt."""
    return frozenset((*key, repr(value)) for fix in fixes for key, value in fix.changes.items())


def python_of(fixes, regions: str = "") -> tuple:
    """(lines before the model is compiled, lines that compile it as `compiled`)."""
    settings = list(dict.fromkeys(line for fix in fixes for line in fix.python))
    imports = [line for line in settings if line.startswith(("import ", "from "))]
    options = {key: value for fix in fixes for key, value in fix.compiles.items()}
    if options.pop("regions", False):
        further = ", ".join(f"{name}={value!r}" for name, value in options.items())
        compiling = [
            "import re", "for name, part in model.named_modules():", f'    if re.fullmatch(r"{regions}", name):',
            f"        part.compile({further})", "compiled = model"]
    else:
        compiling = [f"compiled = torch.compile({', '.join(['model', *(f'{k}={v!r}' for k, v in options.items())])})"]
    return imports + [line for line in settings if line not in imports], compiling


class Subject:
    """The model and the call that are to be fixed: what the conditions of a fix are tested against."""

    def __init__(self, model, inputs: dict, named: bool, cold: bool):
        self.model, self.inputs = model, inputs
        self.named = named  # whether the call passes its arguments by name
        self.cold = cold  # whether nothing called the model before
        signature = signature_of(model)
        kinds = signature.parameters.values() if signature is not None else ()
        self.parameters = {p.name for p in kinds if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
        self.config = getattr(model, "config", None)
        if not hasattr(self.config, "to_dict"):
            self.config = None

    @property
    def is_transformers(self) -> bool:
        return any(cls.__module__.startswith("transformers.") for cls in type(self.model).__mro__)

    def has_key(self, key: str) -> bool:
        return self.config is not None and any(hasattr(node, key) for node in sub_configs(self.config))

    def names(self) -> dict:
        """What a fix's lines of Python see."""
        return {"torch": torch, "model": self.model, "inputs": self.inputs}


def _is_cause(fix: Fix, sites: list) -> bool:
    """Whether the fix is about one of the sites; also if it is about none in particular."""
    ids, patterns = fix.when.get("gb_ids") or (), fix.when.get("reasons") or ()
    if not ids and not patterns:
        return True
    return any(site["gb_id"] in ids or any(re.search(pattern, text_of(site)) for pattern in patterns)
               for site in sites)


def text_of(site: dict) -> str:
    """What the patterns of `reasons` are searched in."""
    texts = (site[name] for name in ("reason", "context", "source_line", "file", "function"))
    return "\n".join((*texts, *site["hints"], *site["stack"]))


# A condition on the model and its call: what it tests, and why the fix does not apply if it is false.
_CONDITIONS = {
    "arguments": (lambda subject, names: subject.named and set(names) <= subject.parameters,
                  "the model does not take {}"),
    "given": (lambda subject, names: set(names) <= subject.inputs.keys(), "the call does not pass {}"),
    "not_given": (lambda subject, names: not set(names) & subject.inputs.keys(), "the call passes {}"),
    "config_keys": (lambda subject, keys: all(map(subject.has_key, keys)), "the configuration has no {}"),
    "libraries": (lambda subject, names: "transformers" not in names or subject.is_transformers,
                  "for models of {} only"),
    "modules": (lambda subject, _: isinstance(subject.model, torch.nn.Module), "for a module only"),
    "cold": (lambda subject, _: subject.cold, "the model was called before it is compiled"),
    "has": (lambda subject, expressions: all(_is_true(each, subject) for each in expressions), "not true: {}"),
}


def why_not(fix: Fix, subject: Subject, sites: list, asked: bool) -> str:
    """Why the fix does not apply; empty if it does. One that was `asked` for by name needs no site of its kind."""
    for name, (test, text) in _CONDITIONS.items():
        if name in fix.when and not test(subject, fix.when[name]):
            wanted = fix.when[name]
            return text.format(", ".join(wanted) if isinstance(wanted, list) else wanted)
    if fix.holds and _is_true(fix.holds, subject):
        return "it is so already"
    if not asked and not _is_cause(fix, sites):
        return NO_CAUSE
    return ""


def missing(fix: Fix) -> str:
    """What this toolchain lacks for the fix; empty if nothing."""
    for name in fix.sets.get("dynamo") or {}:
        if not hasattr(torch._dynamo.config, name):
            return f"torch {torch.__version__} has no torch._dynamo.config.{name}"
    from packaging.specifiers import SpecifierSet  # a dependency of transformers, so it is installed

    for package in ("torch", "transformers"):
        wanted = fix.when.get(package)
        if wanted is not None:
            found = importlib.metadata.version(package)
            if not SpecifierSet(wanted).contains(found, prereleases=True):
                return f"needs {package} {wanted}: this is {found}"
    return ""


def holds(fix: Fix, subject: Subject) -> bool:
    """Whether the fix had its effect on the model, after its lines ran."""
    return not fix.holds or _is_true(fix.holds, subject)


def _is_true(expression: str, subject: Subject) -> bool:
    """Whether an expression of fixes.yaml is true; one about something that the model does not have is not."""
    try:
        return bool(eval(expression, subject.names()))
    except Exception:
        return False
