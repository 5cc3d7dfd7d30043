#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "breakwatch/commands/app.h"
#include "breakwatch/core/printable.h"
#include "breakwatch/report/progress.h"
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
  Complain(app, error.message);
  return ExitCode(error);
}

void Complain(const App& app, const std::string& text) {
  std::fputs(("breakwatch: " + Printable(text) + "\n").c_str(), app.err);
}

report::Format FormatOf(const App& app) { return app.json ? report::Format::kJson : report::Format::kText; }

report::Style StyleOf(const App& app) {
  report::Style style;
  style.color = isatty(fileno(app.out)) == 1 && std::getenv("NO_COLOR") == nullptr;
  style.width = report::TerminalColumns(app.out);
  std::error_code unknown;
  style.directory = std::filesystem::current_path(unknown).string();
  if (const char* home = std::getenv("HOME")) style.home = home;
  return style;
}

namespace {

// A reader may close the pipe early (`breakwatch sweep | head`). As in other tools, this is not a failure. Output
// stops, and the exit code reflects the work.
void NoteFailedWrite(const App& app, int error) {
  if (error == EPIPE)
    app.output->is_closed = true;
  else if (app.output->error == 0)
    app.output->error = error;
}

}  // namespace

void Print(const App& app, const std::string& text) {
  if (app.output->is_closed) return;
  const std::string shown = StyleOf(app).color ? PrintableInColor(text) : Printable(text);
  const bool written = std::fwrite(shown.data(), 1, shown.size(), app.out) == shown.size() && std::fflush(app.out) == 0;
  if (!written) NoteFailedWrite(app, errno);
}

namespace {

Error CannotWrite(const std::string& path) {
  return {ErrorCode::kStore, "cannot write " + path + ": " + std::strerror(errno)};
}

}  // namespace

Result<void> CheckOutput(const std::string& path) {
  if (path.empty() || path == "-") return {};
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (is_directory(status)) return errno = EISDIR, CannotWrite(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  const std::string at = exists(status) ? path : folder.empty() ? "." : folder.string();
  return access(at.c_str(), W_OK) == 0 ? Result<void>() : CannotWrite(path);
}

Result<void> WriteFile(const std::string& path, const WriteText& write) {
  std::FILE* file = std::fopen(path.c_str(), "wbe");
  if (file == nullptr) return CannotWrite(path);
  std::optional<Error> failed;
  const auto check = [&](bool written) {
    if (!written && !failed) failed = CannotWrite(path);
  };
  const auto made = write([&](std::string_view text) {
    if (!failed) check(std::fwrite(text.data(), 1, text.size(), file) == text.size());
  });
  if (!failed) check(std::fflush(file) == 0);
  // Some file systems report a full disk or quota only at close.
  check(std::fclose(file) == 0);
  if (!made) return made.error();
  return failed ? Result<void>(*failed) : Result<void>();
}

Result<void> WriteFile(const std::string& path, const std::string& text) {
  return WriteFile(path, [&text](const TextSink& sink) -> Result<void> { return sink(text), Result<void>(); });
}

Result<void> ReplaceFile(const std::string& path, const std::string& text) {
  std::error_code unknown;
  // A pipe or device cannot be replaced.
  if (const auto at = std::filesystem::status(path, unknown); exists(at) && !is_regular_file(at)) {
    return WriteFile(path, text);
  }
  const std::filesystem::path file = std::filesystem::weakly_canonical(path, unknown);  // a link stays a link
  const std::string target = unknown || file.empty() ? path : file.string();
  std::string fresh = target + ".XXXXXX";
  const int fd = mkostemp(fresh.data(), O_CLOEXEC);
  if (fd < 0) return CannotWrite(path);
  close(fd);
  struct stat old {};
  const mode_t mask = umask(0);
  umask(mask);
  auto written = WriteFile(fresh, text);
  if (written && (chmod(fresh.c_str(), stat(target.c_str(), &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask) != 0 ||
                  rename(fresh.c_str(), target.c_str()) != 0)) {
    written = CannotWrite(path);
  }
  if (!written) unlink(fresh.c_str());
  return written;
}

int Write(const App& app, const std::string& path, const std::string& text) {
  if (path.empty() || path == "-") return Print(app, text), kExitOk;
  const auto written = WriteFile(path, text);
  return written ? kExitOk : Fail(app, written.error());
}

int FirstThatApplies(int a, int b) {
  for (const int code : {kExitInterrupted, kExitUsage, kExitConfig, kExitStore, kExitUnavailable, kExitIncomplete,
                         kExitRegressions, kExitFailure}) {
    if (a == code || b == code) return code;
  }
  return kExitOk;
}

void ReserveStandardDescriptors() {
  // Standard output is opened for reading, so that writes fail as on a closed descriptor. Messages are dropped.
  constexpr std::pair<int, int> kModes[] = {
      {STDIN_FILENO, O_RDONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}};
  for (const auto& [fd, mode] : kModes) {
    if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free descriptor; all lower ones are open by now.
    if (open("/dev/null", mode) != fd) _exit(kExitStore);
  }
}

void NoteDamage(const App& app, const store::Damage& damage) {
  const std::string text = store::Describe(damage);
  {
    const std::lock_guard lock(app.output->mutex);
    if (!app.output->damage.insert(text).second) return;
  }
  app.log(Level::kError, "skipped, because it is damaged: " + text);
}

int CodeWithOutput(const App& app, int code) {
  if (!app.output->is_closed && std::fflush(app.out) != 0) NoteFailedWrite(app, errno);
  if (!app.output->is_closed && std::ferror(app.out) != 0 && app.output->error == 0) app.output->error = EIO;
  if (app.output->error != 0) {
    const std::string cause = std::strerror(app.output->error);
    code = FirstThatApplies(code, Fail(app, {ErrorCode::kStore, "cannot write to standard output: " + cause}));
  }
  const std::lock_guard lock(app.output->mutex);
  if (app.output->damage.empty()) return code;
  return FirstThatApplies(code, Fail(app, {ErrorCode::kStore,
                                           "damaged rows of the store were skipped: `breakwatch store check` lists "
                                           "them, `breakwatch store repair` keeps everything else"}));
}

Result<std::optional<api::Followed>> HandOver(const App& app, const SweepRequest& request, ProgressListener& progress) {
  const ExitOnSignals exit_on_signals("\nbreakwatch: interrupted; the daemon continues the sweep\n");
  return api::FollowSweep(app.settings().state_dir + "/control.sock", request, progress);
}

int CodeOf(const App& app, const Sweep& sweep, const std::vector<std::string>& behind) {
  for (const std::string& exporter : behind) {
    app.log(Level::kError, exporter +
                               " did not accept everything: `breakwatch events status` shows what is pending, the next "
                               "run sends it; `breakwatch dead-letters list` shows what was refused");
  }
  return sweep.complete && behind.empty() ? kExitOk : kExitIncomplete;
}

}  // namespace breakwatch::commands
