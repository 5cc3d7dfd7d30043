#include "cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include "fakes/temporary_directory.h"
#include "hub/scripted_hub.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;
using namespace breakwatch::testing;
using fakes::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::string kBert = R"({"model_type":"bert"})";
const std::string kEtag = "\"" + std::string(40, 'e') + "\"";
constexpr std::size_t kMaxBytes = 1 << 20;

class HubCacheTest : public ::testing::Test {
 protected:
  TemporaryDirectory directory_;
  HubCache cache_{directory_.path().string(), kMaxBytes};
  const std::string repository_ = "models--org--na--me/";
};

TEST_F(HubCacheTest, WritesTheLayoutOfThePythonClient) {
  ASSERT_TRUE(cache_.StoreConfig("org/na--me", kCommitA, "W/" + kEtag, kBert).ok());
  ASSERT_TRUE(cache_.StoreRef("org/na--me", "main", kCommitA).ok());
  ASSERT_TRUE(cache_.StoreRef("org/na--me", "refs/pr/1", kCommitA).ok());
  ASSERT_TRUE(cache_.StoreAbsent("org/na--me", kCommitB).ok());
  const std::string etag(40, 'e');
  EXPECT_EQ(directory_.Read(repository_ + "blobs/" + etag), kBert);
  const fs::path link = directory_ / (repository_ + "snapshots/" + kCommitA + "/config.json");
  EXPECT_EQ(fs::read_symlink(link), "../../blobs/" + etag);
  EXPECT_EQ(directory_.Read(repository_ + "snapshots/" + kCommitA + "/config.json"), kBert);
  EXPECT_EQ(directory_.Read(repository_ + "refs/main"), kCommitA);
  EXPECT_EQ(directory_.Read(repository_ + "refs/refs/pr/1"), kCommitA);
  EXPECT_EQ(fs::file_size(directory_ / (repository_ + ".no_exist/" + kCommitB + "/config.json")), 0u);
  EXPECT_TRUE(fs::exists(directory_ / (".locks/models--org--na--me/" + etag + ".lock")));
  EXPECT_THAT(directory_.Read("CACHEDIR.TAG"), ::testing::StartsWith("Signature: 8a477f597d28d172789f06886806bc55\n"));
  for (const auto& entry : fs::recursive_directory_iterator(directory_.path())) {
    EXPECT_NE(entry.path().extension(), ".incomplete") << entry.path();
  }
}

TEST_F(HubCacheTest, ReadsBackWhatItWrote) {
  ASSERT_TRUE(cache_.StoreConfig("org/na--me", kCommitA, kEtag, kBert).ok());
  ASSERT_TRUE(cache_.StoreRef("org/na--me", "main", kCommitA).ok());
  ASSERT_TRUE(cache_.StoreConfig("single", kCommitB, kEtag, kBert).ok());
  ASSERT_TRUE(cache_.StoreRef("single", "main", kCommitB).ok());
  EXPECT_EQ(cache_.ReadConfig("org/na--me", kCommitA), kBert);
  EXPECT_EQ(cache_.ReadConfig("org/na--me", kCommitB), std::nullopt);
  EXPECT_EQ(cache_.ReadRef("org/na--me", "main"), kCommitA);
  EXPECT_EQ(cache_.ReadRef("org/na--me", kCommitB), kCommitB);
  EXPECT_EQ(cache_.ReadRef("org/na--me", "dev"), std::nullopt);
  const auto models = cache_.Models();
  ASSERT_THAT(models, SizeIs(2));
  EXPECT_EQ(models[0].id, "org/na--me");
  EXPECT_EQ(models[1].id, "single");
}

TEST_F(HubCacheTest, ComputesTheBlobsNameIfTheEtagIsNotADigest) {
  ASSERT_TRUE(cache_.StoreConfig("a/b", kCommitA, "../../../evil", "hello\n").ok());
  // git hash-object of "hello\n"
  EXPECT_EQ(directory_.Read("models--a--b/blobs/ce013625030ba8dba906f756967f9e9ca394464a"), "hello\n");
}

TEST_F(HubCacheTest, NoNameFromOutsideLeadsOutOfTheCache) {
  for (const char* id : {"../x", "a/../b", "a/b/c", "/etc", "", "a//b", "..", "a\nb"}) {
    EXPECT_TRUE(cache_.StoreConfig(id, kCommitA, kEtag, kBert).ok());
    EXPECT_EQ(cache_.ReadConfig(id, kCommitA), std::nullopt) << id;
  }
  EXPECT_TRUE(cache_.StoreConfig("a/b", "../../x", kEtag, kBert).ok());
  EXPECT_TRUE(cache_.StoreRef("a/b", "../../../x", kCommitA).ok());
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(HubCacheTest, KeepsABranchThatOtherFilesDependOn) {
  directory_.Write("models--a--b/refs/main", kCommitA);
  directory_.Write("models--a--b/snapshots/" + kCommitA + "/model.safetensors", "weights");
  ASSERT_TRUE(cache_.StoreRef("a/b", "main", kCommitB).ok());
  EXPECT_EQ(cache_.ReadRef("a/b", "main"), kCommitA);
}

TEST_F(HubCacheTest, MovesABranchThatOnlyConfigurationsDependOn) {
  ASSERT_TRUE(cache_.StoreConfig("a/b", kCommitA, kEtag, kBert).ok());
  ASSERT_TRUE(cache_.StoreRef("a/b", "main", kCommitA).ok());
  ASSERT_TRUE(cache_.StoreRef("a/b", "main", kCommitB).ok());
  EXPECT_EQ(cache_.ReadRef("a/b", "main"), kCommitB);
}

TEST_F(HubCacheTest, DoesNotWriteABlobThatAnotherProcessIsWriting) {
  const std::string lock_path = ".locks/models--a--b/" + std::string(40, 'e') + ".lock";
  directory_.Write(lock_path, "");
  const int other = open((directory_ / lock_path).c_str(), O_RDWR);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  EXPECT_TRUE(cache_.StoreConfig("a/b", kCommitA, kEtag, kBert).ok());
  EXPECT_FALSE(fs::exists(directory_ / ("models--a--b/blobs/" + std::string(40, 'e'))));
  close(other);
  EXPECT_TRUE(cache_.StoreConfig("a/b", kCommitA, kEtag, kBert).ok());
  EXPECT_EQ(cache_.ReadConfig("a/b", kCommitA), kBert);
}

TEST_F(HubCacheTest, ReportsWhatCannotBeWritten) {
  directory_.Write("models--a--b", "a file where a folder should be");
  const auto stored = cache_.StoreConfig("a/b", kCommitA, kEtag, kBert);
  ASSERT_FALSE(stored.ok());
  EXPECT_THAT(stored.error().message, HasSubstr("models--a--b"));
}

TEST_F(HubCacheTest, IsNothingWithoutADirectory) {
  const HubCache none("", kMaxBytes);
  EXPECT_TRUE(none.StoreConfig("a/b", kCommitA, kEtag, kBert).ok());
  EXPECT_EQ(none.ReadConfig("a/b", kCommitA), std::nullopt);
  EXPECT_TRUE(none.Models().empty());
}

class CachedListingTest : public ::testing::Test {
 protected:
  CachedListingTest() {
    hub_.OnPages({Entry("a/1", kCommitA) + "," + Entry("a/none", kCommitA)});
    hub_.OnConfig("a/1", kCommitA, kBert);
    Reply absent = Refusal(404, "EntryNotFound", "Entry not found");
    absent.headers.emplace_back("X-Repo-Commit", kCommitA);
    hub_.On("/a/none/resolve/" + kCommitA + "/config.json", absent);
    options_ = hub_.Options();
    options_.cache_dir = directory_.path().string();
  }

  TemporaryDirectory directory_;
  ScriptedHub hub_;
  HubOptions options_;
};

TEST_F(CachedListingTest, APinnedCachedCommitCostsNoRequest) {
  ASSERT_TRUE(List(options_, {}).ok());
  const std::size_t before = hub_.Requests("/a/").size();
  const auto again = List(options_, {});
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(hub_.Requests("/a/").size(), before);
  EXPECT_EQ(again->models[0].info.config_source, "cache");
  EXPECT_EQ(again->models[0].config_json, kBert);
  EXPECT_EQ(again->models[1].excluded, Status::kSkippedNoConfig);  // the absence is also cached
  const std::size_t all = hub_.Requests().size();
  const auto pinned = ListNamed(options_, {"a/1@" + kCommitA});
  ASSERT_TRUE(pinned.ok());
  EXPECT_FALSE(pinned->models.at(0).excluded);
  EXPECT_EQ(hub_.Requests().size(), all);
}

TEST_F(CachedListingTest, FetchesAgainWhatTheCacheHoldsBroken) {
  directory_.Write("models--a--1/snapshots/" + kCommitA + "/config.json", "{\"model_ty");
  const auto list = List(options_, {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models[0].excluded) << list->models[0].detail;
  EXPECT_EQ(list->models[0].info.config_source, "hub");
}

TEST_F(CachedListingTest, ConfigurationsMadeOfDefaultsStayOutOfTheSharedCache) {
  ScriptedHub replay;
  replay.OnPages({Entry("a/1", kCommitA)});
  replay.On("/a/1/resolve/" + kCommitA + "/config.json",
            {200, {{"X-Breakwatch-Config-Source", "class_default"}}, kBert});
  options_.endpoint = replay.server().Url();
  const auto list = List(options_, {});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->models.at(0).info.config_source, "class_default");
  EXPECT_TRUE(fs::is_empty(directory_.path()));
}

TEST_F(CachedListingTest, ACacheThatCannotBeWrittenCostsAWarningOnly) {
  directory_.Write("file", "");
  options_.cache_dir = directory_ / "file";
  const auto list = List(options_, {});
  ASSERT_TRUE(list.ok());
  EXPECT_FALSE(list->models[0].excluded);
  EXPECT_THAT(list->warnings, ::testing::Contains(HasSubstr("file")));
}

TEST_F(CachedListingTest, KeepsARenamedModelUnderBothNames) {
  hub_.On("/api/models/old", {307, {{"Location", "/api/models/a/1"}}, ""});
  hub_.On("/api/models/a/1", Json(Entry("a/1", kCommitA)));
  ASSERT_TRUE(ListNamed(options_, {"old"}).ok());
  options_.offline = true;
  for (const char* id : {"old", "a/1"}) {
    const auto list = ListNamed(options_, {id});
    ASSERT_TRUE(list.ok());
    EXPECT_FALSE(list->models.at(0).excluded) << id << ": " << list->models[0].detail;
  }
}

}  // namespace
}  // namespace breakwatch::hub
