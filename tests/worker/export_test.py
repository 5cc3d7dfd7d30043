"""Mode `export`: every exporter, on modules whose result is known."""

import modes_zoo as zoo
import torch
from breakwatch_worker import modes
from breakwatch_worker.modes import export, exporters
from modes_test import capture


def test_what_non_strict_export_takes_is_full_graph_even_where_dynamo_breaks():
    assert capture("eval", zoo.PrintInCallee()).numbers()["breaks"] == 2
    found = capture("export", zoo.PrintInCallee())
    assert (found.status, found.numbers()["breaks"]) == ("full_graph", 0)
    assert found.mode_detail["non_strict"] == {"outcome": "exported", "ops": 3}
    assert found.mode_detail["draft"]["outcome"] == "skipped"


def test_a_branch_on_a_value_is_one_site_of_every_exporter():
    found = capture("export", zoo.Branch())
    numbers = found.numbers()
    assert (found.status, numbers["breaks"], numbers["break_sites"], numbers["graphs"]) == ("graph_breaks", 1, 1, 0)
    site = numbers["sites"][0]
    assert (site["source_line"], site["reason"]) == ("if x.sum() > 0:", "Data-dependent branching")
    assert site["wrapped_in"] == "non_strict, strict, draft"
    detail = found.mode_detail
    assert [detail[name]["outcome"] for name in ("non_strict", "strict", "draft")] == ["failed", "failed", "exported"]
    assert detail["non_strict"]["error"] == "GuardOnDataDependentSymNode"
    assert detail["non_strict"]["line"] == detail["strict"]["line"] == detail["draft"]["failures"][0]["line"]
    assert found.detail == "not exported: Data-dependent branching"


def test_draft_export_lists_what_comes_after_the_first_failure():
    found = capture("export", zoo.TwoBranches())
    failures = found.mode_detail["draft"]["failures"]
    assert [failure["type"] for failure in failures] == ["DATA_DEPENDENT_ERROR"] * 2
    assert [failure["source_line"] for failure in failures] == ["if x.sum().item() > 0:", "if x.max().item() > 1:"]
    assert found.numbers()["break_sites"] == 2


def test_an_operator_without_a_fake_kernel_is_named():
    with torch.library._scoped_library("modes_zoo", "FRAGMENT") as library:
        library.define("opaque(Tensor x) -> Tensor")
        library.impl("opaque", lambda x: x.clone(), "CPU")

        class Opaque(torch.nn.Module):
            def forward(self, x):
                return torch.ops.modes_zoo.opaque(x) + 1

        found = capture("export", Opaque())
    assert found.status == "graph_breaks"
    assert [failure["op"] for failure in found.mode_detail["draft"]["failures"]] == ["modes_zoo.opaque.default"]
    assert "Operator without a fake kernel" in {event.reason for event in found.trace.events}


def test_an_error_without_a_known_reason_is_a_failed_capture_with_its_text():
    found = capture("export", zoo.ReturnsAnObject())
    assert found.status == "failed_capture"
    assert found.detail.startswith("capture: not exported: RuntimeError: ") and "Holder" in found.detail


def test_strict_export_is_skipped_if_its_copy_of_the_parameters_would_not_fit():
    chosen = modes.mode_of({"mode": "export"})
    call = modes.Call(zoo.Linear().eval(), {"x": torch.ones(2, 3)}, limit_bytes=1 << 20)
    found = chosen.capture(call)
    assert (found.status, found.mode_detail["strict"]["outcome"]) == ("full_graph", "skipped")
    assert "near the memory limit" in found.mode_detail["strict"]["text"]


def test_a_slow_exporter_times_out_and_the_others_still_run():
    found = capture("export", zoo.NeverExported(), limit_s=1.0)
    assert found.mode_detail["non_strict"]["outcome"] == "timeout"
    assert found.status in ("timeout", "graph_breaks")
    assert "draft" in found.mode_detail


def test_what_an_export_leaves_on_a_module_is_undone():
    class Keeps(zoo.Linear):
        def forward(self, x):
            self.kept = self.inner(x)
            return self.kept + 1

    module = Keeps()
    capture("export", module)
    assert type(module.kept) is torch.Tensor


def test_failures_at_one_place_are_one_event_with_dynamos_reason():
    def event(reason, gb_id, wrapped_in, line="x"):
        return exporters.Event(reason=reason, gb_id=gb_id, wrapped_in=wrapped_in, explanation="", context="", hints=[],
                               fixability="none", file="a.py", line=1, function="f", source_line=line, frame="user",
                               compile_id="", counted=False)

    folded = export.distinct([event("guard", "", "non_strict"), event("branch", "GB0170", "strict"),
                              event("guard", "", "draft"), event("guard", "", "draft", "y")])
    assert [(e.reason, e.gb_id, e.wrapped_in) for e in folded] == [
        ("branch", "GB0170", "non_strict, strict, draft"), ("guard", "", "draft")]
