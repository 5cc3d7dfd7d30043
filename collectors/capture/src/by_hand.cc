#include "breakwatch/capture/by_hand.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "breakwatch/capture/run_process.h"
#include "environment.h"
#include "message.h"
#include "worker_text.h"

namespace breakwatch::capture {
namespace {

constexpr std::size_t kMostOutput = 1u << 20;  // of the worker itself; the model's output has a limit of its own
constexpr mode_t kOwnerOnly = 0700;            // the environment may have what capture.environment passes

std::string Quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string Comment(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return "# " + text + "\n";
}

Result<void> WriteOwn(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file && chmod(path.c_str(), kOwnerOnly) == 0 &&
      file.write(text.data(), static_cast<std::streamsize>(text.size())) && file.flush())
    return {};
  return Error{ErrorCode::kStore, "cannot write " + path + ": " + std::strerror(errno)};
}

// Of the two runs that a capture may need, and the imports before them.
milliseconds TimeFor(const ZygoteOptions& options, const CaptureLimits& limits) {
  return 2 * (limits.create + limits.inputs + limits.eager + limits.capture) + options.hello;
}

std::string HowItEnded(const ProcessOutput& output) {
  if (output.timed_out) return "did not end in time";
  if (output.too_long) return "printed more than 1 MiB";
  return output.end.Text();
}

}  // namespace

std::vector<std::string> CommandByHand(const ZygoteOptions& options, const std::string& folder, bool trace) {
  std::vector<std::string> command = {"env", "-i"};
  for (std::string& variable : WorkerEnvironment(options, folder)) command.push_back(std::move(variable));
  command.insert(command.end(), options.launcher.begin(), options.launcher.end());
  command.insert(command.end(), options.worker.begin(), options.worker.end());
  command.insert(command.end(), {"--capture", folder});
  if (trace) command.emplace_back("--trace");
  return command;
}

std::string ScriptOf(const std::vector<std::string>& command, const std::string& title) {
  std::string text = "#!/bin/sh\n" + Comment(title) + "exec";
  for (const std::string& word : command) text += " \\\n  " + Quoted(word);
  return text + "\n";
}

Result<std::string> CaptureByHand(const ZygoteOptions& options, const CaptureJob& job, const std::string& folder,
                                  bool trace) {
  const std::string script = folder + "/repeat.sh", log = folder + "/worker.log";
  const auto command = CommandByHand(options, folder, trace);
  if (auto written = WriteOwn(folder + "/job.json", CaptureLine(job)); !written) return written.error();
  if (auto written = WriteOwn(script, ScriptOf(command, "Repeats the capture of " + job.model)); !written)
    return written.error();
  const auto output =
      RunProcess({"/bin/sh", script}, {"PATH=/usr/bin:/bin"}, TimeFor(options, job.limits), kMostOutput);
  if (!output) return output.error();
  if (auto written = WriteOwn(log, output->err); !written) return written.error();
  const bool ended_well = !output->end.signalled && output->end.value == 0 && !output->out.empty();
  if (ended_well) return LastLine(output->out);
  return Error{ErrorCode::kUnavailable, "the worker " + HowItEnded(*output) + " without a result; see " + log};
}

}  // namespace breakwatch::capture
