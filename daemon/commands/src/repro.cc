// `breakwatch repro`: a Python file that shows the breaks of a model without breakwatch.
#include "breakwatch/core/repro.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/printable.h"
#include "run_in_mode.h"

namespace breakwatch::commands {
namespace {

using Json = nlohmann::ordered_json;

Repro ReproOf(const ModelResult& result) {
  if (!HasNumbers(result.capture.status)) return {.script = {}, .why_not = result.capture.detail, .differs = {}};
  auto repro = ReadRepro(result.capture.mode_detail_json);
  return repro ? *std::move(repro) : Repro{.script = {}, .why_not = repro.error().message, .differs = {}};
}

Json JsonOf(const ModelResult& result, const Repro& repro) {
  const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
  return {{"model", result.info.id},
          {"revision", result.info.sha},
          {"status", StatusName(result.capture.status)},
          {"toolchain", result.capture.toolchain.Key()},
          {"script", text(repro.script)},
          {"why_not", text(repro.why_not)},
          {"differs", text(repro.differs)}};
}

}  // namespace

int RunRepro(App& app, const ModeCommandOptions& options) {
  int code = kExitOk;
  const auto render = [&](const std::vector<ModelResult>& results, report::Format format) {
    if (format != report::Format::kJson && results.size() > 1) {
      code = Fail(app, {ErrorCode::kUsage,
                        "a file is for one model and one toolchain: name one model and --toolchain, or use --json"});
      return std::string();
    }
    Json models = Json::array();
    std::string files;
    for (const ModelResult& result : results) {
      const Repro repro = ReproOf(result);
      models.push_back(JsonOf(result, repro));
      for (std::size_t begin = 0; begin < repro.script.size();) {
        const std::size_t end = std::min(repro.script.find('\n', begin), repro.script.size());
        files += Printable(repro.script.substr(begin, end - begin)) + "\n";
        begin = end + 1;
      }
      if (repro.script.empty()) {
        code = Fail(app, {ErrorCode::kInvalid, "no file for " + result.info.id + ": " + repro.why_not});
      } else if (!repro.differs.empty()) {
        code = Fail(
            app, {ErrorCode::kInvalid, "the file for " + result.info.id + " does not find the same: " + repro.differs});
      }
    }
    return format == report::Format::kJson ? JsonDocument(Json{{"schema", 1}, {"models", models}}, 2) : files;
  };
  const int ran = RunInMode(
      app, kReproMode, options, [](SweepRequest&) {}, render);
  return FirstThatApplies(ran, code);
}

}  // namespace breakwatch::commands
