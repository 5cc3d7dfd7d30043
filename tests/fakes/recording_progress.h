// A ProgressListener that stores every call.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "breakwatch/core/progress.h"

namespace breakwatch::fakes {

class RecordingProgress : public ProgressListener {
 public:
  void OnAccepted(std::string_view command_id, std::string_view sweep_id) override {
    accepted.emplace_back(command_id, sweep_id);
  }
  void OnRefused(std::string_view command_id, const Error& error) override {
    refused.emplace_back(command_id, error.code);
  }
  void OnListing(int resolved, int total) override { listed = {resolved, total}; }
  void OnPlan(const Plan& plan, std::size_t already_done) override {
    plans.push_back(plan), done_before = already_done;
  }
  void OnWaiting(std::string_view why) override { waiting.emplace_back(why); }
  void OnStarted(std::string_view model) override { started.emplace_back(model); }
  void OnResult(const ModelResult& result, std::size_t done, std::size_t total) override {
    results.push_back(result);
    counts = {done, total};
  }
  void OnFinished(const Sweep& sweep) override { finished.push_back(sweep); }
  void OnFailed(const Error& error) override { failed.push_back(error); }
  void OnServed(std::string_view command_id, const Error* error) override {
    served.emplace_back(command_id, error == nullptr ? std::string() : error->message);
    finished_when_served = finished.size();
  }
  void OnWarning(std::string_view text) override { warnings.emplace_back(text); }

  std::vector<std::pair<std::string, std::string>> accepted;  // command id, sweep id
  std::vector<std::pair<std::string, ErrorCode>> refused;     // command id, why
  std::pair<int, int> listed{0, 0};
  std::vector<Plan> plans;
  std::size_t done_before = 0;
  std::vector<std::string> waiting;
  std::vector<std::string> started;
  std::vector<ModelResult> results;
  std::pair<std::size_t, std::size_t> counts{0, 0};  // done, total of the last result
  std::vector<Sweep> finished;
  std::vector<Error> failed;
  std::vector<std::pair<std::string, std::string>> served;  // command id, its first error's message
  std::size_t finished_when_served = 0;
  std::vector<std::string> warnings;
};

}  // namespace breakwatch::fakes
