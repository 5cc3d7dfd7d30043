// A ProgressListener that remembers everything it was told.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/progress.h"

namespace breakwatch::fakes {

class RecordingProgress : public ProgressListener {
 public:
  void OnListing(int resolved, int total) override { listed = {resolved, total}; }
  void OnPlan(const Plan& plan, std::size_t already_done) override {
    plans.push_back(plan), done_before = already_done;
  }
  void OnStarted(std::string_view model) override { started.emplace_back(model); }
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override {
    results.push_back(result);
    counts = {done, total};
  }
  void OnFinished(const Sweep& sweep) override { finished.push_back(sweep); }

  std::pair<int, int> listed{0, 0};
  std::vector<Plan> plans;
  std::size_t done_before = 0;
  std::vector<std::string> started;
  std::vector<ModelResult> results;
  std::pair<std::size_t, std::size_t> counts{0, 0};  // done, total of the last result
  std::vector<Sweep> finished;
};

}  // namespace breakwatch::fakes
