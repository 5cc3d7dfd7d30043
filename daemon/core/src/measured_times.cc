#include "breakwatch/core/measured_times.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"

namespace breakwatch {
namespace {

using nlohmann::json;

// Six digits: more than a clock has.
double Rounded(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", seconds);
  return std::strtod(text, nullptr);
}

json CellJson(const MeasuredCell& cell) {
  json out = {{"status", cell.status}};
  const std::pair<const char*, std::optional<double>> numbers[] = {
      {"median_s", cell.median_s}, {"low_s", cell.low_s}, {"high_s", cell.high_s}};
  for (const auto& [name, seconds] : numbers) {
    if (seconds) out[name] = Rounded(*seconds);
  }
  return out;
}

}  // namespace

std::string TimesJson(const Measured& measured) {
  json profiles = json::array();
  for (const MeasuredProfile& profile : measured.profiles) {
    json totals = json::object();
    for (const auto& [backend, cell] : profile.totals) totals[backend] = CellJson(cell);
    profiles.push_back(
        {{"batch", profile.batch}, {"seq", profile.seq}, {"dynamic", profile.dynamic}, {"totals", std::move(totals)}});
  }
  const MeasureOptions& options = measured.options;
  return JsonText(json{{"measure",
                        {{"threads", options.threads},
                         {"device", options.device},
                         {"dtype", options.dtype},
                         {"size", measured.published ? "published" : "reduced"}}},
                       {"machine", measured.machine},
                       {"profiles", std::move(profiles)}});
}

}  // namespace breakwatch
