#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

#include "breakwatch/compare/compare.h"
#include "breakwatch/core/mode.h"

namespace breakwatch::compare {
namespace {

using Key = std::tuple<int, int, bool, std::string>;  // batch, seq, dynamic, backend
using Cells = std::map<Key, MeasuredCell>;

Cells CellsOf(const Measured& measured) {
  Cells cells;
  for (const MeasuredProfile& profile : measured.profiles) {
    for (const auto& [backend, cell] : profile.totals)
      cells[{profile.batch, profile.seq, profile.dynamic, backend}] = cell;
  }
  return cells;
}

// A time that exists on one side only is a change too: a backend began to work, or stopped.
LatencyChange ChangeOf(const Key& key, const MeasuredCell* a, const MeasuredCell* b, double tolerance) {
  LatencyChange change;
  std::tie(change.batch, change.seq, change.dynamic, change.backend) = key;
  if (a != nullptr) change.a = *a;
  if (b != nullptr) change.b = *b;
  if (a == nullptr || b == nullptr) return change;  // it was not asked for
  change.worse = a->ok() && !b->ok();
  change.better = !a->ok() && b->ok();
  if (!a->ok() || !b->ok()) return change;
  change.difference = CompareLatency(*a, *b);
  if (!change.difference || !change.difference->significant) return change;
  change.worse = change.difference->ratio > 1 + tolerance;
  change.better = change.difference->ratio < 1 / (1 + tolerance);
  return change;
}

void Unlike(std::string& text, const char* what, const std::string& a, const std::string& b) {
  if (a != b) text += (text.empty() ? "" : ", ") + std::string(what) + " " + a + " -> " + b;
}

std::string SizeOf(const Measured& measured) { return measured.published ? "as published" : "reduced model"; }

}  // namespace

std::string MeasuredUnlike(const Measured& a, const Measured& b) {
  std::string text;
  if (!a.machine.empty() && !b.machine.empty()) Unlike(text, "machine", a.machine, b.machine);
  Unlike(text, "threads", std::to_string(a.options.threads), std::to_string(b.options.threads));
  Unlike(text, "device", a.options.device, b.options.device);
  Unlike(text, "dtype", a.options.dtype, b.options.dtype);
  Unlike(text, "size", SizeOf(a), SizeOf(b));
  return text;
}

std::vector<LatencyChange> LatencyChanges(const Measured& a, const Measured& b, double tolerance) {
  const Cells before = CellsOf(a), after = CellsOf(b);
  std::vector<LatencyChange> changes;
  for (const auto& [key, cell] : before) {
    const auto found = after.find(key);
    changes.push_back(ChangeOf(key, &cell, found == after.end() ? nullptr : &found->second, tolerance));
  }
  for (const auto& [key, cell] : after) {
    if (!before.contains(key)) changes.push_back(ChangeOf(key, nullptr, &cell, tolerance));
  }
  return changes;
}

std::string LatencyText(const LatencyChange& change) {
  const auto side = [](const std::optional<MeasuredCell>& cell) -> std::string {
    if (!cell) return "not measured";
    if (!cell->ok() || !cell->median_s) return cell->status;
    char text[64];
    std::snprintf(text, sizeof text, "%.3f ms", *cell->median_s * 1e3);
    return text;
  };
  std::string text = change.backend + " with batch " + std::to_string(change.batch);
  if (change.dynamic) text += ", dynamic";
  text += " " + side(change.a) + " -> " + side(change.b);
  if (!change.difference) return text;
  char ratio[64];
  std::snprintf(ratio, sizeof ratio, " (x%.2f, p %.2g)", change.difference->ratio, change.difference->p_value);
  return text + ratio;
}

}  // namespace breakwatch::compare
