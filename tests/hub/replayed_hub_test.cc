// The same recording, read from disk and requested over HTTP, must lead to the same list.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "breakwatch/hub/hub_lister.h"
#include "breakwatch/hub_replay/replay_server.h"

namespace breakwatch::hub {
namespace {

const std::string kSnapshot = BREAKWATCH_SOURCE_DIR "/collectors/hub/snapshot";

class ReplayedHubTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kSnapshot + "/recording.json")) GTEST_SKIP() << "no bundled snapshot";
    auto server = hub_replay::ReplayServer::Start({.dir = kSnapshot});
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = *std::move(server);
    options_.endpoint = server_->url();
  }

  void ExpectSameLists(const ListRequest& request) {
    const auto by_http = MakeHubLister(options_, RealClock())->List(request, {}, nullptr);
    const auto from_disk = MakeSnapshotLister(kSnapshot)->List(request, {}, nullptr);
    ASSERT_TRUE(by_http.ok()) << by_http.error().message;
    ASSERT_TRUE(from_disk.ok()) << from_disk.error().message;
    EXPECT_EQ(by_http->ranked, from_disk->ranked);
    ASSERT_EQ(by_http->models.size(), from_disk->models.size());
    EXPECT_FALSE(by_http->models.empty());
    for (std::size_t i = 0; i < by_http->models.size(); ++i) ExpectSame(by_http->models[i], from_disk->models[i]);
  }

  static void ExpectSame(const RankedModel& a, const RankedModel& b) {
    EXPECT_EQ(a.info.id, b.info.id);
    EXPECT_EQ(a.info.requested_id, b.info.requested_id) << a.info.id;
    EXPECT_EQ(a.info.sha, b.info.sha) << a.info.id;
    EXPECT_EQ(a.info.rank, b.info.rank) << a.info.id;
    EXPECT_EQ(a.info.family, b.info.family) << a.info.id;
    EXPECT_EQ(a.info.model_type, b.info.model_type) << a.info.id;
    EXPECT_EQ(a.info.params, b.info.params) << a.info.id;
    EXPECT_EQ(a.info.downloads, b.info.downloads) << a.info.id;
    if (!a.info.gated.empty()) {  // HTTP serves no gated file without a token; on disk it is readable
      EXPECT_EQ(a.excluded, Status::kSkippedGated) << a.info.id;
      return;
    }
    EXPECT_EQ(a.excluded, b.excluded) << a.info.id << ": " << a.detail << " / " << b.detail;
    EXPECT_EQ(a.config_json, b.config_json) << a.info.id;
    EXPECT_EQ(a.info.config_source == "class_default", b.info.config_source == "class_default") << a.info.id;
  }

  std::unique_ptr<hub_replay::ReplayServer> server_;
  HubOptions options_;
};

TEST_F(ReplayedHubTest, TheTopIsTheSame) {
  ListRequest request;
  request.top = 60;
  ExpectSameLists(request);
}

TEST_F(ReplayedHubTest, TheWholeListIsTheSameOverManyPages) {
  options_.page_size = 50;
  ListRequest request;
  request.top = 1000;
  ExpectSameLists(request);
}

TEST_F(ReplayedHubTest, OtherOrdersAndFiltersAreTheSame) {
  ListRequest request;
  request.sort = "likes";
  request.task = "fill-mask";
  ExpectSameLists(request);
  request = {};
  request.filters = {"transformers"};
  ExpectSameLists(request);
}

TEST_F(ReplayedHubTest, NamesAreTheSame) {
  ListRequest request;
  request.ids = {"gpt2", "distilgpt2"};
  ExpectSameLists(request);
}

}  // namespace
}  // namespace breakwatch::hub
