// An aggregate to which tests add sweeps of a few models each, with a clock that the test moves.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "breakwatch/engine/aggregate.h"
#include "engine/support.h"

namespace breakwatch::engine {

inline const std::string kA(40, 'a'), kB(40, 'b');  // commits
using Ids = std::vector<std::string>;

class AggregateTest : public ::testing::Test {
 protected:
  struct Model {
    std::string id;
    CaptureResult capture = fakes::GoodCapture();
    std::string commit = kA;
    std::string capture_id{};  // empty: one of its own
    std::string mode = "eval";
  };
  struct How {
    bool ranked = true, track = false, complete = true;
    Toolchain toolchain = TestToolchain();
    bool primary = true;
    SweepTrigger trigger = SweepTrigger::kCli;
  };

  Plan PlanOf(const std::vector<Model>& models, const How& how) {
    Plan plan;
    plan.ranked = how.ranked;
    plan.track = how.track;
    plan.toolchain = how.toolchain;
    plan.primary = how.primary;
    for (const Model& model : models) {
      PlannedModel planned;
      planned.info = fakes::FakeModel(model.id, how.ranked ? static_cast<int>(plan.models.size()) + 1 : 0, "").info;
      planned.info.sha = model.commit;
      planned.mode = model.mode;
      plan.models.push_back(planned);
    }
    return plan;
  }

  void Begin(const std::vector<Model>& models, const How& how) {
    plan_ = PlanOf(models, how);
    sweep_ = {};
    sweep_.id = "sweep-" + std::to_string(++sweeps_);
    sweep_.ranked = how.ranked;
    sweep_.toolchain = how.toolchain;
    sweep_.trigger = how.trigger;
    sweep_.planned = static_cast<int>(models.size());
    sweep_.started_at = Time();
    (void)aggregate_.Begin(sweep_, plan_);
  }
  store::CurrentChange Apply(const Model& model) {
    ModelResult result;
    result.sweep_id = sweep_.id;
    for (const PlannedModel& planned : plan_.models) {
      if (planned.info.id == model.id) result.info = planned.info;
    }
    result.structure = "structure of " + model.id;
    result.capture = model.capture;
    result.capture.toolchain = plan_.toolchain;
    result.capture.mode = model.mode;
    const bool captured = model.capture.status != Status::kNotAttempted;
    result.capture_id = !captured ? "" : model.capture_id.empty() ? sweep_.id + model.id : model.capture_id;
    result.finished_at = Time();
    ++sweep_.statuses[std::string(StatusName(model.capture.status))];
    ++sweep_.modes[model.mode][std::string(StatusName(model.capture.status))];
    return aggregate_.Apply(result);
  }
  void Finish(const How& how) {
    sweep_.state = SweepState::kFinished;
    sweep_.complete = how.complete;
    sweep_.finished_at = Time();
    (void)aggregate_.Finish(sweep_, plan_);
  }
  void Run(const std::vector<Model>& models, const How& how) {
    Begin(models, how);
    for (const Model& model : models) (void)Apply(model);
    Finish(how);
  }
  void Run(const std::vector<Model>& models) { Run(models, How{}); }

  SystemTime Time() { return SystemTime{std::chrono::seconds(1'000'000 + ++seconds_)}; }
  Snapshot Shot() { return aggregate_.MakeSnapshot(SystemTime{std::chrono::seconds(9'000'000)}); }
  std::vector<std::string> Tracked() {
    std::vector<std::string> ids;
    for (const TrackedModel& model : Shot().models) ids.push_back(model.model);
    return ids;
  }
  // The published numbers, or null.
  const Numbers* Published(const std::string& model) {
    static Snapshot snapshot;
    snapshot = Shot();
    for (const TrackedModel& row : snapshot.models) {
      if (row.model == model) return snapshot.NumbersOf(row);
    }
    return nullptr;
  }
  const TrackedModel& Row(const std::string& model) { return *aggregate_.Find(model); }

  Aggregate aggregate_{{}, {}};
  Plan plan_;
  Sweep sweep_;
  int sweeps_ = 0, seconds_ = 0;
};

}  // namespace breakwatch::engine
