"""From an exception to a reason, a place and an id."""

import hashlib
import os

import torch
from breakwatch_worker.dynamo import breaks
from torch._dynamo import exc


def unsupported(gb_type, explanation="because", hints=(), inner=None):
    try:
        exc.unimplemented(gb_type=gb_type, context="here", explanation=explanation, hints=list(hints),
                          **({"from_exc": inner} if inner is not None else {}))
    except exc.Unsupported as error:
        return error


def event_of(error, logged="Encountered graph break when attempting to trace CALL:\n\nx"):
    return breaks.make_event(error, logged, {"co_filename": __file__, "co_name": "f", "co_firstlineno": 3}, 7, "0/0")


def test_the_reason_is_the_type_with_its_id_in_the_registry():
    event = event_of(unsupported("Data-dependent branching"))
    assert (event.reason, event.gb_id, event.wrapped_in) == ("Data-dependent branching", "GB0170", "")
    assert (event.explanation, event.context) == ("because", "here")


def test_the_reason_is_the_wrapped_type():
    inner = unsupported("Data-dependent branching", explanation="the cause")
    event = event_of(unsupported("graph break in loop", inner=inner),
                     "Failed to handle graph break gracefully. Skipping the function and falling back to eager.")
    assert (event.reason, event.gb_id) == ("Data-dependent branching", "GB0170")
    assert event.wrapped_in == "graph break in loop / frame skipped"
    assert event.explanation == "the cause"
    assert not event.counted


def test_the_reason_of_nested_wrappers_is_the_innermost_type():
    innermost = unsupported("Data-dependent branching")
    middle = unsupported("graph break in loop", inner=innermost)
    event = event_of(unsupported("Graph break under GenericContextWrappingVariable", inner=middle))
    assert event.reason == "Data-dependent branching"


def test_a_user_error_has_a_reason_from_a_closed_set():
    event = event_of(exc.UserError(exc.UserErrorType.DYNAMIC_CONTROL_FLOW, "at 0x7f001234"))
    assert (event.reason, event.gb_id) == ("User error: dynamic_control_flow", "")


def test_a_user_error_inside_a_wrapper_is_the_reason():
    try:
        exc.unimplemented(gb_type="graph break in loop", context="", explanation="", hints=[],
                          from_exc=exc.UserError(exc.UserErrorType.ANTI_PATTERN, "text"))
    except exc.Unsupported as error:
        assert breaks.reason_of(error)[0] == "User error: anti_pattern"


def test_a_user_error_behind_two_wrappers_is_the_reason():
    loop = unsupported("graph break in loop", inner=exc.UserError(exc.UserErrorType.ANTI_PATTERN, "text"))
    try:
        try:
            raise loop
        except exc.Unsupported as met:
            exc.unimplemented(gb_type="Graph break under GenericContextWrappingVariable", context="", explanation="",
                              hints=[], from_exc=met)
    except exc.Unsupported as error:
        reason, gb_id, outer, _ = breaks.reason_of(error)
    assert (reason, gb_id) == ("User error: anti_pattern", "")
    assert outer == "Graph break under GenericContextWrappingVariable"


def test_an_exception_of_the_users_code_is_not_the_reason_of_its_break():
    event = event_of(unsupported("Observed exception", inner=exc.ObservedKeyError()))
    assert (event.reason, event.gb_id, event.wrapped_in) == ("Observed exception", "GB0088", "")


def test_a_wrapped_type_outside_the_registry_is_the_reason():
    event = event_of(unsupported("graph break in loop", inner=unsupported("A type of tomorrow")))
    assert (event.reason, event.gb_id, event.wrapped_in) == ("A type of tomorrow", "", "graph break in loop")


def test_a_reason_has_at_most_120_bytes_and_splits_no_character():
    event = event_of(unsupported("ü" * 100))
    assert event.reason == "ü" * 60


def test_hints_give_the_fixability():
    from torch._dynamo import graph_break_hints as texts

    for name, hints in (("supportable", texts.SUPPORTABLE), ("fundamental", texts.FUNDAMENTAL),
                        ("user_error", texts.USER_ERROR), ("dynamo_bug", texts.DYNAMO_BUG),
                        ("difficult", texts.DIFFICULT), ("caused_by_earlier", texts.CAUSED_BY_EARLIER_GRAPH_BREAK),
                        ("none", []), ("other", ["Do something else."])):
        assert event_of(unsupported("T", hints=hints)).fixability == name


def test_files_are_relative_to_their_package():
    assert breaks.relative_file(torch.nn.functional.__file__) == ("torch/nn/functional.py", "torch")
    assert breaks.relative_file(hashlib.__file__) == ("hashlib.py", "library")
    assert breaks.relative_file(__file__) == ("breaks_test.py", "user")


def test_a_frozen_module_has_the_file_of_its_source():
    file = breaks.source_file("<frozen posixpath>")
    assert breaks.relative_file(file) == ("posixpath.py", "library")
    assert breaks.relative_file(breaks.source_file("<frozen importlib._bootstrap>"))[0] == "importlib/_bootstrap.py"
    assert breaks.source_file("<frozen nothing.there>") == "<frozen nothing.there>"
    assert breaks.source_file("<string>") == "<string>"


def test_a_file_of_a_linked_package_is_named_by_the_link(tmp_path, monkeypatch):
    site, elsewhere = tmp_path / "site-packages", tmp_path / "elsewhere"
    (elsewhere / "library").mkdir(parents=True)
    (elsewhere / "library" / "model.py").touch()
    site.mkdir()
    (site / "library").symlink_to(elsewhere / "library")
    monkeypatch.setattr(breaks, "_ROOTS", (f"{site}{os.sep}",))
    assert breaks.relative_file(str(site / "library" / "model.py")) == ("library/model.py", "library")
    assert breaks.relative_file(str(elsewhere / "library" / "model.py")) == ("model.py", "user")


def test_a_resumed_function_keeps_its_name():
    name = "torch_dynamo_resume_in_torch_dynamo_resume_in_forward_at_12_at_20"
    assert breaks.plain_function(name) == "forward"


def test_the_site_id_is_the_digest_of_reason_and_place():
    event = event_of(unsupported("Data-dependent branching"))
    key = "\0".join(("GB0170", event.file, event.function, event.source_line))
    assert event.site_id == hashlib.sha256(key.encode()).hexdigest()[:16]


def test_files_with_one_base_name_are_distinguished_by_their_paths():
    files = breaks.UserFiles()
    paths = ["/job/one/layer.py", "/job/two/layer.py", "/other/two/layer.py"]
    names = ["layer.py", "two/layer.py", "other/two/layer.py"]
    assert [files.name(path)[0] for path in paths + paths] == names + names
    assert files.name(torch.nn.functional.__file__) == ("torch/nn/functional.py", "torch")
