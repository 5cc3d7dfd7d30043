#include "offline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fakes/temporary_directory.h"
#include "hub/scripted_hub.h"

namespace breakwatch::hub {
namespace {

using namespace breakwatch::testing;
using fakes::TemporaryDirectory;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class OfflineTest : public ::testing::Test {
 protected:
  OfflineTest() {
    directory_.Write("models--b--two/refs/main", kCommitB);
    directory_.Write("models--b--two/snapshots/" + kCommitB + "/config.json", R"({"model_type":"vit"})");
    directory_.Write("models--a--one/refs/main", kCommitA + "\n");
    directory_.Write("models--a--one/snapshots/" + kCommitA + "/config.json", R"({"model_type":"bert"})");
    directory_.Write("models--c--weights/refs/main", kCommitA);
    directory_.Write("datasets--d--data/refs/main", kCommitA);
    directory_.Write("models--e--none/refs/main", kCommitA);
    directory_.Write("models--e--none/.no_exist/" + kCommitA + "/config.json", "");
    options_ = hub_.Options();
    options_.cache_dir = directory_.path().string();
    options_.offline = true;
  }

  TemporaryDirectory directory_;
  ScriptedHub hub_;
  HubOptions options_;
};

TEST_F(OfflineTest, ListsTheCachedModelsUnranked) {
  const auto list = List(options_, {});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_FALSE(list->ranked);
  ASSERT_THAT(list->models, SizeIs(2));
  EXPECT_EQ(list->models[0].info.id, "a/one");
  EXPECT_EQ(list->models[0].info.family, Family::kNlp);
  EXPECT_EQ(list->models[1].info.family, Family::kVision);
  EXPECT_THAT(list->warnings, ::testing::ElementsAre(HasSubstr("offline")));
}

TEST_F(OfflineTest, AnswersNamesFromRefsAndSnapshots) {
  const auto list = ListNamed(options_, {"a/one", "b/two@" + kCommitB, "e/none", "c/weights", "no/where", "a/one@dev"});
  ASSERT_TRUE(list.ok());
  ASSERT_THAT(list->models, SizeIs(6));
  EXPECT_FALSE(list->models[0].excluded);
  EXPECT_EQ(list->models[0].info.sha, kCommitA);
  EXPECT_FALSE(list->models[1].excluded);
  EXPECT_EQ(list->models[2].excluded, Status::kSkippedNoConfig);
  EXPECT_EQ(list->models[3].excluded, Status::kFailedResolve);
  EXPECT_THAT(list->models[3].detail, HasSubstr("snapshots/" + kCommitA + "/config.json does not exist"));
  EXPECT_EQ(list->models[4].excluded, Status::kFailedResolve);
  EXPECT_THAT(list->models[5].detail, HasSubstr("dev"));
}

TEST_F(OfflineTest, SendsNoRequestAtAll) {
  ASSERT_TRUE(List(options_, {}).ok());
  ASSERT_TRUE(ListNamed(options_, {"a/one", "no/where"}).ok());
  EXPECT_THAT(hub_.Requests(), SizeIs(0));
}

TEST_F(OfflineTest, AnEmptyCacheIsAnErrorForAListing) {
  TemporaryDirectory empty;
  options_.cache_dir = empty.path().string();
  const auto list = List(options_, {});
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(list.error().message, HasSubstr("offline"));
}

}  // namespace
}  // namespace breakwatch::hub
