#include <gtest/gtest.h>

#include "breakwatch/engine/make_plan.h"
#include "engine/support.h"

namespace breakwatch::engine {
namespace {

const SystemTime kNow = SystemTime{std::chrono::hours{500'000}};
const std::string kOldCommit = "1a2b3c4" + std::string(33, '0');
const std::string kNewCommit = "5d6e7f8" + std::string(33, '0');

// A list of one or more models, and what is known about them.
class PlanTest : public ::testing::Test {
 protected:
  PlanTest() {
    options_.toolchain = TestToolchain();
    options_.verify_share = 0;
    Add("org/model", Config(1));
  }

  void Add(const std::string& id, const std::string& config) {
    list_.models.push_back(fakes::FakeModel(id, static_cast<int>(list_.models.size()) + 1, config));
    list_.models.back().info.sha = kNewCommit;
    list_.ranked = true;
  }
  std::string Structure(std::size_t i = 0) const {
    return *StructureDigest(list_.models[i].info, list_.models[i].config_json, options_);
  }
  store::CaptureHistory& History(std::size_t i = 0) { return known_.histories[Structure(i)]; }
  void KnowReusable(Status status, std::size_t i = 0) {
    History(i).reusable_capture_id = "capture-" + std::to_string(i);
    History(i).reusable_status = History(i).last_status = status;
  }
  void KnowFailures(Status status, int times, SystemTime last) {
    History().last_status = status;
    History().failures_in_a_row = times;
    History().last_failure_at = last;
  }
  void KnowRevision(const std::string& commit, const Toolchain& toolchain = TestToolchain()) {
    known_.revisions["org/model"] = {commit, "some structure", toolchain};
  }
  PlannedModel First() const { return Make().models.at(0); }
  Plan Make(const std::string& sweep_id = "sweep") const { return MakePlan(sweep_id, list_, known_, options_, kNow); }

  PlanOptions options_;
  RankedList list_;
  Known known_;
};

TEST_F(PlanTest, CapturesAModelItHasNeverSeen) {
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "new model");
  EXPECT_EQ(First().depth, Depth::kAuto);
  EXPECT_EQ(First().structure, Structure());
}

TEST_F(PlanTest, HasEveryModelOnceInEachRequestedMode) {
  Add("org/same", Config(1));
  options_.modes = {"eval", "train"};
  const Plan plan = Make();
  ASSERT_EQ(plan.models.size(), 4u);
  std::vector<std::string> entries;
  for (const PlannedModel& planned : plan.models) {
    entries.push_back(planned.info.id + " " + planned.mode + " " + std::string(ActionName(planned.action)));
  }
  EXPECT_EQ(entries, (std::vector<std::string>{"org/model eval capture", "org/model train capture",
                                               "org/same eval share", "org/same train share"}));
  EXPECT_NE(plan.models[0].structure, plan.models[1].structure);
  EXPECT_EQ(plan.models[1].structure, plan.models[3].structure);
}

TEST_F(PlanTest, ReusesAndQuarantinesEachModeByItself) {
  options_.modes = {"eval", "train", "dynamic"};
  KnowReusable(Status::kFullGraph);
  auto& train =
      known_.histories[*StructureDigest(list_.models[0].info, list_.models[0].config_json, options_, "train")];
  train.last_status = Status::kTimeout;
  train.failures_in_a_row = options_.quarantine_after;
  train.last_failure_at = kNow;
  known_.revisions["org/model"] = {kNewCommit, Structure(), TestToolchain()};
  const Plan plan = Make();
  EXPECT_EQ(plan.models[0].action, Action::kReuse);
  EXPECT_EQ(plan.models[1].status, Status::kQuarantined);
  EXPECT_EQ(plan.models[2].action, Action::kCapture);
  EXPECT_EQ(plan.models[2].reason, "new mode dynamic");
}

TEST_F(PlanTest, ACallVariantHasAStructureOfItsOwn) {
  KnowReusable(Status::kFullGraph);
  options_.modes = {"eval", "eval+minimal", "eval+all"};
  const Plan plan = Make();
  ASSERT_EQ(plan.models.size(), 3u);
  EXPECT_EQ(plan.models[0].action, Action::kReuse);
  EXPECT_EQ(plan.models[1].action, Action::kCapture) << "what the default call found is no answer for it";
  EXPECT_NE(plan.models[1].structure, plan.models[0].structure);
  EXPECT_NE(plan.models[2].structure, plan.models[1].structure);
}

TEST_F(PlanTest, OwnCodeHasNoCallVariants) {
  Add("python:nets:make", Config(2));
  list_.models.back().info.config_source = "python";
  options_.modes = {"eval", "eval+minimal"};
  const Plan plan = Make();
  EXPECT_EQ(plan.models[2].action, Action::kCapture);
  EXPECT_EQ(plan.models[3].status, Status::kSkippedUnsupportedLibrary);
  EXPECT_NE(plan.models[3].detail, "");
}

TEST_F(PlanTest, CarriesTheListsNatureAndTheOptions) {
  list_.source = "hub x";
  options_.track = true;
  options_.rebuild = Rebuild::kAlways;
  const Plan plan = Make("20260101T000000Z-abcdef");
  EXPECT_EQ(plan.sweep_id, "20260101T000000Z-abcdef");
  EXPECT_EQ(plan.source, "hub x");
  EXPECT_TRUE(plan.ranked);
  EXPECT_TRUE(plan.track);
  EXPECT_EQ(plan.rebuild, Rebuild::kAlways);
  EXPECT_EQ(plan.toolchain.torch, "2.15.0");
}

TEST_F(PlanTest, ReusesAnUnchangedModelsCapture) {
  KnowReusable(Status::kGraphBreaks);
  KnowRevision(kNewCommit);
  EXPECT_EQ(First().action, Action::kReuse);
  EXPECT_EQ(First().reason, "unchanged");
  EXPECT_EQ(First().capture_id, "capture-0");
}

TEST_F(PlanTest, ReusesAtANewCommitOfTheSameStructure) {
  KnowReusable(Status::kFullGraph);
  KnowRevision(kOldCommit);
  EXPECT_EQ(First().action, Action::kReuse);
  EXPECT_EQ(First().reason, "commit 1a2b3c4 -> 5d6e7f8, same structure");
}

TEST_F(PlanTest, ReusesAnotherRepositorysCaptureForANewModel) {
  KnowReusable(Status::kFullGraph);
  EXPECT_EQ(First().action, Action::kReuse);
  EXPECT_EQ(First().reason, "new model, structure captured before");
}

TEST_F(PlanTest, NamesWhatChangedInTheToolchain) {
  KnowRevision(kNewCommit, TestToolchain("2.13.0"));
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "torch 2.13.0 -> 2.15.0");
}

TEST_F(PlanTest, NamesTheWorkersVersions) {
  options_.toolchain.worker = "1.1.0";
  KnowRevision(kNewCommit);
  EXPECT_EQ(First().reason, "worker 1.0.0 -> 1.1.0");
}

TEST_F(PlanTest, NamesAllThatChangedTogether) {
  Toolchain old = TestToolchain("2.13.0");
  old.python = "3.10.1";
  KnowRevision(kOldCommit, old);
  EXPECT_EQ(First().reason, "commit 1a2b3c4 -> 5d6e7f8, torch 2.13.0 -> 2.15.0, python 3.10.1 -> 3.11.2");
}

TEST_F(PlanTest, ReportsThatOnlyTheConfigChanged) {
  KnowRevision(kNewCommit);
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "config changed");
}

TEST_F(PlanTest, RetriesAnEndThatMayBeAnotherNextTime) {
  KnowFailures(Status::kTimeout, 1, kNow - std::chrono::hours(1));
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "retry after timeout (1 of 3)");
}

TEST_F(PlanTest, RetriesALostWorkerWithoutCounting) {
  History().last_status = Status::kWorkerLost;
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "retry after worker_lost");
}

TEST_F(PlanTest, QuarantinesAfterTheThirdFailureInARow) {
  KnowFailures(Status::kCrashed, 3, kNow - std::chrono::hours(23));
  EXPECT_EQ(First().action, Action::kSkip);
  EXPECT_EQ(First().status, Status::kQuarantined);
  EXPECT_NE(First().detail.find("after 3 failures in a row (last: crashed)"), std::string::npos) << First().detail;
  EXPECT_EQ(First().detail.find("quarantined until "), 0u);
}

TEST_F(PlanTest, EndsQuarantineAfterADay) {
  KnowFailures(Status::kCrashed, 3, kNow - std::chrono::hours(24));
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "retry after quarantine, last status crashed");
}

TEST_F(PlanTest, PrefersAGoodCaptureToLaterFailures) {
  KnowReusable(Status::kFullGraph);
  KnowFailures(Status::kCrashed, 3, kNow);
  KnowRevision(kNewCommit);
  EXPECT_EQ(First().action, Action::kReuse);
}

TEST_F(PlanTest, CapturesEverythingUnderRebuildAlways) {
  options_.rebuild = Rebuild::kAlways;
  KnowReusable(Status::kFullGraph);
  KnowFailures(Status::kCrashed, 3, kNow);
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().reason, "--rebuild always");
}

TEST_F(PlanTest, CapturesNothingUnderRebuildNever) {
  options_.rebuild = Rebuild::kNever;
  EXPECT_EQ(First().action, Action::kSkip);
  EXPECT_EQ(First().status, Status::kNotAttempted);
  EXPECT_EQ(First().reason, "--rebuild never: not captured yet");
  EXPECT_FALSE(First().detail.empty());
  KnowReusable(Status::kFailedCreate);
  EXPECT_EQ(First().action, Action::kReuse);
}

TEST_F(PlanTest, LetsModelsOfOneStructureShareTheFirstOnesCapture) {
  Add("org/twin", Config(1));
  Add("org/other", Config(2));
  Add("org/triplet", Config(1));
  const Plan plan = Make();
  EXPECT_EQ(plan.models[0].action, Action::kCapture);
  EXPECT_EQ(plan.models[1].action, Action::kShare);
  EXPECT_EQ(plan.models[1].shared_from, "org/model");
  EXPECT_EQ(plan.models[1].reason, "same structure as org/model");
  EXPECT_EQ(plan.models[2].action, Action::kCapture);
  EXPECT_EQ(plan.models[3].shared_from, "org/model");
}

TEST_F(PlanTest, KeepsAnExcludedModelsStatusAndText) {
  list_.models.push_back(Excluded("org/gated", 2, Status::kSkippedGated, "asks for an agreement"));
  const PlannedModel planned = Make().models.at(1);
  EXPECT_EQ(planned.action, Action::kSkip);
  EXPECT_EQ(planned.status, Status::kSkippedGated);
  EXPECT_EQ(planned.detail, "asks for an agreement");
  EXPECT_TRUE(planned.structure.empty());
}

TEST_F(PlanTest, SkipsAConfigThatIsAListWithAReason) {
  Add("org/list", "[1]");
  const PlannedModel planned = Make().models.at(1);
  EXPECT_EQ(planned.action, Action::kSkip);
  EXPECT_EQ(planned.status, Status::kSkippedNoConfig);
  EXPECT_NE(planned.detail.find("is array, not an object"), std::string::npos) << planned.detail;
}

TEST_F(PlanTest, ListsAModelOnceHoweverOftenItIsNamed) {
  Add("org/model", Config(2));
  ASSERT_EQ(Make().models.size(), 1u);
  EXPECT_EQ(First().config_json, Config(1));
}

TEST_F(PlanTest, CapturesAPinnedClassAtFullDepth) {
  KnowReusable(Status::kFullGraph);  // of the reduced structure
  KnowRevision(kNewCommit);
  options_.pinned_architectures = {"FakeModel"};
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().depth, Depth::kFull);
  EXPECT_EQ(First().reason, "class pinned to full depth");
}

TEST_F(PlanTest, MeasuresAccordingToTheOptionsAndReusesWhatTheyGave) {
  options_.modes = {"profile"};
  options_.measure.threads = 2;
  options_.measure.dtype = "bfloat16";
  options_.repeat = 3;
  options_.verify_share = 1;
  options_.pinned_architectures = {"FakeModel"};
  EXPECT_EQ(First().action, Action::kCapture);
  EXPECT_EQ(First().measure_json, MeasureJson(options_.measure));
  EXPECT_EQ(First().dtype, "bfloat16");
  EXPECT_EQ(First().repeat, 1);
  EXPECT_EQ(First().depth, Depth::kAuto);
  known_.histories[First().structure] = {.reusable_capture_id = "c1", .reusable_status = Status::kGraphBreaks};
  EXPECT_EQ(First().action, Action::kReuse) << "a measurement is not verified at full depth";
  options_.machine = "another";
  EXPECT_EQ(First().action, Action::kCapture);
  options_.machine = "";
  options_.measure.threads = 4;
  EXPECT_EQ(First().action, Action::kCapture);
  KnowRevision(kNewCommit);
  EXPECT_EQ(First().reason, "no result yet on this machine with these options");
}

TEST_F(PlanTest, OtherModesAreNotMeasured) {
  options_.measure.dtype = "bfloat16";
  EXPECT_EQ(First().measure_json, "");
  EXPECT_EQ(First().dtype, "");
}

TEST_F(PlanTest, VerifiesOnlyStructuresThatHaveNumbers) {
  options_.verify_share = 1;
  KnowReusable(Status::kFailedEager);
  EXPECT_EQ(First().action, Action::kReuse);
  for (const Status status : {Status::kFullGraph, Status::kGraphBreaks}) {
    KnowReusable(status);
    EXPECT_EQ(First().action, Action::kCapture);
    EXPECT_EQ(First().depth, Depth::kVerify);
    EXPECT_EQ(First().reason, "selected for verification at full depth");
  }
}

TEST_F(PlanTest, VerifiesASmallShareThatChangesWithTheSweepAndRepeatsWithTheSeed) {
  for (int i = 1; i < 2000; ++i) Add("org/m" + std::to_string(i), Config(i + 1));
  for (std::size_t i = 0; i < 2000; ++i) KnowReusable(Status::kFullGraph, i);
  options_.verify_share = 0.02;
  const auto chosen = [&](const std::string& sweep_id) {
    std::set<std::string> models;
    for (const PlannedModel& planned : Make(sweep_id).models) {
      if (planned.depth == Depth::kVerify) models.insert(planned.info.id);
    }
    return models;
  };
  EXPECT_GT(chosen("one").size(), 15u);
  EXPECT_LT(chosen("one").size(), 75u);
  EXPECT_EQ(chosen("one"), chosen("one"));
  EXPECT_NE(chosen("one"), chosen("two"));
}

}  // namespace
}  // namespace breakwatch::engine
