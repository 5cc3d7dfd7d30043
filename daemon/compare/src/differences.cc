#include "breakwatch/compare/compare.h"

namespace breakwatch::compare {
namespace {

constexpr std::size_t kCommitDigits = 12;

void Add(std::vector<Difference>& out, const char* what, const std::string& a, const std::string& b) {
  // A value that one side lacks is unknown, not different.
  if (a != b && !a.empty() && !b.empty()) out.push_back({what, a, b});
}

// A baseline has the first digits of a commit only.
bool IsSameCommit(const std::string& a, const std::string& b) {
  return a.size() >= kCommitDigits && b.size() >= kCommitDigits && (a.starts_with(b) || b.starts_with(a));
}

// Without breaks, a reduced and a full capture are equal. Only counts of breaks depend on the depth.
bool DepthMatters(const CaptureResult& a, const CaptureResult& b) {
  return a.status == Status::kGraphBreaks && b.status == Status::kGraphBreaks;
}

std::string StatusText(const CaptureResult& c) { return std::string(StatusName(c.status)); }

}  // namespace

void KeepCompared(ModelResult& result) {
  CaptureResult& c = result.capture;
  c.segments = {}, c.phase_s = {}, c.optional_passed = {}, c.optional_left_out = {};
  for (std::string* text : {&c.inputs_json, &c.error, &c.output_tail}) std::string().swap(*text);
  for (BreakSite& site : c.sites) {
    site.hints = {}, site.stack = {}, site.stack_source = {};
    for (std::string* text : {&site.explanation, &site.context, &site.wrapped_in}) std::string().swap(*text);
  }
}

std::vector<Difference> DifferencesOf(const ModelResult& a, const ModelResult& b) {
  const CaptureResult &x = a.capture, &y = b.capture;
  std::vector<Difference> out;
  Add(out, "torch", x.toolchain.torch, y.toolchain.torch);
  Add(out, "transformers", x.toolchain.transformers, y.toolchain.transformers);
  Add(out, "python", x.toolchain.python, y.toolchain.python);
  Add(out, "worker", x.toolchain.worker, y.toolchain.worker);
  if (!IsSameCommit(a.info.sha, b.info.sha)) Add(out, "commit", a.info.sha, b.info.sha);
  Add(out, "mode", x.mode, y.mode);
  if (DepthMatters(x, y)) Add(out, "depth", x.depth, y.depth);
  Add(out, "inputs", x.inputs_digest, y.inputs_digest);
  Add(out, "config", a.info.config_source, b.info.config_source);
  if (x.flaky != y.flaky || x.flaky) out.push_back({"flaky", x.flaky ? "yes" : "no", y.flaky ? "yes" : "no"});
  return out;
}

std::string NotComparable(const ModelResult& a, const ModelResult& b) {
  const CaptureResult &x = a.capture, &y = b.capture;
  if (!HasNumbers(x.status) || !HasNumbers(y.status)) {
    std::string text = StatusText(x) + " -> " + StatusText(y);
    const CaptureResult& failed = HasNumbers(y.status) ? x : y;
    return failed.detail.empty() ? text : text + ": " + failed.detail;
  }
  std::vector<Difference> unlike;
  Add(unlike, "class", x.architecture, y.architecture);
  Add(unlike, "library", a.info.library, b.info.library);
  Add(unlike, "device", x.device, y.device);
  Add(unlike, "dtype", x.dtype, y.dtype);
  std::string text;
  for (const Difference& d : unlike) text += (text.empty() ? "" : ", ") + d.what + " " + d.a + " -> " + d.b;
  return text;
}

}  // namespace breakwatch::compare
