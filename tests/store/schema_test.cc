#include "schema.h"

#include "dialect.h"
#include "store_fixture.h"

namespace breakwatch::store {
namespace {

// Direct access to the same database.
void ExecuteOn(const std::string& url, const std::string& statement) {
  auto dialect = MakeDialect(url, std::chrono::seconds{10});
  ASSERT_OK(dialect);
  soci::session sql;
  (*dialect)->Connect(sql, /*read_only=*/false);
  sql << statement;
}

// Changes the database to version 2: sweeps without a sequence, nothing paused or queued again, no trends, artifacts or
// runs.
void MakeOlder(const std::string& url) {
  for (const char* statement :
       {"DROP VIEW all_plans", "DROP VIEW all_results", "DROP TABLE plan_runs", "DROP TABLE result_runs",
        "DROP TABLE event_runs", "DROP INDEX results_by_seq", "DROP TABLE artifact_stages", "DROP TABLE artifacts",
        "DROP TABLE trends", "DROP TABLE requeued", "DROP TABLE paused", "DROP INDEX sweeps_by_seq",
        "ALTER TABLE sweeps DROP COLUMN seq", "ALTER TABLE sweeps DROP COLUMN finished_seq",
        "CREATE INDEX sweeps_by_start ON sweeps (started_ns, id)",
        "UPDATE meta SET value = '2' WHERE key = 'schema_version'"}) {
    ExecuteOn(url, statement);
  }
}

TEST_P(StoreTest, ReportsItsSchemaVersion) { EXPECT_EQ(*store_->SchemaVersion(), NewestSchemaVersion()); }

TEST_P(StoreTest, RefusesADatabaseOfANewerVersion) {
  store_.reset();
  ExecuteOn(url_, "UPDATE meta SET value = '999' WHERE key = 'schema_version'");
  for (const bool read_only : {false, true}) {
    const auto opened = Store::Open({url_, read_only}, clock_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kStore);
    EXPECT_NE(opened.error().message.find("version 999, newer"), std::string::npos) << opened.error().message;
  }
}

TEST_P(StoreTest, ReadsADatabaseOfAnOlderVersionAsItIsAndBringsItUpToDateWhenItWrites) {
  Begin("s1", {"a/b"});
  store_.reset();
  MakeOlder(url_);
  ExecuteOn(url_, "DROP TABLE costs");  // what version 2 added
  ExecuteOn(url_, "UPDATE meta SET value = '1' WHERE key = 'schema_version'");
  store_ = Open(/*read_only=*/true);
  EXPECT_EQ(*store_->SchemaVersion(), 1);
  EXPECT_EQ(store_->Sweeps(10)->size(), 1u);
  EXPECT_EQ(store_->FindSweep("s1")->id, "s1");
  EXPECT_OK(store_->Results("s1"));
  EXPECT_OK(store_->LoadPlan("s1"));
  EXPECT_OK(store_->LoadCurrent());
  EXPECT_OK(store_->DeadLetters({}, 10));
  EXPECT_OK(store_->DeliveryStates());
  EXPECT_TRUE(store_->ReadTrends({})->empty());
  EXPECT_TRUE(store_->Artifacts("", "", 10)->empty());
  EXPECT_EQ(store_->FindArtifact("abcdef").error().code, ErrorCode::kNotFound);
  store_.reset();
  store_ = Open();
  EXPECT_EQ(*store_->SchemaVersion(), NewestSchemaVersion());
  EXPECT_EQ(store_->FindSweep("s1")->id, "s1");
}

TEST_P(StoreTest, OrdersSweepsOfAnOlderVersionByHistory) {
  Sweep ahead = SampleSweep("s1");
  ahead.started_at += std::chrono::hours{24 * 365};
  ahead.planned = 1;
  ahead.statuses = {{"full_graph", 1}};
  ASSERT_OK(store_->BeginSweep(ahead, SamplePlan("s1", {"a/b"}), {}, {}, {}));
  Begin("s2", {"a/b"});
  ahead.state = SweepState::kFinished;
  Finish("s2");
  ASSERT_OK(store_->FinishSweep(ahead, {}, {}));
  Begin("s3", {"a/b"});
  store_.reset();
  MakeOlder(url_);
  EXPECT_EQ(Open(/*read_only=*/true)->Sweeps(10)->front().id, "s1") << "by the clock, as it always was";
  store_ = Open();
  std::vector<std::string> ids;
  const auto sweeps = store_->Sweeps(10);
  for (const Sweep& sweep : *sweeps) ids.push_back(sweep.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"s3", "s2", "s1"}));
  EXPECT_EQ(store_->FindSweep("latest")->id, "s1");
  Finish("s3");
  EXPECT_OK(store_->Check());
}

TEST_P(StoreTest, RefusesADatabaseWithoutAReadableVersion) {
  store_.reset();
  ExecuteOn(url_, "UPDATE meta SET value = 'one' WHERE key = 'schema_version'");
  const auto opened = Store::Open({url_, false}, clock_);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().code, ErrorCode::kStore);
}

TEST_P(StoreTest, ReadsAnEmptyDatabaseAsNotFoundAndDoesNotMigrateIt) {
  url_ = GetParam()->NewDatabase();
  for (int i = 0; i < 2; ++i) {
    const auto opened = Store::Open({url_, /*read_only=*/true}, clock_);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.error().code, ErrorCode::kNotFound) << opened.error().message;
  }
}

TEST_P(StoreTest, RefusesToWriteWhenOpenedForReading) {
  const auto reader = Open(/*read_only=*/true);
  const auto written = reader->SetCursor("loki", 1);
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code, ErrorCode::kStore);
  EXPECT_EQ(*reader->Cursor("loki"), 0);
}

TEST_P(StoreTest, OpensAgainWithWhatItHeld) {
  Begin("s1", {"a/b"});
  store_ = Open();
  EXPECT_EQ(store_->FindSweep("s1")->id, "s1");
}

TEST_P(StoreTest, FindsAGapInTheEvents) {
  const std::vector<Event> events(3, SampleEvent("graph_break"));
  ASSERT_OK(store_->AppendEvents(events));
  EXPECT_OK(store_->Check());
  ExecuteOn(url_, "DELETE FROM events WHERE id = 2");
  const auto checked = store_->Check();
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().message.find("gaps"), std::string::npos) << checked.error().message;
}

}  // namespace
}  // namespace breakwatch::store
