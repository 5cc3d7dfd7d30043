#include <unistd.h>

#include "breakwatch/commands/app.h"
#include "commands.h"
#include "signals.h"

namespace breakwatch::commands {

int ExitCode(const Error& error) {
  switch (error.code) {
    case ErrorCode::kUsage:
      return kExitUsage;
    case ErrorCode::kConfig:
      return kExitConfig;
    case ErrorCode::kStore:
      return kExitStore;
    case ErrorCode::kUnavailable:
      return kExitUnavailable;
    case ErrorCode::kInterrupted:
      return kExitInterrupted;
    case ErrorCode::kNotFound:
    case ErrorCode::kInvalid:
    case ErrorCode::kInternal:
      break;
  }
  return kExitFailure;
}

int Fail(const App& app, const Error& error) {
  std::fprintf(app.err, "breakwatch: %s\n", error.message.c_str());
  return ExitCode(error);
}

report::Format FormatOf(const App& app) { return app.json ? report::Format::kJson : report::Format::kText; }

report::Style StyleOf(const App& app) {
  report::Style style;
  style.color = isatty(fileno(app.out)) == 1 && std::getenv("NO_COLOR") == nullptr;
  return style;
}

void Print(const App& app, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), app.out);
  std::fflush(app.out);
}

Result<std::optional<api::Followed>> HandOver(const App& app, const SweepRequest& request, ProgressListener& progress) {
  const ExitOnSignals exit_on_signals;
  return api::FollowSweep(app.settings().state_dir + "/control.sock", request, progress);
}

int CodeOf(const App& app, const Sweep& sweep, const std::vector<std::string>& behind) {
  for (const std::string& exporter : behind) {
    app.log(Level::kError, exporter + " did not accept everything in time; what is pending is sent by the next run");
  }
  return sweep.complete && behind.empty() ? kExitOk : kExitIncomplete;
}

}  // namespace breakwatch::commands
