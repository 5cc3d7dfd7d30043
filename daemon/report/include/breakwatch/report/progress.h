// ProgressPrinter: a sweep's progress on a stream; a bar on a terminal, a line per model otherwise.
#pragma once

#include <cstddef>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "breakwatch/core/clock.h"
#include "breakwatch/core/progress.h"

namespace breakwatch::report {

// Columns of the terminal `out`; 0: not a terminal, or of unknown width.
std::size_t TerminalColumns(std::FILE* out);

struct Progress {
  std::size_t done = 0, total = 0;
  std::size_t before = 0;  // of those done, in an earlier run of the same sweep; not counted for the speed
  double elapsed_s = 0;
  std::map<std::string, std::size_t> statuses{};  // of those done
  std::string newest{};                           // model that started or ended last
};

// "[#####.....] 12/30  10 full_graph, 2 graph_breaks  0:41, about 1:02 left  org/name", at most `width` columns; the
// narrower it is, the shorter is the bar.
std::string ProgressBar(const Progress& progress, std::size_t width);
// "[12/30] graph_breaks  org/name  4 breaks at 3 sites, 3 graphs, 1.2 s", no line end.
std::string ResultLine(const ModelResult& result, std::size_t done, std::size_t total);

// Thread: the loop's. Writes are bounded and errors of the stream are ignored: progress never stops a sweep.
class ProgressPrinter : public ProgressListener {
 public:
  // `out` (usually stderr) outlives it. `terminal`: draw a bar, `width` columns wide.
  ProgressPrinter(std::FILE* out, const Clock& clock, bool terminal, std::size_t width = 80);
  // A bar when `out` is a terminal, of the terminal's current width.
  static ProgressPrinter For(std::FILE* out, const Clock& clock);

  void OnListing(int resolved, int total) override;
  void OnPlan(const Plan& plan, std::size_t already_done) override;
  void OnWaiting(std::string_view why) override;
  void OnStarted(std::string_view model) override;
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override;
  void OnFinished(const Sweep& sweep) override;
  void OnFailed(const Error& error) override;  // only clears the bar: the caller has the error too
  void OnWarning(std::string_view text) override;

 private:
  void Draw(bool now);
  void Erase();
  void Line(const std::string& text);

  std::FILE* out_;
  const Clock& clock_;
  bool terminal_;
  bool follows_terminal_ = false;  // its width may change
  std::size_t width_;
  SteadyTime started_{}, drawn_at_{};
  int listed_ = -1;  // models of the last listing that was reported as complete
  Progress progress_;
  std::size_t drawn_columns_ = 0;  // of the bar that is there; 0: none is
};

}  // namespace breakwatch::report
