#include "breakwatch/report/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/printable.h"
#include "breakwatch/core/text.h"
#include "escape.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kBarColumns = 20, kShortBarColumns = 8;
constexpr auto kBetweenDraws = std::chrono::milliseconds(100);

// "0:41", "1:02:03".
std::string ClockText(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e9));
  char text[64];
  if (whole < 3600) {
    std::snprintf(text, sizeof text, "%d:%02d", static_cast<int>(whole / 60), static_cast<int>(whole % 60));
  } else {
    std::snprintf(text, sizeof text, "%lld:%02d:%02d", static_cast<long long>(whole / 3600),
                  static_cast<int>(whole / 60 % 60), static_cast<int>(whole % 60));
  }
  return text;
}

std::string Left(const Progress& p) {
  const std::size_t fresh = p.done - std::min(p.done, p.before);
  if (fresh == 0 || p.done >= p.total) return {};
  const double per_model = p.elapsed_s / static_cast<double>(fresh);
  return ", about " + ClockText(per_model * static_cast<double>(p.total - p.done)) + " left";
}

void AddCount(std::string& text, const std::optional<std::int64_t>& value, const char* noun) {
  if (value) text += (text.empty() ? "" : ", ") + Counted(*value, noun);
}

std::string Findings(const ModelResult& result) {
  const CaptureResult& c = result.capture;
  if (!HasNumbers(c.status)) return c.detail;
  std::string text;
  if (c.status == Status::kGraphBreaks) {
    AddCount(text, c.breaks, "break");
    if (c.break_sites) text += " at " + Counted(*c.break_sites, "site");
  }
  AddCount(text, c.graphs, "graph");
  if (result.reused) return text + ", known";
  if (!result.shared_from.empty()) return text + ", as " + result.shared_from;
  char seconds[64];
  std::snprintf(seconds, sizeof seconds, ", %.1f s", c.capture_s);
  return text + seconds;
}

std::string ModeOf(const ModelResult& result) {
  const std::string& mode = result.capture.mode;
  return mode.empty() || mode == kMainMode ? "" : " (" + mode + ")";
}

}  // namespace

std::string ProgressBar(const Progress& p, std::size_t width) {
  const std::size_t columns = width >= 60 ? kBarColumns : width >= 30 ? kShortBarColumns : 0;
  const std::size_t filled = p.total == 0 ? 0 : std::min(columns, p.done * columns / p.total);
  std::string text = columns == 0 ? "" : "[" + std::string(filled, '#') + std::string(columns - filled, '.') + "] ";
  text += std::to_string(p.done) + "/" + std::to_string(p.total) + "  ";
  const char* separator = "";
  for (const auto& [status, count] : p.statuses) {
    text += separator + std::to_string(count) + " " + status;
    separator = ", ";
  }
  text += (p.statuses.empty() ? "" : "  ") + ClockText(p.elapsed_s) + Left(p);
  if (!p.newest.empty()) text += "  " + OneLine(p.newest);
  return Fit(text, width);
}

std::string ResultLine(const ModelResult& result, std::size_t done, std::size_t total) {
  return "[" + std::to_string(done) + "/" + std::to_string(total) + "] " +
         std::string(StatusName(result.capture.status)) + "  " + OneLine(result.info.id + ModeOf(result)) + "  " +
         OneLine(Findings(result));
}

std::size_t TerminalColumns(std::FILE* out) {
  winsize size{};
  const int fd = fileno(out);
  return fd >= 0 && isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

ProgressPrinter::ProgressPrinter(std::FILE* out, const Clock& clock, bool terminal, std::size_t width)
    : out_(out), clock_(clock), terminal_(terminal), width_(width), started_(clock.Steady()) {}

ProgressPrinter ProgressPrinter::For(std::FILE* out, const Clock& clock) {
  const int fd = fileno(out);
  const char* kind = std::getenv("TERM");
  const bool terminal = isatty(fd) == 1 && kind && std::string_view(kind) != "dumb";
  ProgressPrinter printer(out, clock, terminal);
  printer.follows_terminal_ = terminal;
  return printer;
}

void ProgressPrinter::OnListing(int resolved, int total) {
  progress_.newest = "listing: " + std::to_string(resolved) + " of " + std::to_string(total) + " configs";
  if (terminal_) return Draw(resolved == total);
  if (resolved == total && listed_ != total) Line("listed " + Counted(total, "model"));
  listed_ = resolved == total ? total : -1;  // the last value may be reported twice
}

void ProgressPrinter::OnPlan(const Plan& plan, std::size_t already_done) {
  std::map<std::string, std::size_t> actions;
  for (const PlannedModel& model : plan.models) ++actions[std::string(ActionName(model.action))];
  std::string text = "sweep " + plan.sweep_id + ": " + Counted(plan.models.size(), "model");
  for (const auto& [action, count] : actions) text += ", " + std::to_string(count) + " to " + action;
  if (already_done > 0) text += "; " + std::to_string(already_done) + " already done";
  Line(text);
  started_ = clock_.Steady();
  progress_ = {.done = already_done, .total = plan.models.size(), .before = already_done};
}

void ProgressPrinter::OnWaiting(std::string_view why) {
  if (!why.empty()) Line(OneLine(why));
}

void ProgressPrinter::OnStarted(std::string_view model) {
  progress_.newest = model;
  if (terminal_) Draw(false);
}

void ProgressPrinter::OnResult(const ModelResult& result, std::size_t done, std::size_t total) {
  progress_.done = done;
  progress_.total = total;
  progress_.newest = result.info.id;
  ++progress_.statuses[std::string(StatusName(result.capture.status))];
  if (terminal_) return Draw(done == total);
  Line(ResultLine(result, done, total));
}

void ProgressPrinter::OnFinished(const Sweep& sweep) {
  const std::chrono::duration<double> took = sweep.finished_at - sweep.started_at;
  Line("sweep " + sweep.id + (sweep.complete ? " finished" : " incomplete") + " after " + ClockText(took.count()));
}

void ProgressPrinter::OnFailed(const Error&) { Erase(); }

void ProgressPrinter::OnWarning(std::string_view text) { Line("warning: " + OneLine(text)); }

void ProgressPrinter::Draw(bool now) {
  const SteadyTime time = clock_.Steady();
  if (!now && drawn_columns_ > 0 && time - drawn_at_ < kBetweenDraws) return;
  progress_.elapsed_s = std::chrono::duration<double>(time - started_).count();
  Erase();
  // Some terminals wrap a line of full width, so it is one column shorter.
  if (const std::size_t columns = follows_terminal_ ? TerminalColumns(out_) : 0; columns > 0) {
    width_ = std::max<std::size_t>(columns, 2) - 1;
  }
  const std::string bar = ProgressBar(progress_, width_);
  std::fputs(bar.c_str(), out_);
  std::fflush(out_);
  drawn_columns_ = std::max<std::size_t>(1, DisplayWidth(bar));
  drawn_at_ = time;
}

void ProgressPrinter::Erase() {
  if (drawn_columns_ == 0) return;
  // If the terminal became narrower, the bar takes several lines.
  const std::size_t columns = follows_terminal_ ? TerminalColumns(out_) : 0;
  if (const std::size_t above = columns > 0 ? (drawn_columns_ - 1) / columns : 0; above > 0) {
    std::fprintf(out_, "\x1b[%zuA\r\x1b[J", above);
  } else {
    std::fputs("\r\x1b[K", out_);
  }
  drawn_columns_ = 0;
}

void ProgressPrinter::Line(const std::string& text) {
  Erase();
  std::fputs((Printable(text) + "\n").c_str(), out_);
  std::fflush(out_);
}

}  // namespace breakwatch::report
