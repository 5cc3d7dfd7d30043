#include "print.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/printable.h"

namespace breakwatch::artifact {
namespace {

using nlohmann::ordered_json;

template <class... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  char buffer[512];
  std::snprintf(buffer, sizeof buffer, format, arguments...);
  return buffer;
}

template <class T>
ordered_json OrNull(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

std::string ShapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : "x") + std::to_string(size);
  return text.empty() ? "scalar" : text;
}

std::string NumberText(const std::optional<double>& value) { return value ? Format("%.3g", *value) : "-"; }

ordered_json JsonOf(const CheckedOutput& checked) {
  const Comparison& found = checked.comparison;
  return {{"path", checked.output.name},
          {"dtype", checked.output.dtype},
          {"shape", checked.output.shape},
          {"within", found.within},
          {"why", found.why},
          {"max_abs", OrNull(found.max_abs)},
          {"max_rel", OrNull(found.max_rel)},
          {"max_ulp", OrNull(found.max_ulp)},
          {"cosine", OrNull(found.cosine)},
          {"worst", found.worst},
          {"nan_positions_equal", found.nan_positions_equal}};
}

ordered_json JsonOf(const Check& check) {
  ordered_json cases = ordered_json::array();
  for (const CheckedCase& checked : check.cases) {
    ordered_json outputs = ordered_json::array();
    for (const CheckedOutput& output : checked.outputs) outputs.push_back(JsonOf(output));
    cases.push_back({{"inputs", checked.inputs}, {"outputs", outputs}});
  }
  return {{"status", check.status},
          {"detail", check.detail},
          {"package_id", check.package_id},
          {"verify_s", check.verify_s},
          {"load_s", check.load_s},
          {"run_s", check.run_s},
          {"peak_rss_mb", check.peak_rss_mb},
          {"deterministic", check.deterministic},
          {"cases", cases}};
}

ordered_json JsonOf(const std::vector<TensorSpec>& tensors) {
  ordered_json list = ordered_json::array();
  for (const TensorSpec& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"dtype", tensor.dtype}, {"shape", tensor.shape}});
  return list;
}

std::string Lines(const char* what, const std::vector<TensorSpec>& tensors) {
  std::string text;
  for (const TensorSpec& tensor : tensors)
    text += std::string(what) + " " + tensor.name + " " + tensor.dtype + " " + ShapeText(tensor.shape) + "\n";
  return text;
}

std::string StatusLine(const Check& check) {
  return check.status + (check.detail.empty() ? "" : ": " + check.detail) + "\n";
}

}  // namespace

std::string AsJson(const Bench& bench) {
  ordered_json json = ToJson(bench.cell);
  json["load_s"] = bench.load_s;
  json["peak_rss_mb"] = bench.peak_rss_mb;
  json["threads"] = bench.threads;
  json["cpu_capability"] = bench.cpu_capability;
  return JsonText(json) + "\n";
}

std::string AsText(const Bench& bench) {
  const Cell& cell = bench.cell;
  if (cell.runs == 0) return Printable(cell.status + ": " + cell.detail + "\n");
  std::string text = cell.status == "ok" ? "" : cell.status + ": " + cell.detail + "\n";
  constexpr double kMs = 1e3;
  text += Format("median  %.4g ms (95%% interval %.4g to %.4g), mean %.4g ms, %zu runs\n", cell.median_s * kMs,
                 cell.low_s * kMs, cell.high_s * kMs, cell.mean_s * kMs, cell.runs);
  text += Format("p90 %.4g ms, p95 %.4g ms, p99 %.4g ms\n", cell.p90_s * kMs, cell.p95_s * kMs, cell.p99_s * kMs);
  text += Format("load %.4g ms, peak memory %.0f MiB, threads %d, cpu %s\n", bench.load_s * kMs, bench.peak_rss_mb,
                 bench.threads, bench.cpu_capability.c_str());
  return Printable(text);
}

std::string AsJson(const Check& check) { return JsonText(JsonOf(check)) + "\n"; }

std::string AsText(const Check& check) {
  std::string text;
  for (const CheckedCase& checked : check.cases) {
    text += checked.inputs + "\n";
    for (const CheckedOutput& item : checked.outputs) {
      const Comparison& found = item.comparison;
      text += "  " + std::string(found.within ? "ok    " : "wrong ") + item.output.name + " " + item.output.dtype +
              " " + ShapeText(item.output.shape) + ", max difference " + NumberText(found.max_abs) +
              (found.max_ulp ? " (" + std::to_string(*found.max_ulp) + " ulp)" : "") + ", cosine " +
              NumberText(found.cosine) + "\n";
    }
  }
  if (!check.cases.empty()) {
    text += Format("verify %.0f ms, load %.0f ms, run %.3g ms, peak memory %.0f MiB, %s\n", check.verify_s * 1e3,
                   check.load_s * 1e3, check.run_s * 1e3, check.peak_rss_mb,
                   check.deterministic ? "two runs are equal" : "two runs differ");
  }
  return Printable(text + StatusLine(check));
}

std::string AsJson(const Inspection& inspection) {
  const Check& check = inspection.check;
  ordered_json json = {{"status", check.status},
                       {"detail", check.detail},
                       {"package_id", check.package_id},
                       {"verify_s", check.verify_s}};
  if (const auto& package = inspection.package) {
    const Manifest& manifest = package->manifest;
    json.update(ordered_json{{"model", manifest.model},
                             {"revision", manifest.revision},
                             {"architecture", manifest.architecture},
                             {"target", manifest.target},
                             {"torch", manifest.torch},
                             {"cpu_capability", manifest.cpu_capability},
                             {"dtype", manifest.dtype},
                             {"size", manifest.size},
                             {"batch", manifest.batch},
                             {"dynamic", manifest.dynamic},
                             {"inputs", JsonOf(inspection.recorded.inputs)},
                             {"outputs", JsonOf(inspection.recorded.outputs)}});
  }
  return JsonText(json) + "\n";
}

std::string AsText(const Inspection& inspection) {
  std::string text;
  if (const auto& package = inspection.package) {
    const Manifest& manifest = package->manifest;
    text += "package " + package->id + "\n";
    text += "model " + manifest.model + " " + manifest.revision + " (" + manifest.architecture + ", " + manifest.size +
            " size)\n";
    text += "target " + manifest.target + ", torch " + manifest.torch + ", " + manifest.device + " " +
            manifest.cpu_capability + ", " + manifest.dtype + "\n";
    text += Lines("input", inspection.recorded.inputs) + Lines("output", inspection.recorded.outputs);
  }
  return Printable(text + StatusLine(inspection.check));
}

}  // namespace breakwatch::artifact
