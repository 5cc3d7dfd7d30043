#include <gtest/gtest.h>

#include <map>

#include "breakwatch/hub/hub_options.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

using namespace std::chrono_literals;

HubOptions From(const std::map<std::string, std::string>& variables) {
  return HubOptionsFromEnvironment(
      [&](const char* name) {
        const auto entry = variables.find(name);
        return entry == variables.end() ? nullptr : entry->second.c_str();
      },
      "breakwatch/1");
}

TEST(HubEnvironmentTest, HasTheHubsDefaults) {
  const HubOptions options = From({{"HOME", "/home/x"}});
  EXPECT_EQ(options.endpoint, "https://huggingface.co");
  EXPECT_EQ(options.cache_dir, "/home/x/.cache/huggingface/hub");
  EXPECT_EQ(options.token, "");
  EXPECT_EQ(options.connect_timeout, 10s);
  EXPECT_EQ(options.user_agent, "breakwatch/1");
  EXPECT_FALSE(options.offline);
}

TEST(HubEnvironmentTest, StripsTheEndpointsSlashes) {
  EXPECT_EQ(From({{"HF_ENDPOINT", "https://mirror.example/hf//"}}).endpoint, "https://mirror.example/hf");
  EXPECT_EQ(From({{"HF_ENDPOINT", ""}}).endpoint, "https://huggingface.co");
}

TEST(HubEnvironmentTest, FindsTheCacheByTheNearestVariable) {
  EXPECT_EQ(From({{"XDG_CACHE_HOME", "/c"}}).cache_dir, "/c/huggingface/hub");
  EXPECT_EQ(From({{"XDG_CACHE_HOME", "/c"}, {"HF_HOME", "/h"}}).cache_dir, "/h/hub");
  EXPECT_EQ(From({{"HF_HOME", "/h"}, {"HUGGINGFACE_HUB_CACHE", "/old"}}).cache_dir, "/old");
  EXPECT_EQ(From({{"HUGGINGFACE_HUB_CACHE", "/old"}, {"HF_HUB_CACHE", "/new"}}).cache_dir, "/new");
}

TEST(HubEnvironmentTest, ExpandsHomeAndVariables) {
  EXPECT_EQ(From({{"HOME", "/home/x"}, {"HF_HUB_CACHE", "~/hub"}}).cache_dir, "/home/x/hub");
  EXPECT_EQ(From({{"D", "/data"}, {"HF_HUB_CACHE", "$D/${D}x/$NOPE/${D"}}).cache_dir, "/data//datax/$NOPE/${D");
}

TEST(HubEnvironmentTest, TakesTheTokenFromTheEnvironmentBeforeTheFile) {
  fakes::TemporaryDirectory home;
  home.Write("token", "hf_file\n");
  home.Write("other", "  hf_other  \r\n");
  const std::string path = home.path().string();
  EXPECT_EQ(From({{"HF_HOME", path}}).token, "hf_file");
  EXPECT_EQ(From({{"HF_HOME", path}, {"HF_TOKEN_PATH", home / "other"}}).token, "hf_other");
  EXPECT_EQ(From({{"HF_HOME", path}, {"HUGGING_FACE_HUB_TOKEN", "hf_legacy"}}).token, "hf_legacy");
  EXPECT_EQ(From({{"HF_TOKEN", " hf_env\n"}, {"HUGGING_FACE_HUB_TOKEN", "hf_legacy"}}).token, "hf_env");
  EXPECT_EQ(From({{"HF_HOME", path}, {"HF_TOKEN", " \n"}}).token, "hf_file");
}

TEST(HubEnvironmentTest, UsesNoTokenWhenImplicitUseIsDisabled) {
  EXPECT_EQ(From({{"HF_TOKEN", "hf_env"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "yes"}}).token, "");
  EXPECT_EQ(From({{"HF_TOKEN", "hf_env"}, {"HF_HUB_DISABLE_IMPLICIT_TOKEN", "0"}}).token, "hf_env");
}

TEST(HubEnvironmentTest, ReadsOfflineLikeThePythonClient) {
  for (const char* yes : {"1", "on", "YES", "True"}) EXPECT_TRUE(From({{"HF_HUB_OFFLINE", yes}}).offline) << yes;
  for (const char* no : {"0", "off", "2", ""}) EXPECT_FALSE(From({{"HF_HUB_OFFLINE", no}}).offline) << no;
  EXPECT_TRUE(From({{"TRANSFORMERS_OFFLINE", "1"}}).offline);
  EXPECT_TRUE(From({{"HF_HUB_OFFLINE", ""}, {"TRANSFORMERS_OFFLINE", "1"}}).offline);
  EXPECT_FALSE(From({{"HF_HUB_OFFLINE", "0"}, {"TRANSFORMERS_OFFLINE", "1"}}).offline);
}

TEST(HubEnvironmentTest, ReadsTimeoutsAndTheOrigin) {
  const HubOptions options =
      From({{"HF_HUB_ETAG_TIMEOUT", "3"}, {"HF_HUB_DOWNLOAD_TIMEOUT", "90"}, {"HF_HUB_USER_AGENT_ORIGIN", "ci"}});
  EXPECT_EQ(options.connect_timeout, 3s);
  EXPECT_EQ(options.timeout, 90s);
  EXPECT_GE(options.list_timeout, 90s);
  EXPECT_EQ(options.user_agent, "breakwatch/1; origin/ci");
  EXPECT_EQ(From({{"HF_HUB_ETAG_TIMEOUT", "soon"}}).connect_timeout, 10s);
}

}  // namespace
}  // namespace breakwatch::hub
