#include "setup_progress.h"

#include "breakwatch/core/printable.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/progress.h"

namespace breakwatch::commands {
namespace {

std::string Megabytes(std::int64_t bytes) { return std::to_string(bytes / 1'000'000); }

// "fetch torch-2.15.0.whl, 412 of 916 MB".
std::string What(const SetupProgress& progress, bool with_bytes) {
  std::string text = progress.step + (progress.package.empty() ? "" : " " + progress.package);
  if (progress.of_bytes >= 1'000'000) {
    text += ", " + (with_bytes ? Megabytes(progress.bytes) + " of " : "") + Megabytes(progress.of_bytes) + " MB";
  }
  return text;
}

}  // namespace

SetupPrinter::SetupPrinter(std::FILE* out, const Clock& clock, bool terminal)
    : out_(out), clock_(clock), terminal_(terminal), started_(clock.Steady()), step_began_(started_) {}

SetupPrinter::~SetupPrinter() {
  if (is_drawn_) std::fputs("\r\x1b[K", out_);
}

void SetupPrinter::Show(const SetupProgress& progress) {
  if (progress.step != shown_.step) step_began_ = clock_.Steady();
  terminal_ ? Draw(progress) : Line(progress);
  shown_ = progress;
}

void SetupPrinter::Draw(const SetupProgress& progress) {
  const std::size_t columns = report::TerminalColumns(out_);
  const report::Progress bar{.done = progress.done,
                             .total = progress.total,
                             .elapsed_s = std::chrono::duration<double>(clock_.Steady() - started_).count(),
                             .newest = What(progress, /*with_bytes=*/true)};
  std::fputs(("\r\x1b[K" + report::ProgressBar(bar, columns > 1 ? columns - 1 : 79)).c_str(), out_);
  std::fflush(out_);
  is_drawn_ = true;
}

void SetupPrinter::Line(const SetupProgress& progress) {
  const bool same = progress.step == shown_.step && progress.package == shown_.package;
  if (same) return;
  const std::string count =
      progress.total == 0 ? "" : "[" + std::to_string(progress.done) + "/" + std::to_string(progress.total) + "] ";
  std::fputs((count + Printable(What(progress, /*with_bytes=*/false)) + "\n").c_str(), out_);
  std::fflush(out_);
}

}  // namespace breakwatch::commands
