// `breakwatch setup`: makes the toolchain that captures run in.
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "commands.h"
#include "setup_progress.h"

namespace breakwatch::commands {
namespace {

using Json = nlohmann::ordered_json;

// Readable after SIGINT, SIGTERM or SIGHUP, which are blocked.
class StopSignals {
 public:
  StopSignals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, number);
    fd_ = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  }
  ~StopSignals() {
    if (fd_ >= 0) close(fd_);
  }
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

bool IsTerminal(std::FILE* out) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(out)) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

Error Usage(const std::string& text) { return {ErrorCode::kUsage, text}; }

bool IsVersion(const std::string& text) {
  return !text.empty() && text.size() <= 64 && std::isdigit(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '+' || c == '-';
         });
}

bool IsName(const std::string& text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' || c == '+';
  }) && std::isalnum(static_cast<unsigned char>(text[0])) != 0;
}

// What pip would take for an option, or what could not be a name.
Result<void> CheckRequest(const SetupRequest& request) {
  if (request.torch.empty() != request.transformers.empty())
    return Usage("--torch and --transformers belong together: the lock file has one pair of versions");
  if (!request.torch.empty() && (!IsVersion(request.torch) || !IsVersion(request.transformers)))
    return Usage("--torch and --transformers are versions, as 2.13.0 and 5.8.0");
  if (request.torch.empty() && !request.packages.empty())
    return Usage("--package needs --torch and --transformers: the lock file has all packages of the default toolchain");
  for (const std::string& package : request.packages) {
    if (package.empty() || std::isalnum(static_cast<unsigned char>(package[0])) == 0)
      return Usage("--package: expected a requirement, as scipy or numpy<2.3, got \"" + package + "\"");
  }
  if (request.torch_index.find("://") == std::string::npos && !request.torch_index.empty())
    return Usage("--torch-index: expected a URL, as https://packages.example/cpu");
  if (!IsName(request.name)) return Usage("--name: letters, digits, \"_\", \"-\", \"+\" and \".\" only");
  return {};
}

double GiB(std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(1LL << 30); }

int PrintPlan(const App& app, const SetupRequest& request, const SetupPlan& plan) {
  if (app.json) {
    Print(app, JsonDocument(Json{{"toolchain", request.name},
                                 {"path", plan.path},
                                 {"complete", plan.is_complete},
                                 {"interrupted", plan.was_interrupted},
                                 {"packages", plan.packages},
                                 {"needed_bytes", plan.needed_bytes},
                                 {"free_bytes", plan.free_bytes}},
                            1));
    return kExitOk;
  }
  char space[96];
  std::snprintf(space, sizeof space, "%.1f GiB needed, %.1f GiB free", GiB(plan.needed_bytes), GiB(plan.free_bytes));
  Print(app, "toolchain  " + request.name + "\npath       " + plan.path + "\nstate      " +
                 (plan.is_complete       ? "complete"
                  : plan.was_interrupted ? "interrupted; a new run begins again with what pip's cache has"
                                         : "not made yet") +
                 "\npackages   " +
                 (plan.packages > 0 ? std::to_string(plan.packages) + ", in the lock file" : "as pip resolves them") +
                 "\nspace      " + space + "\n");
  return kExitOk;
}

int PrintMade(const App& app, const SetupRequest& request, const MadeToolchain& made) {
  if (app.json) {
    Print(app, JsonDocument(Json{{"toolchain", request.name},
                                 {"python", made.python},
                                 {"torch", made.torch},
                                 {"transformers", made.transformers},
                                 {"python_version", made.python_version},
                                 {"made", made.was_made}},
                            1));
    return kExitOk;
  }
  Print(app, "toolchain " + request.name + (made.was_made ? " made" : " is complete") + ": torch " + made.torch +
                 ", transformers " + made.transformers + ", Python " + made.python_version + "\n  " + made.python +
                 "\n");
  return kExitOk;
}

}  // namespace

int RunSetup(App& app, const SetupOptions& options) {
  SetupRequest request = options.request;
  if (request.name.empty()) {
    request.name = request.torch.empty() ? "default" : "torch" + request.torch + "-transformers" + request.transformers;
  }
  if (const auto checked = CheckRequest(request); !checked) return Fail(app, checked.error());
  const auto plan = app.plan_setup(request);
  if (!plan) return Fail(app, plan.error());
  if (options.dry_run) return PrintPlan(app, request, *plan);
  const StopSignals signals;
  const auto made = [&] {
    SetupPrinter printer(app.err, *app.clock, IsTerminal(app.err));
    SetupFollow follow{{}, signals.fd()};
    if (!options.quiet) follow.on_progress = [&](const SetupProgress& progress) { printer.Show(progress); };
    return app.set_up(request, follow);
  }();
  if (made) return PrintMade(app, request, *made);
  if (made.error().code == ErrorCode::kInterrupted)
    return Fail(app, {ErrorCode::kInterrupted, "interrupted; run `breakwatch setup` again to continue"});
  return Fail(app, made.error());
}

}  // namespace breakwatch::commands
