#include "breakwatch/capture/discover.h"

#include <nlohmann/json.hpp>

#include "breakwatch/core/json.h"
#include "buffers.h"
#include "environment.h"
#include "message.h"
#include "process.h"
#include "scratch.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

constexpr int kMaxDepth = 64;
// Longer than the script's own limit: the script must import torch and report the calls made so far.
constexpr std::chrono::seconds kGrace{60};

nlohmann::json Parsed(const std::string& line) {
  if (!CheckJson(line, kMaxLine, kMaxDepth).ok()) return {};
  auto message = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  return message.is_object() ? message : nlohmann::json();
}

bool IsOf(const nlohmann::json& message, const char* type) {
  return message.is_object() && message.value("type", nlohmann::json()) == type;
}

std::string Seconds(std::chrono::milliseconds time) { return std::to_string(time.count() / 1000); }

std::string WhyNot(const ProcessOutput& output, const DiscoverOptions& discover) {
  if (output.timed_out) return "the script did not stop after its time-out of " + Seconds(discover.timeout) + " s";
  if (output.too_long) return "the worker printed more than 16 MiB";
  if (output.end.signalled || output.end.value != 0) return "it " + output.end.Text() + " while the script ran";
  return "it did not report what the script called";
}

}  // namespace

Result<std::string> DiscoverModules(const ZygoteOptions& options, const DiscoverOptions& discover) {
  if (options.worker.empty()) return CannotStart(options, "capture.worker is empty", "");
  std::vector<std::string> argv = options.launcher;
  argv.insert(argv.end(), options.worker.begin(), options.worker.end());
  argv.insert(argv.end(), {"--discover", discover.script, "--max-depth", std::to_string(discover.max_depth),
                           "--timeout", Seconds(discover.timeout), "--"});
  argv.insert(argv.end(), discover.arguments.begin(), discover.arguments.end());
  const ScratchFolder scratch(options.scratch);
  const Result<ProcessOutput> output =
      RunProcess(argv, WorkerEnvironment(options, scratch.path()), discover.timeout + kGrace, kMaxLine);
  if (!output.ok()) return CannotStart(options, output.error().message, "");
  LineBuffer lines(kMaxLine);
  lines.Append(output->out + '\n');
  bool running = false;
  while (auto line = lines.Next()) {  // a launcher may have printed lines before it
    const nlohmann::json message = Parsed(std::string(*line));
    running = running || IsOf(message, "running");
    if (IsOf(message, "discovered") && message.contains("modules") && message["modules"].is_array()) {
      return std::string(*line);
    }
  }
  if (running && !output->timed_out && !output->too_long && (output->end.signalled || output->end.value != 0)) {
    return Error{ErrorCode::kInvalid, discover.script +
                                          " ended the worker that ran it, and what it called with it: it " +
                                          output->end.Text() + (output->err.empty() ? "" : "\n" + output->err)};
  }
  return CannotStart(options, WhyNot(*output, discover), output->err);
}

}  // namespace breakwatch::capture
