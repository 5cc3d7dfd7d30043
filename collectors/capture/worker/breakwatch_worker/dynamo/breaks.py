"""Turns the exceptions that Dynamo raises at graph breaks into events and sites with a bounded reason. Has no hooks."""

import dataclasses
import functools
import hashlib
import linecache
import os
import re
import sysconfig

from torch._dynamo import exc as dynamo_exc

from ..text import clip
from . import compat

REASON_BYTES = 120
STACK_FRAMES = 32
_SOURCE_BYTES = 160  # of a line of a stack
_TEXT_BYTES = 2000
_WHILE_HANDLING = "*** While handling this graph break, another graph break occurred: ***"
_FROZEN = re.compile(r"^<frozen ([\w.]+)>$")
_RESUME_NAME = re.compile(r"^torch_dynamo_resume_in_(.+?)_at_\d+$")
_CONTEXT = re.compile(r"\n\s*Developer debug context: (.*?)(?:\n\n For more details about|\Z)", re.S)
_EXPLANATION = re.compile(r"\n\s*Explanation: (.*?)(?=\n\s*Hint: |\n\n\s*Developer debug context:|\Z)", re.S)
_HINT = re.compile(r"\n\s*Hint: (.*?)(?=\n\s*Hint: |\n\n\s*Developer debug context:|\Z)", re.S)

# The first match gives the fixability, from "will never work" to "caused by another break".
_FIXABILITY = (
    ("fundamental", compat.hint_texts("FUNDAMENTAL")),
    ("user_error", compat.hint_texts("USER_ERROR")),
    ("inference_mode", compat.hint_texts("INFERENCE_MODE")),
    ("supportable", compat.hint_texts("SUPPORTABLE")),
    ("difficult", compat.hint_texts("DIFFICULT")),
    ("dynamo_bug", compat.hint_texts("DYNAMO_BUG")),
    ("caused_by_earlier", compat.hint_texts("CAUSED_BY_EARLIER_GRAPH_BREAK")),
)

# Reasons for exceptions without a gb_type. A UserError also has a kind.
_REASON_BY_CLASS = {
    "UserError": "User error",
    "StepUnsupported": "Step unsupported",
    "Unsupported": "Unsupported, no type given",
    "ObservedException": "Observed exception",
    "TorchRuntimeError": "Torch runtime error",
    "InternalTorchDynamoError": "Internal Dynamo error",
    "GuardOnDataDependentSymNode": "Guard on a data-dependent value",
    "PendingUnbackedSymbolNotFound": "Unbacked symbol lost",
    "ConstraintViolationError": "Constraint violated",
}
_REASON_OTHER = "Other exception"

# The texts that Dynamo puts in front of a logged reason, and whether it then increments counters["graph_break"].
# None: no text in front. Data-dependent branching is logged so, and not counted.
_PREFIXES = (
    (f"{compat.FRAME_LEFT} {compat.IN_LOOP}", "graph break in loop / frame skipped", False),
    (compat.STEPPED_BACK, "cannot resume", False),
    (compat.FRAME_LEFT, "frame skipped", False),
    (compat.MET, "", True),
)


@dataclasses.dataclass
class Event:
    """One break that Dynamo logged."""

    reason: str
    gb_id: str
    wrapped_in: str
    explanation: str
    context: str
    hints: list
    fixability: str
    file: str
    line: int
    function: str
    source_line: str
    frame: str
    compile_id: str
    counted: bool  # whether Dynamo increments counters["graph_break"] for this kind
    module_path: str = ""
    stack: list = dataclasses.field(default_factory=list)  # "FILE:LINE in FUNCTION", the innermost last
    stack_source: list = dataclasses.field(default_factory=list)  # the line of each
    moved: int = 0  # how often Dynamo did so

    @property
    def site_id(self) -> str:
        key = "\0".join((self.gb_id or self.reason, self.file, self.function, self.source_line))
        return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


@functools.cache
def _registry() -> dict:
    """gb_type (of any revision, bounded like reasons) -> id, from the file in the torch wheel."""
    return {_bounded(gb_type): gb_id for gb_type, gb_id in compat.registry().items()}


def _bounded(gb_type: str) -> str:
    return clip(" ".join(gb_type.split()), REASON_BYTES)


def reason_of(error: BaseException) -> tuple:
    """(reason, gb_id, outer type or '', message of the inner reason) of an exception."""
    message = str(getattr(error, "msg", "") or error)
    registry = _registry()
    inner_error = compat.replaced(error)
    if inner_error is not None:
        reason, gb_id, between, text = reason_of(inner_error)
        own = _bounded(message.split("\n", 1)[0])
        return reason, gb_id, " / ".join(name for name in (own, between) if name and name != reason), text
    outer = _bounded(getattr(error, "gb_type", None) or "")
    cause = _first_raised(error).__cause__
    if outer and isinstance(cause, dynamo_exc.UserError):
        # A user error does not add its text to the break that replaced it. Any other cause is what the break is about,
        # such as the exception behind "Observed exception": the reason is then the type of the break itself.
        return untyped_reason(cause), "", outer, str(cause)
    if outer and _WHILE_HANDLING not in message:
        return outer, registry.get(outer, ""), "", message
    inner_message = message.split(_WHILE_HANDLING)[0].strip()
    first, _, rest = inner_message.partition("\n")
    inner = _bounded(first)
    if inner in registry or (outer and rest.lstrip().startswith("Explanation: ")):  # the format of Dynamo's types
        # The same type again, met while the first was handled, is not a wrapper.
        return inner, registry.get(inner, ""), outer if inner != outer else "", inner_message
    if outer:
        return outer, registry.get(outer, ""), "", message
    if not registry and isinstance(error, (compat.Jump, dynamo_exc.Unsupported)):
        return _bounded(compat.old_reason(inner_message)) or untyped_reason(error), "", "", message
    return untyped_reason(error), "", "", message


def _first_raised(error: BaseException) -> BaseException:
    """The first of a chain of breaks, in which each replaced the previous one and quotes its text."""
    before = error.__context__
    while isinstance(before, dynamo_exc.Unsupported) and before is not error and str(
            getattr(error, "msg", "")).startswith(f"{before.msg}\n\n{_WHILE_HANDLING}"):
        error, before = before, before.__context__
    return error


def untyped_reason(error: BaseException) -> str:
    for cls in type(error).__mro__:
        if cls.__name__ in _REASON_BY_CLASS:
            text = _REASON_BY_CLASS[cls.__name__]
            kind = getattr(error, "error_type", None)
            return _bounded(f"{text}: {kind.name.lower()}" if kind is not None else text)
    return _REASON_OTHER


def prefix_of(logged_reason: str) -> tuple:
    """(how Dynamo handled the break according to the logged text, whether Dynamo counts that)."""
    for prefix, name, counted in _PREFIXES:
        if logged_reason.startswith(prefix):
            return name, counted
    return "", False


def fixability_of(hints: list) -> str:
    if not hints:
        return "none"
    joined = " ".join(" ".join(hints).split())
    for name, texts in _FIXABILITY:
        if any(" ".join(text.split())[:60] in joined for text in texts):
            return name
    return "other"


def parse_message(message: str) -> tuple:
    """(explanation, context, hints), in the format of format_graph_break_message."""
    def clean(text):
        return clip("\n".join(line.strip() for line in text.strip().split("\n")), _TEXT_BYTES)

    explanation = _EXPLANATION.search(message)
    context = _CONTEXT.search(message)
    hints = [clean(hint) for hint in _HINT.findall(message)][:16]
    if explanation is None and context is None:
        return clean(message), "", hints
    return clean(explanation.group(1)) if explanation else "", clean(context.group(1)) if context else "", hints


_ROOTS = tuple(sorted(
    {resolved(p) + os.sep for resolved in (os.path.abspath, os.path.realpath) for p in (
        sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), sysconfig.get_path("stdlib"),
        os.path.dirname(os.path.dirname(dynamo_exc.torch.__file__)))},
    key=len, reverse=True))


def source_file(filename: str) -> str:
    """The source file of a module that Python ships frozen, such as <frozen posixpath>. Other names stay as they
    are."""
    frozen = _FROZEN.match(filename or "")
    if frozen is None:
        return filename
    path = os.path.join(sysconfig.get_path("stdlib"), *frozen.group(1).split("."))
    return next((name for name in (f"{path}.py", os.path.join(path, "__init__.py")) if os.path.exists(name)), filename)


def relative_file(filename: str) -> tuple:
    """(package-relative path, 'torch', 'library' or 'user').

    The path is tried as it is first: in a toolchain made of links, the links are in the package and the files are not.
    """
    if not filename or filename.startswith("<"):
        return os.path.basename(filename or ""), "user"
    for path in (os.path.abspath(filename), os.path.realpath(filename)):
        for root in _ROOTS:
            if path.startswith(root):
                relative = path[len(root):]
                owner = "torch" if relative.split(os.sep, 1)[0] in ("torch", "functorch", "torchgen") else "library"
                return relative, owner
    return os.path.basename(filename), "user"


class UserFiles:
    """Names of files outside any package: the base name for the first file with that name. Another file gets as much of
    its path as distinguishes it from those before."""

    def __init__(self):
        self._met = {}  # base name -> paths

    def name(self, filename: str) -> tuple:
        """Like relative_file."""
        file, frame = relative_file(filename)
        if frame != "user":
            return file, frame
        path, met = os.path.abspath(filename), self._met.setdefault(file, [])
        if path not in met:
            met.append(path)
        earlier, parts = met[:met.index(path)], path.split(os.sep)
        for count in range(1, len(parts)):
            suffix = os.sep.join(parts[-count:])
            if not any(other.endswith(os.sep + suffix) for other in earlier):
                return suffix, frame
        return path, frame


def plain_function(name: str) -> str:
    """The user's name of a function: `forward` for Dynamo's torch_dynamo_resume_in_forward_at_12."""
    while match := _RESUME_NAME.match(name or ""):
        name = match.group(1)
    return name or ""


def place_of(error, code_options: dict, lineno) -> tuple:
    """(file, line, function) of the innermost user frame, or of the frame under translation if there is no stack."""
    stack = getattr(error, "real_stack", None)
    if stack:
        frame = stack[-1]
        return frame.filename, frame.lineno or 0, plain_function(frame.name)
    line = lineno if isinstance(lineno, int) and lineno > 0 else code_options.get("co_firstlineno", 0)
    return code_options.get("co_filename", ""), line, plain_function(code_options.get("co_name", ""))


def calls_of(error, above: list = ()) -> list:
    """The calls from the model's forward down to the break: the innermost ones, in order."""
    inside = list(getattr(error, "real_stack", None) or ())
    calls = [*above, *inside] if inside else []
    # The rest of a function after a break is a function that the function calls: one of the two is enough.
    kept = [call for call, below in zip(calls, [*calls, None][1:], strict=True)
            if below is None or not _is_rest_of(below, call)]
    return kept[-STACK_FRAMES:]


def _is_rest_of(call, other) -> bool:
    return (_RESUME_NAME.match(call.name or "") is not None and call.filename == other.filename
            and plain_function(call.name) == plain_function(other.name))


def stack_of(calls: list) -> list:
    """"FILE:LINE in FUNCTION" of each call."""
    files = [relative_file(source_file(call.filename))[0] for call in calls]
    return [
        f"{file}:{call.lineno or 0} in {clip(plain_function(call.name), 100)}"
        for file, call in zip(files, calls, strict=True)
    ]


def _source_of(call) -> str:
    return clip(linecache.getline(source_file(call.filename), call.lineno or 0).strip(), _SOURCE_BYTES)


def make_event(error, logged_reason: str, code_options: dict, lineno, compile_id: str, files=None, above=()) -> Event:
    """The event of a logged break. `files` names the user's files, for all breaks of one call. `above` are the calls
    that led to the compiled frame."""
    reason, gb_id, outer, message = reason_of(error)
    handling, counted = prefix_of(logged_reason)
    filename, line, function = place_of(error, code_options, lineno)
    filename = source_file(filename)
    file, frame = (files or UserFiles()).name(filename)
    explanation, context, hints = parse_message(message)
    calls = calls_of(error, above)
    return Event(
        reason=reason, gb_id=gb_id, wrapped_in=_bounded(" / ".join(text for text in (outer, handling) if text)),
        explanation=explanation, context=context, hints=hints, fixability=fixability_of(hints), file=file, line=line,
        function=function, source_line=clip(linecache.getline(filename, line).strip(), 300), frame=frame,
        compile_id=compile_id, counted=counted and isinstance(error, dynamo_exc.Unsupported), stack=stack_of(calls),
        stack_source=[_source_of(call) for call in calls],
    )


def sites_of(events: list) -> list:
    """The sites of the events, in the order of their first events, as in the protocol."""
    sites = {}
    for event in events:
        site = sites.get(event.site_id)
        if site is None:
            site = sites[event.site_id] = {"site_id": event.site_id, **dataclasses.asdict(event), "occurrences": 0}
            del site["counted"], site["moved"]
        site["occurrences"] += 1
        if site["wrapped_in"] and not event.wrapped_in:
            site["wrapped_in"] = ""  # it also occurs without the wrapper
    return list(sites.values())
