#include "store_fixture.h"

namespace breakwatch::store {
namespace {

TEST_P(StoreTest, WritesChangesOfCurrentWithTheirCause) {
  CurrentChange change;
  change.upserts = {SampleTracked("c/d"), SampleTracked("a/b")};
  change.meta = {{"published_toolchain", "one"}, {"filling_sweep", "s1"}};
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {"a/b"}), {}, change, {}));
  change = {};
  change.upserts = {SampleTracked("a/b")};
  change.upserts.Own(0).detail = "changed";
  change.meta = {{"published_toolchain", "two"}};
  ASSERT_OK(AppendOne(*store_, SampleResult("s1", "a/b"), {}, change));

  const auto current = store_->LoadCurrent();
  ASSERT_OK(current);
  ASSERT_EQ(current->models.size(), 2u);
  EXPECT_EQ(current->models[0], change.upserts[0]);
  EXPECT_EQ(current->models[1], SampleTracked("c/d"));
  EXPECT_EQ(current->meta,
            (std::map<std::string, std::string>{{"published_toolchain", "two"}, {"filling_sweep", "s1"}}));
}

TEST_P(StoreTest, TakesTheLastOfTwoChangesOfAModel) {
  CurrentChange change;
  change.upserts = {SampleTracked("a/b"), SampleTracked("a/b")};
  change.upserts.Own(1).rank = 7;
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {"a/b"}), {}, change, {}));
  EXPECT_EQ(store_->LoadCurrent()->models.at(0).rank, 7);
}

TEST_P(StoreTest, ReplacesCurrentWhole) {
  CurrentChange change;
  change.upserts = {SampleTracked("gone/model")};
  change.meta = {{"gone", "yes"}};
  ASSERT_OK(store_->BeginSweep(SampleSweep("s1"), SamplePlan("s1", {}), {}, change, {}));
  Current replacement;
  replacement.models = {SampleTracked("a/b")};
  replacement.meta = {{"kept", "yes"}};
  ASSERT_OK(store_->ReplaceCurrent(replacement, {}));
  const auto current = store_->LoadCurrent();
  ASSERT_OK(current);
  EXPECT_EQ(current->models, replacement.models);
  EXPECT_EQ(current->meta, replacement.meta);
}

TEST_P(StoreTest, RemembersWhenASweepLastFailed) {
  EXPECT_EQ(*store_->LastFailure(), SystemTime{});
  const SystemTime first = clock_.Now(), second = first + std::chrono::nanoseconds{3'000'000'001};
  ASSERT_OK(store_->NoteFailure(first));
  ASSERT_OK(store_->NoteFailure(second));
  EXPECT_EQ(*Open()->LastFailure(), second);
  EXPECT_EQ(*store_->SchemaVersion(), *Open()->SchemaVersion()) << "the other value of the table";
}

TEST_P(StoreTest, RemembersTheGroupsItOwnsOnEachGateway) {
  ASSERT_OK(store_->SetOwnedGroups("http://one", {"job/b", "job/a"}));
  ASSERT_OK(store_->SetOwnedGroups("http://two", {"job/c"}));
  EXPECT_EQ(*store_->OwnedGroups("http://one"), (std::vector<std::string>{"job/b", "job/a"}));
  ASSERT_OK(store_->SetOwnedGroups("http://one", {}));
  EXPECT_TRUE(store_->OwnedGroups("http://one")->empty());
  EXPECT_EQ(store_->OwnedGroups("http://two")->size(), 1u);
}

}  // namespace
}  // namespace breakwatch::store
