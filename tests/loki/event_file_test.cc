#include "breakwatch/exporters/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace breakwatch::exporters {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string Line(std::int64_t id) { return R"({"msg":"graph_break","event_id":)" + std::to_string(id) + "}"; }

std::vector<StoredEvent> Events(std::int64_t first, std::int64_t last) {
  std::vector<StoredEvent> events;
  for (std::int64_t id = first; id <= last; ++id) events.push_back({id, id, "", "", "", Line(id)});
  return events;
}

class EventFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "breakwatch-file-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    options_.path = (folder_ / "logs" / "events.jsonl").string();
  }
  void TearDown() override { fs::remove_all(folder_); }
  Outcome Export(EventExporter& exporter, std::int64_t first, std::int64_t last) {
    return exporter.Export(Events(first, last));
  }
  std::string Read(const std::string& suffix = "") const {
    std::ostringstream text;
    text << std::ifstream(options_.path + suffix).rdbuf();
    return text.str();
  }
  // The ids of the complete lines, in order; an incomplete line is -1.
  std::vector<int> Ids(const std::string& suffix = "") const {
    std::vector<int> ids;
    std::istringstream lines(Read(suffix));
    for (std::string line; std::getline(lines, line);) {
      const bool whole = line.ends_with('}') && !lines.eof();
      ids.push_back(whole ? std::stoi(line.substr(line.rfind(':') + 1)) : -1);
    }
    return ids;
  }
  void Append(const std::string& text) const { std::ofstream(options_.path, std::ios::app) << text; }

  fs::path folder_;
  EventFileOptions options_;
};

TEST_F(EventFileTest, AppendsALineForEachEvent) {
  const auto exporter = MakeEventFile(options_);
  EXPECT_EQ(Export(*exporter, 1, 2).delivery, Delivery::kDelivered);
  EXPECT_EQ(Export(*exporter, 3, 3).delivery, Delivery::kDelivered);
  EXPECT_EQ(Read(), Line(1) + "\n" + Line(2) + "\n" + Line(3) + "\n");
}

TEST_F(EventFileTest, RotatesBySizeAndKeepsTheNewestFiles) {
  options_.max_bytes = 100;  // two lines of 39 bytes
  options_.keep = 2;
  const auto exporter = MakeEventFile(options_);
  for (int id = 1; id <= 9; ++id) ASSERT_EQ(Export(*exporter, id, id).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), ElementsAre(9));
  EXPECT_THAT(Ids(".1"), ElementsAre(7, 8));
  EXPECT_THAT(Ids(".2"), ElementsAre(5, 6));
  EXPECT_FALSE(fs::exists(options_.path + ".3"));
}

TEST_F(EventFileTest, RemovesFilesBeyondASmallerBound) {
  const auto exporter = MakeEventFile(options_);
  Export(*exporter, 1, 1);
  for (const char* suffix : {".1", ".2", ".3", ".4"}) std::ofstream(options_.path + suffix) << "old\n";
  options_.keep = 1;
  options_.max_bytes = 10;
  ASSERT_EQ(Export(*MakeEventFile(options_), 2, 2).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(".1"), ElementsAre(1));
  for (const char* suffix : {".2", ".3", ".4"}) EXPECT_FALSE(fs::exists(options_.path + suffix)) << suffix;
}

TEST_F(EventFileTest, WritesToANewFileAfterSomebodyRenamedIt) {
  const auto exporter = MakeEventFile(options_);
  Export(*exporter, 1, 1);
  fs::rename(options_.path, options_.path + ".old");
  ASSERT_EQ(Export(*exporter, 2, 2).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), ElementsAre(2));
  EXPECT_THAT(Ids(".old"), ElementsAre(1));
}

TEST_F(EventFileTest, CutsAHalfLineOffThatACrashLeft) {
  Export(*MakeEventFile(options_), 1, 2);
  Append(Line(3).substr(0, 20));
  ASSERT_EQ(Export(*MakeEventFile(options_), 3, 3).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3));
}

TEST_F(EventFileTest, NeverCutsWhatCannotBeItsOwnLine) {
  fs::create_directories(fs::path(options_.path).parent_path());
  const std::string foreign(200 << 10, 'x');
  Append(foreign);
  ASSERT_EQ(Export(*MakeEventFile(options_), 1, 1).delivery, Delivery::kDelivered);
  EXPECT_EQ(Read(), foreign + "\n" + Line(1) + "\n");
}

TEST_F(EventFileTest, WritesABatchOnceThatWasNotNotedAsSentBeforeACrash) {
  Export(*MakeEventFile(options_), 1, 5);
  const auto restarted = MakeEventFile(options_);
  EXPECT_EQ(Export(*restarted, 1, 5).delivery, Delivery::kDelivered);
  EXPECT_EQ(Export(*restarted, 6, 7).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4, 5, 6, 7));
}

TEST_F(EventFileTest, FinishesABatchOfWhichOnlyAPartWasWritten) {
  Export(*MakeEventFile(options_), 1, 3);
  Append(Line(4).substr(0, 5));
  EXPECT_EQ(Export(*MakeEventFile(options_), 2, 6).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(EventFileTest, WritesNewEventsAlthoughTheirIdsStartAgain) {
  Export(*MakeEventFile(options_), 1, 5);
  StoredEvent event = Events(1, 1).front();
  event.line = R"({"msg":"sweep_started","event_id":1})";
  EXPECT_EQ(MakeEventFile(options_)->Export(std::vector{event}).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), SizeIs(6));
}

// The file size limit makes a real write stop halfway, like a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST_F(EventFileTest, RemovesAHalfWrittenBatchAndContinuesWhenThereIsSpace) {
  const auto exporter = MakeEventFile(options_);
  ASSERT_EQ(Export(*exporter, 1, 2).delivery, Delivery::kDelivered);
  {
    const FileSizeLimit full(fs::file_size(options_.path) + 50);
    const Outcome outcome = Export(*exporter, 3, 6);
    EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
    EXPECT_THAT(outcome.detail, HasSubstr(options_.path));
    EXPECT_THAT(Ids(), ElementsAre(1, 2));
    EXPECT_EQ(Export(*exporter, 3, 6).delivery, Delivery::kTryAgain);
  }
  EXPECT_EQ(Export(*exporter, 3, 6).delivery, Delivery::kDelivered);
  EXPECT_THAT(Ids(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(EventFileTest, RetriesIfTheFileCannotBeCreated) {
  std::ofstream(folder_ / "logs") << "a file where the folder should be";
  const auto exporter = MakeEventFile(options_);
  const Outcome outcome = Export(*exporter, 1, 1);
  EXPECT_EQ(outcome.delivery, Delivery::kTryAgain);
  EXPECT_THAT(outcome.detail, HasSubstr("cannot open"));
  fs::remove(folder_ / "logs");
  EXPECT_EQ(Export(*exporter, 1, 1).delivery, Delivery::kDelivered);
  options_.path = "/dev/null";
  EXPECT_THAT(Export(*MakeEventFile(options_), 1, 1).detail, HasSubstr("not a regular file"));
}

}  // namespace
}  // namespace breakwatch::exporters
