#include "breakwatch/report/directory.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "breakwatch/core/json.h"
#include "csv_reader.h"
#include "sample_sweep.h"
#include "write_files.h"

namespace breakwatch::report {
namespace {

namespace fs = std::filesystem;

class SweepDirectoryTest : public testing::Test {
 protected:
  SweepDirectoryTest() {
    std::string name = (fs::temp_directory_path() / "breakwatch-report-XXXXXX").string();
    state_ = mkdtemp(name.data());
  }
  ~SweepDirectoryTest() override {
    std::error_code ignored;
    fs::permissions(state_, fs::perms::owner_all, ignored);
    fs::remove_all(state_, ignored);
  }
  Result<std::string> Write(const Sweep& sweep) {
    const std::string environment = EnvironmentJson("0.1.0", SampleToolchain(), R"({"settings":[]})");
    const std::vector<ModelResult> results = SampleResults();
    auto written = WriteSweepDirectory(state_.string(), sweep, StreamOf(SamplePlan()), EachOf(results), environment);
    if (auto linked = LinkLatest(state_.string(), sweep.id); written && !linked) return linked.error();
    return written;
  }
  std::string Read(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(state_ / name).rdbuf();
    return text.str();
  }

  fs::path state_;
};

TEST_F(SweepDirectoryTest, HoldsEveryFileAndIsTheLatest) {
  const auto path = Write(SampleSweep());
  ASSERT_TRUE(path.ok()) << path.error().message;
  EXPECT_EQ(*path, (state_ / "sweeps" / SampleSweep().id).string());
  EXPECT_EQ(fs::read_symlink(state_ / "latest"), fs::path("sweeps") / SampleSweep().id);
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(state_ / "latest")) files += entry.file_size() > 0;
  EXPECT_EQ(files, 7u);
  EXPECT_EQ(ParseCsv(Read("latest/reasons.csv")).size(), 3u);
  EXPECT_EQ(ParseCsv(Read("latest/failures.csv")).size(), 4u);
  EXPECT_EQ(nlohmann::json::parse(Read("latest/environment.json"))["toolchain"]["torch"], "2.15.0");
}

TEST_F(SweepDirectoryTest, KeepsPlanAndResultsReadable) {
  ASSERT_TRUE(Write(SampleSweep()).ok());
  const auto plan = PlanFromJson(Read("latest/plan.json"));
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->models.size(), 7u);
  EXPECT_EQ(Read("latest/plan.json"), ToJson(SamplePlan()) + "\n");
  std::istringstream lines(Read("latest/results.jsonl"));
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto result = ModelResultFromJson(line);
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(result->info.id, SampleResults()[count].info.id);
  }
  EXPECT_EQ(count, 7u);
}

TEST_F(SweepDirectoryTest, ReplacesAnEarlierOneAndLeavesNothingBehind) {
  ASSERT_TRUE(Write(SampleSweep()).ok());
  std::ofstream(state_ / "latest" / "stale.txt") << "old";
  ASSERT_TRUE(Write(SampleSweep()).ok());
  EXPECT_FALSE(fs::exists(state_ / "latest" / "stale.txt"));
  Sweep second = SampleSweep();
  second.id = "20260921T130000Z-def456";
  ASSERT_TRUE(Write(second).ok());
  EXPECT_EQ(fs::read_symlink(state_ / "latest"), fs::path("sweeps") / second.id);
  std::size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(state_ / "sweeps")) entries += entry.is_directory();
  EXPECT_EQ(entries, 2u);
}

class RepeatedSweepTest : public SweepDirectoryTest {
 protected:
  // The sample sweep under another id, with results of another time.
  void WriteAs(const std::string& id, const std::string& reason = "unchanged") {
    Sweep sweep = SampleSweep();
    sweep.id = id;
    Plan plan = SamplePlan();
    plan.sweep_id = id;
    std::vector<ModelResult> results = SampleResults();
    for (ModelResult& result : results) {
      result.sweep_id = id;
      result.rebuild_reason = reason;
      result.finished_at += std::chrono::hours(id.size()) + std::chrono::nanoseconds(id.back());
    }
    ASSERT_TRUE(WriteSweepDirectory(state_.string(), sweep, StreamOf(plan), EachOf(results), "{}").ok());
    ASSERT_TRUE(LinkLatest(state_.string(), id).ok());
  }
  bool Thin(const std::string& id, const std::string& later) {
    const auto thinned = ThinSweepDirectory(state_.string(), id, later);
    EXPECT_TRUE(thinned.ok());
    return thinned.ok() && *thinned;
  }
  bool Has(const std::string& name) const { return fs::exists(state_ / "sweeps" / name); }
};

TEST_F(RepeatedSweepTest, LeavesTheFilesToTheLaterOneThatHasTheSame) {
  WriteAs("20260921T120000Z-aaaaaa"), WriteAs("20260922T120000Z-bbbbbb");
  EXPECT_TRUE(Thin("20260921T120000Z-aaaaaa", "20260922T120000Z-bbbbbb"));
  EXPECT_FALSE(Has("20260921T120000Z-aaaaaa/plan.json"));
  EXPECT_FALSE(Has("20260921T120000Z-aaaaaa/results.jsonl"));
  EXPECT_TRUE(Has("20260921T120000Z-aaaaaa/report.md"));
  EXPECT_TRUE(Has("20260922T120000Z-bbbbbb/results.jsonl"));
  const auto note = nlohmann::json::parse(Read("sweeps/20260921T120000Z-aaaaaa/same_as.json"));
  EXPECT_EQ(note, (nlohmann::json{{"schema", 1}, {"same_as", "20260922T120000Z-bbbbbb"}}));
  EXPECT_FALSE(Thin("20260921T120000Z-aaaaaa", "20260922T120000Z-bbbbbb")) << "it is done";
  EXPECT_TRUE(HasSweepDirectory(state_.string(), "20260921T120000Z-aaaaaa")) << "not written again";
}

TEST_F(RepeatedSweepTest, KeepsTheFilesOfASweepWithOtherResults) {
  WriteAs("s1"), WriteAs("s2", "new model");
  EXPECT_FALSE(Thin("s1", "s2"));
  EXPECT_TRUE(Has("s1/plan.json"));
  EXPECT_TRUE(Has("s1/results.jsonl"));
  EXPECT_FALSE(Has("s1/same_as.json"));
}

TEST_F(RepeatedSweepTest, KeepsTheFilesIfTheLaterOneHasMoreOrFewer) {
  WriteAs("s1"), WriteAs("s2");
  std::ofstream(state_ / "sweeps/s2/results.jsonl", std::ios::app) << "{}\n";
  EXPECT_FALSE(Thin("s1", "s2"));
  fs::remove(state_ / "sweeps/s2/results.jsonl");
  EXPECT_FALSE(Thin("s1", "s2"));
  EXPECT_TRUE(Has("s1/results.jsonl"));
}

TEST_F(RepeatedSweepTest, KeepsTheFilesOfTheLatest) {
  WriteAs("s2"), WriteAs("s1");
  EXPECT_FALSE(Thin("s1", "s2")) << "readers go by the link";
  EXPECT_TRUE(Thin("s2", "s1"));
}

class TrimTest : public SweepDirectoryTest {
 protected:
  // A sweep that ended this many days after the first one, with a directory of `bytes`.
  Sweep Add(const std::string& id, int day, std::size_t bytes = 1'000) {
    Sweep sweep = SampleSweep();
    sweep.id = id;
    sweep.finished_at = SampleSweep().finished_at + std::chrono::hours(24 * day);
    fs::create_directories(state_ / "sweeps" / id);
    std::ofstream(state_ / "sweeps" / id / "results.jsonl") << std::string(bytes, 'x');
    return sweep;
  }
  void Trim(const KeptDirectories& kept, const std::vector<Sweep>& newest) {
    TrimSweepDirectories(state_.string(), kept, newest);
  }
  std::set<std::string> Left() const {
    std::set<std::string> ids;
    for (const auto& entry : fs::directory_iterator(state_ / "sweeps")) ids.insert(entry.path().filename().string());
    return ids;
  }
  static SystemTime Day(int day) { return SampleSweep().finished_at + std::chrono::hours(24 * day); }

  using Ids = std::set<std::string>;
};

TEST_F(TrimTest, KeepsTheNewestByTheOrderItIsGivenThenById) {
  const std::vector<Sweep> newest{Add("2026", 3), Add("2031", 2)};  // the clock was ahead once
  Add("2025", 1), Add("2024", 0);                                   // of another store
  ASSERT_TRUE(LinkLatest(state_.string(), "2024").ok());
  Trim({.sweeps = 3}, newest);
  EXPECT_EQ(Left(), (Ids{"2024", "2025", "2026", "2031"})) << "latest stays";
  ASSERT_TRUE(LinkLatest(state_.string(), "2026").ok());
  Trim({.sweeps = 3}, newest);
  EXPECT_EQ(Left(), (Ids{"2025", "2026", "2031"}));
  Trim({.sweeps = 1}, newest);
  EXPECT_EQ(Left(), (Ids{"2026"}));
}

TEST_F(TrimTest, RemovesSweepsThatEndedTooLongAgoButNeverTheNewest) {
  const std::vector<Sweep> newest{Add("d", 9), Add("c", 3), Add("b", 2), Add("a", 1)};
  Trim({.sweeps = 100, .since = Day(2)}, newest);
  EXPECT_EQ(Left(), (Ids{"b", "c", "d"}));
  ASSERT_TRUE(LinkLatest(state_.string(), "b").ok());
  Trim({.sweeps = 100, .since = Day(20)}, newest);
  EXPECT_EQ(Left(), (Ids{"b", "d"})) << "and what latest points to";
}

TEST_F(TrimTest, TakesTheAgeOfADirectoryOfAnotherStoreFromTheDisk) {
  const std::vector<Sweep> newest{Add("b", 9)};
  Add("a", 0);
  Trim({.sweeps = 100, .since = SystemTime::clock::now() - std::chrono::hours(1)}, newest);
  EXPECT_EQ(Left(), (Ids{"a", "b"}));
  fs::last_write_time(state_ / "sweeps" / "a", fs::file_time_type::clock::now() - std::chrono::hours(2));
  Trim({.sweeps = 100, .since = SystemTime::clock::now() - std::chrono::hours(1)}, newest);
  EXPECT_EQ(Left(), (Ids{"b"}));
}

TEST_F(TrimTest, RemovesWhatDoesNotFitBelowTheNewest) {
  const std::vector<Sweep> newest{Add("d", 4, 5'000), Add("c", 3, 3'000), Add("b", 2, 3'000), Add("a", 1, 10)};
  Trim({.sweeps = 100, .bytes = 100'000}, newest);
  EXPECT_EQ(Left(), (Ids{"a", "b", "c", "d"}));
  Trim({.sweeps = 100, .bytes = 8'500}, newest);
  EXPECT_EQ(Left(), (Ids{"c", "d"})) << "a small one does not stay below one that does not fit";
  Trim({.sweeps = 100, .bytes = 1}, newest);
  EXPECT_EQ(Left(), (Ids{"d"}));
}

TEST_F(SweepDirectoryTest, RemovesWhatAKilledProcessLeftHalfWritten) {
  ASSERT_TRUE(Write(SampleSweep()).ok());
  fs::create_directories(state_ / "sweeps" / ".20260101T000000Z-abc.17" / "more");
  RemoveUnfinishedDirectories(state_.string());
  std::size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(state_ / "sweeps")) entries += entry.is_directory();
  EXPECT_EQ(entries, 1u);
  EXPECT_TRUE(HasSweepDirectory(state_.string(), SampleSweep().id));
  EXPECT_FALSE(HasSweepDirectory(state_.string(), "other"));
}

TEST_F(SweepDirectoryTest, NamesWhatCannotBeWritten) {
  std::ofstream(state_ / "sweeps") << "a file";
  const auto refused = Write(SampleSweep());
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kStore);
  EXPECT_NE(refused.error().message.find("sweeps"), std::string::npos);
}

TEST_F(SweepDirectoryTest, NeverReplacesADirectoryCalledLatest) {
  fs::create_directories(state_ / "latest" / "mine");
  const auto refused = Write(SampleSweep());
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("/latest: "), std::string::npos);
  EXPECT_TRUE(fs::exists(state_ / "latest" / "mine"));
}

TEST_F(SweepDirectoryTest, RejectsAnIdThatIsNotAFileName) {
  for (const char* id : {"", "..", "a/b", ".hidden", "a\nb"}) {
    Sweep sweep = SampleSweep();
    sweep.id = id;
    const auto refused = Write(sweep);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
}

TEST(FileWriterTest, ReportsAFullDisk) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full here";
  FileWriter file("/dev/full");
  file.Write("text");
  const auto closed = file.Close();
  ASSERT_FALSE(closed.ok());
  EXPECT_EQ(closed.error().code, ErrorCode::kStore);
  EXPECT_EQ(closed.error().message, "/dev/full: No space left on device");
}

}  // namespace
}  // namespace breakwatch::report
