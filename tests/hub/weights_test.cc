#include "breakwatch/hub/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "breakwatch/core/text.h"
#include "fakes/temporary_directory.h"
#include "hub/scripted_hub.h"

namespace breakwatch::hub {
namespace {

namespace fs = std::filesystem;
using namespace breakwatch::testing;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::int64_t kBudget = 1 << 20;
const std::string kContent = "0123456789abcdefghij";

// The listing of a commit whose large files are in LFS.
json ListingOf(const std::map<std::string, std::string>& files) {
  json siblings = json::array();
  for (const auto& [name, content] : files) {
    siblings.push_back({{"rfilename", name},
                        {"size", content.size()},
                        {"blobId", std::string(40, 'c')},
                        {"lfs", {{"sha256", Sha256Hex(content)}, {"size", content.size()}}}});
  }
  return {{"id", "org/name"}, {"sha", kCommitA}, {"siblings", std::move(siblings)}};
}

class WeightsTest : public ::testing::Test {
 protected:
  void Serve(const std::map<std::string, std::string>& files) {
    listing_ = ListingOf(files).dump();
    files_ = files;
  }
  Result<std::string> Fetch(std::int64_t budget = kBudget, bool offline = false) {
    HubOptions options;
    options.endpoint = server_.Url();
    options.token = "hf_secret";
    options.cache_dir = cache_.path();
    options.first_backoff = options.max_backoff = std::chrono::milliseconds(1);
    options.tries = 2;
    options.offline = offline;
    auto fetcher = MakeWeightsFetcher(options, budget, RealClock());
    EXPECT_TRUE(fetcher.ok());
    return (*fetcher)->Fetch("org/name", kCommitA, [this](std::uint64_t done, std::uint64_t total) {
      progress_ = {done, total};
    });
  }
  std::string ErrorOf(std::int64_t budget = kBudget) {
    const auto fetched = Fetch(budget);
    EXPECT_FALSE(fetched.ok());
    return fetched.ok() ? "" : fetched.error().message;
  }
  std::string Fetched(const std::string& name = "model.safetensors") {
    return cache_.Read("models--org--name/snapshots/" + kCommitA + "/" + name);
  }
  std::string Partial(const std::string& content = kContent) {
    return "models--org--name/blobs/" + Sha256Hex(content) + ".breakwatch.incomplete";
  }
  std::vector<std::string> Ranges() {
    std::vector<std::string> ranges;
    for (const SeenRequest& request : server_.Requests()) {
      if (request.Path().find("/resolve/") != std::string::npos) ranges.push_back(request.Header("range"));
    }
    return ranges;
  }
  static Reply Part(const SeenRequest& request, const std::string& content) {
    const std::string range = request.Header("range");
    if (range.empty()) return {.body = content};
    const std::size_t first = std::stoul(range.substr(6)), last = std::stoul(range.substr(range.find('-') + 1));
    return {.status = 206,
            .headers = {{"Content-Range", "bytes " + range.substr(6) + "/" + std::to_string(content.size())}},
            .body = content.substr(first, last - first + 1)};
  }
  Reply Answer(const SeenRequest& request) {
    if (on_file_ && request.Path().find("/resolve/") != std::string::npos) return on_file_(request);
    return File(request);
  }
  Reply File(const SeenRequest& request) {
    if (request.Path() == "/api/models/org/name/revision/" + kCommitA) return Json(listing_);
    const auto file = files_.find(request.Path().substr(request.Path().rfind('/') + 1));
    return file == files_.end() ? Refusal(404, "EntryNotFound", "no such file") : Part(request, file->second);
  }

  fakes::TemporaryDirectory cache_;
  std::string listing_;
  std::map<std::string, std::string> files_;
  std::function<Reply(const SeenRequest&)> on_file_;
  std::pair<std::uint64_t, std::uint64_t> progress_;
  ScriptedServer server_{[this](const SeenRequest& request) { return Answer(request); }};
};

TEST_F(WeightsTest, FetchesAFileOnce) {
  Serve({{"model.safetensors", kContent}});
  const auto folder = Fetch();
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(*folder, cache_ / ("models--org--name/snapshots/" + kCommitA));
  EXPECT_EQ(Fetched(), kContent);
  EXPECT_EQ(progress_, std::pair(std::uint64_t{20}, std::uint64_t{20}));
  ASSERT_TRUE(Fetch().ok());
  EXPECT_THAT(Ranges(), SizeIs(1));
  EXPECT_EQ(*Fetch(kBudget, /*offline=*/true), *folder);
}

TEST_F(WeightsTest, RefusesAFileWithAnotherDigestAndStartsAgain) {
  Serve({{"model.safetensors", kContent}});
  on_file_ = [&](const SeenRequest& request) { return Part(request, "0123456789ABCDEFGHIJ"); };
  EXPECT_THAT(ErrorOf(), HasSubstr("model.safetensors has digest"));
  EXPECT_EQ(Fetched(), "");
  EXPECT_EQ(cache_.Read(Partial()), "") << "the wrong bytes must not be continued";
  on_file_ = nullptr;
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Fetched(), kContent);
}

TEST_F(WeightsTest, ContinuesADownloadWhereItEnded) {
  Serve({{"model.safetensors", kContent}});
  cache_.Write(Partial(), kContent.substr(0, 7));
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Fetched(), kContent);
  EXPECT_EQ(Ranges().front(), "bytes=7-19");
}

TEST_F(WeightsTest, StartsAgainWhereMoreIsThereThanTheFileHas) {
  Serve({{"model.safetensors", kContent}});
  cache_.Write(Partial(), kContent + "more");
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Ranges().front(), "bytes=0-19");
}

TEST_F(WeightsTest, RefusesAPartOtherThanTheOneItAskedFor) {
  Serve({{"model.safetensors", kContent}});
  const std::pair<std::string, std::string> answers[] = {{"bytes 0-9/20", kContent.substr(0, 10)},
                                                         {"bytes 0-19/99", kContent},
                                                         {"bytes 0-19/20", kContent.substr(0, 19)},
                                                         {"", kContent}};
  for (const auto& [range, body] : answers) {
    on_file_ = [&](const SeenRequest&) {
      return Reply{.status = 206, .headers = {{"Content-Range", range}}, .body = body};
    };
    EXPECT_THAT(ErrorOf(), HasSubstr("asked for bytes 0-19 of 20")) << range;
    EXPECT_EQ(Fetched(), "");
  }
}

TEST_F(WeightsTest, KeepsNothingOfABodyThatEndsEarly) {
  Serve({{"model.safetensors", kContent}});
  on_file_ = [&](const SeenRequest& request) {
    Reply reply = Part(request, kContent);
    reply.cut_short = true;
    return reply;
  };
  EXPECT_FALSE(Fetch().ok());
  EXPECT_EQ(Fetched(), "");
  on_file_ = nullptr;
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Fetched(), kContent);
}

TEST_F(WeightsTest, FetchesNothingBeyondItsBudget) {
  Serve({{"model.safetensors", kContent}});
  EXPECT_THAT(ErrorOf(19), HasSubstr("have 20 bytes, more than the 19 of artifact.max_weight_bytes"));
  EXPECT_THAT(Ranges(), SizeIs(0));
  EXPECT_TRUE(Fetch(20).ok());
}

TEST_F(WeightsTest, FetchesTheShardsThatTheIndexNames) {
  const std::string index =
      R"({"weight_map":{"a":"model-1.safetensors","b":"model-2.safetensors","c":"model-1.safetensors"}})";
  Serve({{"model.safetensors.index.json", index},
         {"model-1.safetensors", kContent},
         {"model-2.safetensors", "other"},
         {"model-3.safetensors", "not named"}});
  ASSERT_TRUE(Fetch().ok());
  EXPECT_EQ(Fetched("model.safetensors.index.json"), index);
  EXPECT_EQ(Fetched("model-1.safetensors"), kContent);
  EXPECT_EQ(Fetched("model-2.safetensors"), "other");
  EXPECT_EQ(Fetched("model-3.safetensors"), "");
  EXPECT_EQ(progress_.second, index.size() + kContent.size() + 5);
}

TEST_F(WeightsTest, RefusesAnIndexThatNamesOtherPlaces) {
  for (const char* shard : {"../model.safetensors", "/etc/passwd", "model.bin", ".safetensors", "gone.safetensors"}) {
    Serve({{"model.safetensors.index.json", json{{"weight_map", {{"a", shard}}}}.dump()}});
    EXPECT_THAT(ErrorOf(), HasSubstr("shard")) << shard;
  }
  Serve({{"model.safetensors.index.json", "[]"}});
  EXPECT_THAT(ErrorOf(), HasSubstr("has no weight_map"));
}

TEST_F(WeightsTest, FollowsARedirectToAnotherHostWithoutTheToken) {
  Serve({{"model.safetensors", kContent}});
  ScriptedServer storage([](const SeenRequest& request) {
    EXPECT_EQ(request.Header("authorization"), "");
    return Part(request, kContent);
  });
  on_file_ = [&](const SeenRequest& request) {
    EXPECT_EQ(request.Header("authorization"), "Bearer hf_secret");
    return Reply{.status = 302, .headers = {{"Location", storage.Url() + "/signed?x=1"}}};
  };
  const auto fetched = Fetch();
  ASSERT_TRUE(fetched.ok()) << fetched.error().message;
  EXPECT_EQ(Fetched(), kContent);
  EXPECT_THAT(storage.Requests(), SizeIs(1));
}

TEST_F(WeightsTest, SaysWhyThereAreNoWeights) {
  Serve({{"pytorch_model.bin", kContent}});
  EXPECT_THAT(ErrorOf(), HasSubstr("has no safetensors files"));
  listing_ = "[]";
  EXPECT_THAT(ErrorOf(), HasSubstr("lists no files"));
  const auto offline = Fetch(kBudget, /*offline=*/true);
  EXPECT_EQ(offline.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(offline.error().message, HasSubstr("has no weights"));
}

}  // namespace
}  // namespace breakwatch::hub
