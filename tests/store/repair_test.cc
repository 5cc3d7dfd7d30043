#include "breakwatch/store/repair.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "salvage.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

constexpr std::size_t kPageBytes = 4096;

std::string Model(int number) { return "org/model-" + std::to_string(number); }

// A database of two sweeps, large enough for tables of several pages, and all of it in the one file.
class RepairTest : public ::testing::Test {
 protected:
  RepairTest() {
    auto store = Store::Open({url_}, clock_);
    if (!store) throw std::runtime_error(store.error().message);
    for (const std::string sweep_id : {"s1", "s2"}) {
      std::vector<std::string> models;
      for (int i = 0; i < kModels; ++i) models.push_back(Model(i));
      (void)(*store)->BeginSweep(SampleSweep(sweep_id), SamplePlan(sweep_id, models), {}, {}, {});
      for (const std::string& model : models) {
        const std::vector<Event> events(3, SampleEvent("graph_break", model));
        (void)AppendOne(**store, SampleResult(sweep_id, model), events);
      }
      Sweep sweep = SampleSweep(sweep_id);
      sweep.state = SweepState::kFinished;
      (void)(*store)->FinishSweep(sweep, {}, {});
    }
    (void)(*store)->SetCursor("loki", 2 * 3 * kModels);
    store->reset();
    whole_ = Read(path_);
  }
  static std::string Read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Overwrite(std::size_t page, char byte) {
    std::string damaged = whole_;
    std::fill_n(damaged.begin() + static_cast<std::ptrdiff_t>(page * kPageBytes), kPageBytes, byte);
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << damaged;
  }
  // What is left of the results, after a repair that must leave a store without damage.
  std::size_t RepairedResults() {
    auto repair = Repair::Begin(url_, clock_);
    if (!repair) return ADD_FAILURE() << repair.error().message, 0;
    if (auto copied = (*repair)->Copy(); !copied) return unreadable_ = copied.error().message, 0;
    const auto aside = (*repair)->PutInPlace();
    if (!aside) return ADD_FAILURE() << aside.error().message, 0;
    EXPECT_TRUE(std::filesystem::exists(*aside));
    std::filesystem::remove(*aside);
    lost_path_ = (*repair)->LostPath();
    auto store = Store::Open({url_}, clock_);
    if (!store) return ADD_FAILURE() << store.error().message, 0;
    EXPECT_OK((*store)->Check());
    lost_ = (*repair)->lost();
    std::size_t results = 0;
    for (const char* sweep : {"s1", "s2"}) {
      if (const auto found = (*store)->Results(sweep)) results += found->size();
    }
    // The repaired store accepts events, and their ids are not reused.
    EXPECT_OK((*store)->BeginSweep(SampleSweep("s3"), SamplePlan("s3", {"a/b"}), {}, {}, {}));
    EXPECT_OK((*store)->AppendEvents(std::vector<Event>{SampleEvent("next")}));
    EXPECT_GT(*(*store)->NewestEventId(), 2 * 3 * kModels);
    return results;
  }

  static constexpr int kModels = 30;
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "breakwatch.db";
  const std::string url_ = "sqlite:" + path_.string();
  fakes::FakeClock clock_;
  // Past the store.
  void Execute(const std::string& statement) {
    Sqlite sql;
    ASSERT_OK(sql.Open(path_));
    ASSERT_TRUE(sql.Exec(statement)) << sql.Cause();
    ASSERT_TRUE(sql.Exec("PRAGMA wal_checkpoint(TRUNCATE)")) << sql.Cause();
    whole_ = Read(path_);
  }
  // The leaves of a table; counted from 0, in the order of rows.
  std::vector<std::size_t> PagesOf(const std::string& table) {
    Sqlite sql;
    EXPECT_OK(sql.Open(path_));
    std::vector<std::size_t> pages;
    sql.Numbers("SELECT pageno - 1, 0 FROM dbstat WHERE name = '" + table + "' AND pagetype = 'leaf' ORDER BY path",
                [&](std::int64_t page, std::int64_t) { pages.push_back(static_cast<std::size_t>(page)); });
    return pages;
  }
  bool IsLost(const std::string& row) const {
    return std::any_of(lost_.begin(), lost_.end(), [&](const Damage& damage) { return damage.row == row; });
  }

  std::string whole_, unreadable_, lost_path_;
  std::vector<Damage> lost_;
};

TEST_F(RepairTest, CopiesAWholeDatabaseWhole) {
  EXPECT_EQ(RepairedResults(), 2u * kModels);
  EXPECT_TRUE(lost_.empty());
}

TEST_F(RepairTest, KeepsWhatIsWholeWhicheverPageIsLost) {
  const std::size_t pages = whole_.size() / kPageBytes;
  ASSERT_GT(pages, 40u);
  std::size_t all_kept = 0, unreadable = 0;
  for (std::size_t page = 0; page < pages; page += 7) {
    Overwrite(page, static_cast<char>(page % 2 == 0 ? 0 : 0xa5));
    unreadable_.clear();
    const std::size_t kept = RepairedResults();
    all_kept += kept;
    unreadable += unreadable_.empty() ? 0 : 1;
    if (unreadable_.empty() && kept < 2 * kModels) {
      EXPECT_FALSE(lost_.empty()) << "page " << page;
    }
  }
  EXPECT_LE(unreadable, 2u) << "only the header and the schema leave nothing to go by";
  EXPECT_GT(all_kept, pages / 7 * kModels) << "on average most of it is kept";
}

TEST_F(RepairTest, CorrectsTimesThatAreNotInTheOrderOfEvents) {
  Execute("UPDATE events SET ts_ns = ts_ns + 4000000000000000000 WHERE id IN (1, 20)");
  Execute("UPDATE events SET ts_ns = 5 WHERE id IN (40, 41)");
  EXPECT_EQ(RepairedResults(), 2u * kModels);
  EXPECT_EQ(unreadable_, "");
  EXPECT_EQ(lost_.size(), 4u);
  for (const char* row : {"id 1", "id 20", "id 40", "id 41"}) EXPECT_TRUE(IsLost(row)) << row;
}

TEST_F(RepairTest, DropsAnEventWhoseIdIsFarFromAllOthers) {
  Execute("UPDATE events SET id = id + 1099511627776 WHERE id = 100");
  EXPECT_EQ(RepairedResults(), 2u * kModels);
  EXPECT_EQ(lost_.size(), 1u);
  EXPECT_TRUE(IsLost("id 1099511627876"));
  EXPECT_NE(Read(lost_path_).find("graph_break"), std::string::npos) << "with its line";
}

TEST_F(RepairTest, EndsWhereAPageIsLostThatADamagedIdLeadsTo) {
  Execute("UPDATE events SET id = id + 1099511627776 WHERE id > 140");
  // The page on which both kinds of ids are.
  const std::vector<std::size_t> pages = PagesOf("events");
  const auto page = std::find_if(pages.begin(), pages.end(), [&](std::size_t at) {
    return whole_.substr(at * kPageBytes, kPageBytes).find("\"event_id\":141,") != std::string::npos;
  });
  ASSERT_NE(page, pages.end());
  Overwrite(*page, '\xa5');
  EXPECT_EQ(RepairedResults(), 2u * kModels);
  EXPECT_EQ(unreadable_, "");
}

TEST_F(RepairTest, DropsWhatIsQueuedWithoutItsDeadLetter) {
  Execute("INSERT INTO requeued (exporter, event_id) VALUES ('loki', 7)");
  EXPECT_EQ(RepairedResults(), 2u * kModels);
  Sqlite sql;
  ASSERT_OK(sql.Open(path_));
  EXPECT_EQ(sql.Text("SELECT COUNT(*) FROM requeued WHERE exporter = ?", "loki"), "0");
}

TEST_F(RepairTest, KeepsOwnerAndRightsAndAListOfWhatIsLostPerRepair) {
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  }
  struct stat before {
  }, after{};
  ASSERT_EQ(::stat(path_.c_str(), &before), 0);
  EXPECT_EQ(RepairedResults(), 2u * kModels);
  const std::string first = lost_path_;
  for (const std::string& path : {path_.string(), first}) {
    ASSERT_EQ(::stat(path.c_str(), &after), 0) << path;
    EXPECT_EQ(after.st_mode, before.st_mode) << path;
    EXPECT_EQ(after.st_uid, before.st_uid) << path;
    EXPECT_EQ(after.st_gid, before.st_gid) << path;
  }
  clock_.Advance(std::chrono::seconds{1});
  auto again = Repair::Begin(url_, clock_);
  ASSERT_OK(again);
  EXPECT_NE((*again)->LostPath(), first);
}

TEST_F(RepairTest, ReportsThatNothingCanBeReadFromAFileThatIsNotADatabase) {
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << std::string(10 * kPageBytes, 'x');
  EXPECT_EQ(RepairedResults(), 0u);
  EXPECT_NE(unreadable_.find("restore a backup"), std::string::npos) << unreadable_;
  EXPECT_EQ(std::filesystem::file_size(path_), 10 * kPageBytes) << "it stays where it is";
}

TEST_F(RepairTest, RefusesADatabaseThatHasAWriter) {
  auto store = Store::Open({url_}, clock_);
  ASSERT_OK(store);
  ASSERT_OK((*store)->LockAsWriter());
  EXPECT_FALSE(Repair::Begin(url_, clock_).ok());
}

// A page in the middle of a table cannot be read: only its rows are missing, and nothing fails.
class DamagedPageTest : public RepairTest {
 protected:
  DamagedPageTest() {
    auto store = *Store::Open({url_}, clock_);
    Current current;
    for (int i = 0; i < kModels; ++i) current.models.push_back(SampleTracked(Model(i)));
    (void)store->ReplaceCurrent(current, {});
    for (const StoredEvent& event : *store->EventsAfter(0, 60, 1 << 20)) (void)store->BuryEvent("loki", event, "400");
    (void)store->QueueDeadLetters({});
    store.reset();
    whole_ = Read(path_);
  }
  void LosePageOf(const std::string& table) {
    const std::vector<std::size_t> pages = PagesOf(table);
    ASSERT_FALSE(pages.empty()) << table;
    Overwrite(pages[pages.size() / 2], '\xa5');
    StoreOptions options{url_};
    options.on_damage = [this](const Damage& damage) { reported_.push_back(Describe(damage)); };
    auto store = Store::Open(options, clock_);
    ASSERT_OK(store);
    store_ = *std::move(store);
  }
  // Most, and not all.
  static void ExpectMost(std::size_t found, std::size_t all) {
    EXPECT_LT(found, all);
    EXPECT_GE(found, all / 2);
  }
  std::size_t Replayed() {
    std::size_t results = 0;
    EXPECT_OK(store_->ReplayHistory([&](const HistoryStep& step) -> Result<void> {
      results += step.result ? 1 : 0;
      return {};
    }));
    return results;
  }

  std::unique_ptr<Store> store_;
  std::vector<std::string> reported_;
};

TEST_F(DamagedPageTest, ACaptureOnItCountsAsNone) {
  LosePageOf("captures");
  std::size_t loaded = 0;
  std::vector<std::string> structures;
  for (int i = 0; i < kModels; ++i) {
    structures.push_back("structure-" + Model(i));
    for (const std::string sweep : {"s1", "s2"}) {
      const auto capture = store_->LoadCapture("capture-" + sweep + "-" + Model(i));
      if (capture)
        ++loaded;
      else
        EXPECT_EQ(capture.error().code, ErrorCode::kNotFound) << capture.error().message;
    }
  }
  ExpectMost(loaded, 2 * kModels);
  EXPECT_FALSE(reported_.empty());
  const auto histories = store_->Histories(structures, "eval");
  ASSERT_OK(histories);
  EXPECT_GE(histories->size(), static_cast<std::size_t>(kModels) - 3);
  ExpectMost(Replayed(), 2 * kModels);
  EXPECT_OK(store_->NewestResults({}));
}

TEST_F(DamagedPageTest, APlanLosesTheModelsOnIt) {
  LosePageOf("plans");
  std::size_t planned = 0;
  for (const char* sweep : {"s1", "s2"}) {
    const auto plan = store_->LoadPlan(sweep);
    ASSERT_OK(plan);
    planned += plan->models.size();
  }
  ExpectMost(planned, 2 * kModels);
  EXPECT_EQ(Replayed(), 2u * kModels);
}

TEST_F(DamagedPageTest, ResultsOnItAreLeftOutOfEveryAnswer) {
  LosePageOf("results");
  ExpectMost(store_->Results("s1")->size() + store_->Results("s2")->size(), 2 * kModels);
  const auto newest = store_->NewestResults({});
  ASSERT_OK(newest);
  EXPECT_EQ(newest->size(), static_cast<std::size_t>(kModels)) << "of each the newest that is left";
  EXPECT_TRUE(std::is_sorted(newest->begin(), newest->end(),
                             [](const auto& a, const auto& b) { return a.info.id < b.info.id; }));
  for (int i = 0; i < kModels; ++i) {
    const auto of_model = store_->NewestResults({.model = Model(i)});
    ASSERT_OK(of_model);
    EXPECT_EQ(of_model->size(), 1u) << Model(i);
  }
  ExpectMost(Replayed(), 2 * kModels);
}

TEST_F(DamagedPageTest, HistoryContinuesAfterIt) {
  Execute("UPDATE steps SET document = hex(zeroblob(200)) WHERE kind = 'result'");  // enough for several pages
  LosePageOf("steps");
  const std::size_t replayed = Replayed();
  EXPECT_GT(replayed, 0u);
  EXPECT_LT(replayed, 2u * kModels);
  EXPECT_FALSE(reported_.empty());
}

TEST_F(DamagedPageTest, RevisionsOnItAreNotKnown) {
  LosePageOf("revisions");
  std::vector<std::string> models;
  for (int i = 0; i < kModels; ++i) models.push_back(Model(i));
  const auto revisions = store_->LatestRevisions(models);
  ASSERT_OK(revisions);
  ExpectMost(revisions->size(), kModels);
}

TEST_F(DamagedPageTest, SweepsOnItAreLeftOut) {
  LosePageOf("sweeps");
  EXPECT_OK(store_->Sweeps(10));
  EXPECT_OK(store_->Unfinished());
  const auto latest = store_->FindSweep("latest");
  EXPECT_TRUE(latest.ok() || latest.error().code == ErrorCode::kNotFound) << latest.error().message;
}

TEST_F(DamagedPageTest, TheFoldIsMadeAgainAndCanBeStored) {
  LosePageOf("current");
  const auto current = store_->LoadCurrent();
  ASSERT_OK(current);
  EXPECT_TRUE(current->damaged);
  Current folded;
  folded.models = {SampleTracked("org/a"), SampleTracked("org/b")};
  folded.meta["fold"] = "1";
  ASSERT_OK(store_->ReplaceCurrent(folded, {}));
  const auto stored = store_->LoadCurrent();
  ASSERT_OK(stored);
  EXPECT_FALSE(stored->damaged);
  EXPECT_EQ(stored->models, folded.models);
  EXPECT_EQ(stored->meta, folded.meta);
}

TEST_F(DamagedPageTest, DeadLettersOnItAreLeftOut) {
  LosePageOf("dead_letters");
  const auto queued = store_->QueuedLetters("loki", 100, 1 << 20);
  ASSERT_OK(queued);
  ExpectMost(queued->size(), 60);
  ExpectMost(store_->DeadLetters({}, 100)->size(), 60);
  EXPECT_OK(store_->CountDeadLetters("loki"));
  EXPECT_OK(store_->DeliveryStates());
  EXPECT_FALSE(reported_.empty());
}

TEST_F(DamagedPageTest, AnEventOnItIsDatedByTheOneBefore) {
  LosePageOf("events");
  const auto is_lost = [](const StoredEvent& event) { return event.line.find("event_lost") != std::string::npos; };
  const auto all = store_->EventsAfter(0, 200, 1 << 20);
  ASSERT_OK(all);
  const auto lost = std::find_if(all->begin(), all->end(), is_lost);
  ASSERT_TRUE(lost != all->begin() && lost != all->end());
  // It is the first that is waited for.
  const auto rest = store_->EventsAfter(lost->id - 1, 200, 1 << 20);
  ASSERT_OK(rest);
  ASSERT_TRUE(is_lost(rest->front()));
  EXPECT_EQ(rest->front().ts_ns, std::prev(lost)->ts_ns + 1);
  const auto whole = std::find_if_not(rest->begin(), rest->end(), is_lost);
  ASSERT_NE(whole, rest->end());
  EXPECT_LT(rest->front().ts_ns, whole->ts_ns);
}

TEST_F(DamagedPageTest, ALineThatIsDamagedBesideItIsReplacedToo) {
  Execute("UPDATE events SET line = 'x' WHERE id = 2");
  LosePageOf("events");
  const auto events = store_->EventsAfter(0, 200, 1 << 20);
  ASSERT_OK(events);
  EXPECT_NE((*events)[1].line.find("event_lost"), std::string::npos) << (*events)[1].line;
}

TEST_F(RepairTest, DoesNotReportEveryErrorAsDamage) {
  auto store = Store::Open({url_}, clock_);
  ASSERT_OK(store);
  std::filesystem::rename(path_, path_.string() + ".elsewhere");
  const auto found = (*store)->FindDamage();
  ASSERT_FALSE(found.ok());
  EXPECT_NE(found.error().message.find("it is gone"), std::string::npos) << found.error().message;
}

TEST_F(RepairTest, ReportsWhatToDoOnPostgresql) {
  const auto refused = Repair::Begin("postgresql://nobody@localhost/none", clock_);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kStore);
  EXPECT_NE(refused.error().message.find("pg_restore"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::store
