// A daemon that starts on a store of an older version: it serves at once and folds the history beside that.
#include <future>

#include "engine/loop_fixture.h"

namespace breakwatch::engine {
namespace {

using fakes::FakeModel;

class RefoldTest : public LoopFixture {
 protected:
  RefoldTest() {
    lister_.Answer(ListOf({FakeModel("a", 1, Config(1)), FakeModel("b", 2, Config(2))}));
    EXPECT_TRUE(RunSweep().ok());
    published_.clear();
    store::Current older = *store_->LoadCurrent();
    older.meta["fold_version"] = "1";
    older.models.Own(1).downloads = 1;  // not what the history says
    EXPECT_TRUE(store_->ReplaceCurrent(older, {}).ok());
    open_current_ = [this]() -> Result<std::unique_ptr<store::CurrentState>> {
      opens_.get_future().wait();
      return std::unique_ptr<store::CurrentState>(OpenStoreAt(folder_.Url(), clock_));
    };
  }
  // Serves until the sweep of a request has ended. `waits`: called before each wait.
  Result<void> Serve(Loop& loop, std::function<void()> waits) {
    runner_.on_wait = [this, waits = std::move(waits)] {
      waits();
      if (progress_.finished.size() == 2 && !std::exchange(asked_, true)) Stop();
    };
    return loop.Serve();
  }
  std::promise<void> opens_;  // the thread's session
};

TEST_F(RefoldTest, ShowsTheStoredStateAtOnceAndSweepsWhenTheHistoryIsFolded) {
  Loop loop = MakeLoop();
  ASSERT_TRUE(loop.Start().ok());
  ASSERT_EQ(shown_.size(), 1u);
  ASSERT_EQ(shown_[0]->models.size(), 2u);
  EXPECT_EQ(shown_[0]->models[1].downloads, 1);
  EXPECT_TRUE(published_.empty()) << "no target gets it";
  Ask("one");
  const std::size_t started = runner_.started.size();
  bool waited = false;
  ASSERT_TRUE(Serve(loop, [&] {
                if (std::exchange(waited, true)) return;
                EXPECT_EQ(runner_.started.size(), started) << "the sweep waits";
                opens_.set_value();
              }).ok());
  ASSERT_FALSE(published_.empty());
  EXPECT_NE(published_[0].first->models[1].downloads, 1);
  EXPECT_EQ(progress_.finished.size(), 2u);
  ExpectFoldEqualsHistory();
}

TEST_F(RefoldTest, IsReportedIfItFails) {
  open_current_ = []() -> Result<std::unique_ptr<store::CurrentState>> {
    return Error{ErrorCode::kStore, "the disk is gone"};
  };
  Loop loop = MakeLoop();
  ASSERT_TRUE(loop.Start().ok());
  const auto served = Serve(loop, [] {});
  ASSERT_FALSE(served.ok());
  EXPECT_EQ(served.error().message, "the disk is gone");
}

// Gives a history without an end.
class EndlessHistory : public store::CurrentState {
 public:
  Result<store::Current> LoadCurrent() override { return store::Current(); }
  Result<void> ReplaceCurrent(const store::Current&, const TrendChange&) override { return {}; }
  Result<void> ReplayHistory(const std::function<Result<void>(const store::HistoryStep&)>& step) override {
    for (;;) {
      if (auto taken = step({}); !taken) return taken;
    }
  }
};

TEST_F(RefoldTest, DoesNotDelayTheEndOfTheDaemon) {
  open_current_ = []() -> Result<std::unique_ptr<store::CurrentState>> {
    return std::unique_ptr<store::CurrentState>(std::make_unique<EndlessHistory>());
  };
  Loop loop = MakeLoop();
  ASSERT_TRUE(loop.Start().ok());
  runner_.on_wait = [this] { Stop(); };
  EXPECT_TRUE(loop.Serve().ok());
}

TEST_F(RefoldTest, IsNotNeededForAStateOfThisVersion) {
  ASSERT_TRUE(RebuildCurrent(*store_, options_.aggregate).ok());
  Loop loop = MakeLoop();
  ASSERT_TRUE(loop.Start().ok());
  EXPECT_TRUE(shown_.empty());
  EXPECT_EQ(published_.size(), 1u);
}

}  // namespace
}  // namespace breakwatch::engine
