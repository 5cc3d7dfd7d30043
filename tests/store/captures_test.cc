#include "breakwatch/core/json.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

// One capture per sweep of the same structure, an hour apart, each with the given status.
class Attempts {
 public:
  explicit Attempts(SweepStore& store) : store_(store) {}
  void Add(Status status, const std::string& worker = "worker-1") {
    const std::string sweep_id = "s" + std::to_string(++count_);
    ASSERT_OK(store_.BeginSweep(SampleSweep(sweep_id), SamplePlan(sweep_id, {"a/b"}), {}, {}, {}));
    ModelResult result = SampleResult(sweep_id, "a/b");
    result.capture.status = status;
    result.capture.toolchain.worker = worker;
    result.finished_at = SystemTime{std::chrono::hours{count_}};
    ASSERT_OK(AppendOne(store_, result));
  }
  CaptureHistory History() {
    return store_.Histories(std::vector<std::string>{"structure-a/b"}, "eval")->at("structure-a/b");
  }

 private:
  SweepStore& store_;
  int count_ = 0;
};

TEST_P(StoreTest, KnowsTheNewestReusableCapture) {
  Attempts attempts(*store_);
  attempts.Add(Status::kGraphBreaks);
  attempts.Add(Status::kFullGraph);
  attempts.Add(Status::kTimeout, "worker-2");
  const auto history = attempts.History();
  EXPECT_EQ(history.reusable_capture_id, "capture-s2-a/b");
  EXPECT_EQ(history.reusable_status, Status::kFullGraph);
  EXPECT_EQ(history.last_status, Status::kTimeout);
  EXPECT_EQ(history.last_worker, "worker-2");
}

TEST_P(StoreTest, CountsTheNewestUnbrokenFailures) {
  Attempts attempts(*store_);
  attempts.Add(Status::kCrashed);
  attempts.Add(Status::kFailedEager);
  attempts.Add(Status::kTimeout);
  attempts.Add(Status::kOutOfMemory);
  const auto history = attempts.History();
  EXPECT_EQ(history.failures_in_a_row, 2);
  EXPECT_EQ(history.last_failure_at, SystemTime{std::chrono::hours{4}});
  attempts.Add(Status::kFullGraph);
  EXPECT_EQ(attempts.History().failures_in_a_row, 0);
}

TEST_P(StoreTest, KeepsHistoriesOfModesAndStructuresApart) {
  Attempts attempts(*store_);
  attempts.Add(Status::kFullGraph);
  EXPECT_TRUE(store_->Histories(std::vector<std::string>{"structure-a/b"}, "train")->empty());
  EXPECT_TRUE(store_->Histories(std::vector<std::string>{"another"}, "eval")->empty());
  EXPECT_TRUE(store_->Histories({}, "eval")->empty());
}

TEST_P(StoreTest, AnswersForThousandsOfStructuresAtOnce) {
  Attempts attempts(*store_);
  attempts.Add(Status::kFullGraph);
  std::vector<std::string> structures(2'500, "other");
  structures.push_back("structure-a/b");
  EXPECT_EQ(store_->Histories(structures, "eval")->size(), 1u);
}

TEST_P(StoreTest, LoadsACaptureWhole) {
  Begin("s1", {"a/b"});
  const ModelResult result = SampleResult("s1", "a/b");
  Append(result);
  const auto capture = store_->LoadCapture(result.capture_id);
  ASSERT_OK(capture);
  EXPECT_EQ(ToJson(*capture), ToJson(result.capture));
  EXPECT_EQ(store_->LoadCapture("none").error().code, ErrorCode::kNotFound);
}

TEST_P(StoreTest, KnowsTheNewestRevisionOfAModelEvenAfterARevert) {
  const auto captured = [&](const std::string& sweep_id, char commit, const std::string& torch) {
    Begin(sweep_id, {"a/b"});
    ModelResult result = SampleResult(sweep_id, "a/b");
    result.info.sha = std::string(40, commit);
    result.capture.toolchain.torch = torch;
    Append(result);
  };
  captured("s1", 'a', "2.13.0");
  captured("s2", 'b', "2.13.0");
  const std::vector<std::string> models{"a/b", "unknown/model"};
  EXPECT_EQ(store_->LatestRevisions(models)->at("a/b").commit, std::string(40, 'b'));
  captured("s3", 'a', "2.13.0");
  captured("s4", 'a', "2.15.0");
  const auto revisions = store_->LatestRevisions(models);
  ASSERT_OK(revisions);
  ASSERT_EQ(revisions->size(), 1u);
  EXPECT_EQ(revisions->at("a/b").commit, std::string(40, 'a'));
  EXPECT_EQ(revisions->at("a/b").toolchain.torch, "2.15.0");
  EXPECT_EQ(revisions->at("a/b").structure, "structure-a/b");
}

TEST_P(StoreTest, ForgetsAModelThatWasOnlyPlanned) {
  Begin("s1", {"a/b"});
  ModelResult result = SampleResult("s1", "a/b");
  result.capture_id.clear();
  result.capture.status = Status::kNotAttempted;
  Append(result);
  EXPECT_TRUE(store_->LatestRevisions(std::vector<std::string>{"a/b"})->empty());
}

}  // namespace
}  // namespace breakwatch::store
