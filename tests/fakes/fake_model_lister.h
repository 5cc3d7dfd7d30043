// A lister that returns the lists of the test.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "breakwatch/core/model_lister.h"

namespace breakwatch::fakes {

// Returns its lists in order, the last of them for all further calls. Configure it while no listing runs.
class FakeModelLister : public ModelLister {
 public:
  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    std::unique_lock lock(mutex_);
    requests_.push_back(request);
    if (hang_) {  // until the stop request, like a Hub that never responds
      std::condition_variable_any asked_to_stop;
      asked_to_stop.wait(lock, stop, [] { return false; });
      return Error{ErrorCode::kInterrupted, "listing stopped"};
    }
    if (answers_.empty()) return Error{ErrorCode::kUnavailable, "the fake lister has no list"};
    Result<RankedList> answer = answers_[std::min(requests_.size(), answers_.size()) - 1];
    lock.unlock();
    if (answer.ok() && progress)
      progress(static_cast<int>(answer->models.size()), static_cast<int>(answer->models.size()));
    return answer;
  }

  void Answer(Result<RankedList> list) { answers_.push_back(std::move(list)); }
  // Of the next listing and all after it, whatever was to be answered.
  void AnswerFromNow(const Result<RankedList>& list) {
    answers_.resize(requests_.size(), list);
    answers_.push_back(list);
  }
  void HangUntilStopped() { hang_ = true; }
  std::vector<ListRequest> Requests() const {
    std::lock_guard lock(mutex_);
    return requests_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Result<RankedList>> answers_;
  std::vector<ListRequest> requests_;
  std::atomic<bool> hang_{false};
};

// An entry ready to capture. `config` is the text of its config.json.
inline RankedModel FakeModel(const std::string& id, int rank, const std::string& config, char commit_digit = 'a',
                             Family family = Family::kNlp) {
  RankedModel model;
  model.info.id = id;
  model.info.sha = std::string(40, commit_digit);
  model.info.family = family;
  model.info.model_type = "fake";
  model.info.architectures = {"FakeModel"};
  model.info.config_source = "hub";
  model.info.downloads = 1000 - rank;
  model.info.rank = rank;
  model.config_json = config;
  return model;
}

}  // namespace breakwatch::fakes
