#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_lister.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

using fakes::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kBert = R"({"model_type": "bert", "architectures": ["BertForMaskedLM"]})";

Result<RankedList> List(const TemporaryDirectory& directory, const ListRequest& request = {}) {
  return MakeDirectoryLister(directory.path().string())->List(request, {}, nullptr);
}

TEST(DirectoryListerTest, FindsEveryFormUnrankedAndWholeWhateverTheTop) {
  TemporaryDirectory directory;
  directory.Write("mine/config.json", kBert);
  directory.Write("org/name/config.json", kBert);
  directory.Write("plain.json", kBert);
  directory.Write("notes.txt", "x");
  directory.Write(".git/config.json", kBert);
  ListRequest request;
  request.top = 1;
  const auto list = List(directory, request);
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_FALSE(list->ranked);
  std::vector<std::string> ids;
  for (const RankedModel& model : list->models) ids.push_back(model.info.id);
  EXPECT_THAT(ids, ElementsAre("mine", "org/name", "plain"));
}

TEST(DirectoryListerTest, PinsTheFilesOwnDigestAndReadsItsFields) {
  TemporaryDirectory directory;
  directory.Write("mine/config.json", kBert);
  const auto list = List(directory);
  ASSERT_TRUE(list.ok());
  const ModelInfo& info = list->models.at(0).info;
  EXPECT_EQ(info.sha, Sha256Hex(kBert).substr(0, 40));
  EXPECT_EQ(info.config_source, "file");
  EXPECT_EQ(info.model_type, "bert");
  EXPECT_THAT(info.architectures, ElementsAre("BertForMaskedLM"));
  EXPECT_EQ(info.family, Family::kNlp);
  EXPECT_EQ(info.rank, 0);
  EXPECT_FALSE(info.custom_code);
}

TEST(DirectoryListerTest, NamesWhatIsWrongWithEachFile) {
  TemporaryDirectory directory;
  directory.Write("broken/config.json", R"({"model_type": "bert",)");
  directory.Write("deep/config.json", std::string(100'000, '['));
  directory.Write("huge/config.json", "{\"a\":\"" + std::string(5 << 20, 'x') + "\"}");
  directory.Write("list/config.json", "[]");
  directory.Write("text/config.json", "\xff\xfe");
  std::filesystem::create_directories(directory / "empty");
  directory.Write("only_code/config.json", R"({"auto_map": {"AutoModel": "m.M"}})");
  mkfifo((directory / "fifo.json").c_str(), 0600);
  const auto list = List(directory);
  ASSERT_TRUE(list.ok()) << list.error().message;
  std::map<std::string, std::pair<Status, std::string>> ends;
  for (const RankedModel& model : list->models) {
    ASSERT_TRUE(model.excluded) << model.info.id;
    ends[model.info.id] = {*model.excluded, model.detail};
  }
  EXPECT_EQ(ends.size(), 8u);
  for (const char* id : {"broken", "deep", "huge", "list", "text", "fifo"}) {
    EXPECT_EQ(ends[id].first, Status::kFailedResolve) << id;
    EXPECT_NE(ends[id].second, "") << id;
  }
  EXPECT_THAT(ends["huge"].second, HasSubstr("longer than"));
  EXPECT_THAT(ends["list"].second, HasSubstr("array"));
  EXPECT_EQ(ends["empty"].first, Status::kSkippedNoConfig);
  EXPECT_EQ(ends["only_code"].first, Status::kSkippedCustomCode);
}

TEST(DirectoryListerTest, KeepsOnlyTheRequestedModels) {
  TemporaryDirectory directory;
  directory.Write("a/config.json", kBert);
  directory.Write("b/config.json", kBert);
  ListRequest request;
  request.ids = {"b"};
  ASSERT_EQ(List(directory, request)->models.size(), 1u);
  request.ids = {"c"};
  EXPECT_EQ(List(directory, request).error().code, ErrorCode::kNotFound);
}

TEST(DirectoryListerTest, ReportsAnEmptyDirectory) {
  TemporaryDirectory directory;
  EXPECT_EQ(List(directory).error().code, ErrorCode::kNotFound);
  const auto list = MakeDirectoryLister(directory / "absent")->List({}, {}, nullptr);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kConfig);
  EXPECT_THAT(list.error().message, HasSubstr("absent"));
}

TEST(DirectoryListerTest, ReadsRealConfigurations) {
  const std::string path = BREAKWATCH_SOURCE_DIR "/../shared/hub/configs";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there";
  const auto list = MakeDirectoryLister(path)->List({}, {}, nullptr);
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_GT(list->models.size(), 40u);
  for (const RankedModel& model : list->models) {
    EXPECT_FALSE(model.excluded) << model.info.id << ": " << model.detail;
    EXPECT_TRUE(IsCommit(model.info.sha)) << model.info.id;
  }
}

}  // namespace
}  // namespace breakwatch::hub
