// `breakwatch repro`: a Python file that shows the breaks of a model without breakwatch.
#include "breakwatch/core/repro.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/printable.h"
#include "repro_keep.h"
#include "run_in_mode.h"

namespace breakwatch::commands {
namespace {

using Json = nlohmann::ordered_json;

Repro ReproOf(const ModelResult& result) {
  Repro none;
  none.why_not = result.capture.detail;
  if (!HasNumbers(result.capture.status)) return none;
  auto repro = ReadRepro(result.capture.mode_detail_json);
  if (repro) return *std::move(repro);
  none.why_not = repro.error().message;
  return none;
}

Json JsonOf(const ModelResult& result, const Repro& repro) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"model", result.info.id},
          {"revision", result.info.sha},
          {"status", StatusName(result.capture.status)},
          {"toolchain", result.capture.toolchain.Key()},
          {"script", text(repro.script)},
          {"why_not", text(repro.why_not)},
          {"differs", text(repro.differs)},
          {"site_id", text(repro.site_id)},
          {"minimal", repro.minimal},
          {"why_full", text(repro.why_full)},
          {"reduced", repro.reduced}};
}

// The lines of a file, without control characters: it comes from a worker.
std::string FileOf(const Repro& repro) {
  std::string file;
  for (std::size_t begin = 0; begin < repro.script.size();) {
    const std::size_t end = std::min(repro.script.find('\n', begin), repro.script.size());
    file += Printable(repro.script.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return file;
}

// Says what is wrong with a file. Returns the exit code.
int CodeOf(App& app, const std::string& model, const Repro& repro) {
  if (repro.script.empty()) return Fail(app, {ErrorCode::kInvalid, "no file for " + model + ": " + repro.why_not});
  if (!repro.why_full.empty()) Complain(app, model + ": " + repro.why_full);
  if (repro.differs.empty()) return kExitOk;
  return Fail(app, {ErrorCode::kInvalid, "the file for " + model + " does not find the same: " + repro.differs});
}

// One model of the output.
struct Written {
  const ModelResult& result;
  Repro repro;
  std::optional<KeptFolder> kept;
};

Json JsonOf(const std::vector<Written>& all) {
  Json models = Json::array();
  for (const Written& one : all) {
    Json model = JsonOf(one.result, one.repro);
    if (one.kept) {
      model["kept"] = {{"folder", one.kept->folder}, {"command", one.kept->command}, {"found", one.kept->found}};
      model["kept"]["trace"] = one.kept->trace.empty() ? Json() : Json(one.kept->trace);
    }
    models.push_back(std::move(model));
  }
  return {{"schema", 1}, {"models", std::move(models)}};
}

Result<void> CheckOptions(const App& app, const ReproCommandOptions& options, const ReproOptions& repro) {
  if (options.site && options.site->empty()) return Error{ErrorCode::kUsage, "--site: expected the id of a site"};
  if ((options.keep || options.trace) && !app.server.empty())
    return Error{ErrorCode::kUsage, "--keep and --trace use a worker of this machine: leave out --server"};
  return CheckRepro(repro);
}

}  // namespace

int RunRepro(App& app, const ReproCommandOptions& options) {
  const ReproOptions repro{.site = options.site.value_or(""), .minimal = options.minimal};
  if (auto checked = CheckOptions(app, options, repro); !checked) return Fail(app, checked.error());
  const bool keeps = options.keep || options.trace;
  int code = kExitOk;
  const auto render = [&](const std::vector<ModelResult>& results, report::Format format) {
    if ((keeps || format != report::Format::kJson) && results.size() > 1) {
      code = Fail(app, {ErrorCode::kUsage, "a file is for one model and one toolchain: name one model and --toolchain" +
                                               std::string(keeps ? "" : ", or use --json")});
      return std::string();
    }
    std::vector<Written> all;
    std::string text;
    for (const ModelResult& result : results) {
      Written& one = all.emplace_back(Written{result, ReproOf(result), std::nullopt});
      const std::string file = FileOf(one.repro);
      code = FirstThatApplies(code, CodeOf(app, result.info.id, one.repro));
      if (!keeps) text += file;
      if (!keeps) continue;
      auto kept = KeepCapture(app, result, file, options.trace);
      if (!kept) code = FirstThatApplies(code, Fail(app, kept.error()));
      if (kept) text += TextOf(*kept, !file.empty());
      if (kept) one.kept = *std::move(kept);
    }
    return format == report::Format::kJson ? JsonDocument(JsonOf(all), 2) : text;
  };
  const int ran = RunInMode(
      app, kReproMode, options.in_mode, [&](SweepRequest& request) { request.repro = repro; }, render);
  return FirstThatApplies(ran, code);
}

}  // namespace breakwatch::commands
