#include "gate_text.h"

#include "breakwatch/report/compare.h"
#include "escape.h"

namespace breakwatch::report {
namespace {

using compare::VerdictName;

constexpr std::size_t kMaxFindingsShown = 20;

Json FindingsJson(const std::vector<compare::GateFinding>& findings) {
  Json list = Json::array();
  for (const compare::GateFinding& f : findings) {
    list.push_back({{"model", f.model},
                    {"mode", f.mode.empty() ? Json() : Json(f.mode)},
                    {"verdict", std::string(VerdictName(f.verdict))},
                    {"text", f.text},
                    {"entry", f.entry.empty() ? Json() : Json(f.entry)}});
  }
  return list;
}

}  // namespace

std::vector<std::string> GateLines(const compare::GateDecision& gate) {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, const std::vector<compare::GateFinding>& findings) {
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (i == kMaxFindingsShown) {
        lines.push_back("  ... " + std::to_string(findings.size() - i) + " more");
        break;
      }
      const compare::GateFinding& f = findings[i];
      lines.push_back(std::string(what) + "  " + f.model + (f.mode.empty() ? "" : " " + f.mode) + ": " +
                      (f.text.empty() ? std::string(VerdictName(f.verdict)) : f.text) +
                      (f.entry.empty() ? "" : "; " + f.entry));
    }
  };
  add("worse  ", gate.failures);
  for (const std::string& entry : gate.expired) lines.push_back("expired  " + entry);
  add("allowed", gate.allowed);
  add("better ", gate.improved);
  for (const std::string& entry : gate.unused) lines.push_back("unused   " + entry);
  return lines;
}

std::string GateSummary(const compare::GateDecision& gate) {
  if (gate.no_baseline) return "Gate: no_baseline, passed: there is nothing to compare with yet";
  std::string text = std::string("Gate: ") + (gate.failed ? "failed" : "passed");
  const auto add = [&](std::size_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(gate.failures.size(), "worse"), add(gate.expired.size(), "expired in the allow-list");
  add(gate.allowed.size(), "allowed"), add(gate.improved.size(), "better");
  add(gate.unused.size(), "unused in the allow-list");
  return text + "; " + gate.with_numbers;
}

Json GateJson(const compare::GateDecision& gate) {
  const char* verdict = gate.no_baseline ? "no_baseline" : gate.failed ? "failed" : "passed";
  return {{"verdict", verdict},
          {"failures", FindingsJson(gate.failures)},
          {"allowed", FindingsJson(gate.allowed)},
          {"improved", FindingsJson(gate.improved)},
          {"expired", gate.expired},
          {"unused", gate.unused},
          {"with_numbers", gate.with_numbers}};
}

std::string RenderGate(const compare::GateDecision& gate, Format format) {
  if (format == Format::kJson) return Dump(GateJson(gate));
  std::string out;
  for (const std::string& text : GateLines(gate)) out += OneLine(text) + "\n";
  return out + GateSummary(gate) + "\n";
}

}  // namespace breakwatch::report
