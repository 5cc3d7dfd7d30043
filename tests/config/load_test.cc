#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/config/keys.h"
#include "config_fixture.h"

namespace breakwatch::config {
namespace {

using std::chrono::seconds;
using namespace std::chrono_literals;

Result<Loaded> FromEnvironment(std::map<std::string, std::string> variables) {
  return Load({.files = {}, .environment = std::move(variables), .flags = {}});
}

Result<Loaded> FromFlags(std::vector<std::pair<std::string, std::vector<std::string>>> flags) {
  return Load({.files = {}, .environment = {}, .flags = std::move(flags)});
}

TEST(LoadTest, ReturnsTheDefaultsWithoutSources) {
  const auto loaded = Load({});
  ASSERT_TRUE(loaded.ok());
  EXPECT_TRUE(ChangedKeys(loaded->settings, Settings{}).empty());
  EXPECT_EQ(StoreUrl(loaded->settings), "sqlite:var/breakwatch.db");
  EXPECT_EQ(EventFilePath(loaded->settings), "var/logs/events.jsonl");
}

TEST(LoadTest, PrefersFlagToEnvironmentToLaterFileToEarlierFile) {
  const TemporaryDirectory folder;
  const std::string first = folder.Write("1.yaml", "hub: {top: 1, retries: 1, concurrency: 1, search: one}\n");
  const std::string second = folder.Write("2.yaml", "hub: {top: 2, retries: 2, concurrency: 2}\n");
  const auto loaded = Load({.files = {first, second},
                            .environment = {{"BREAKWATCH_HUB_TOP", "3"}, {"BREAKWATCH_HUB_RETRIES", "3"}},
                            .flags = {{"hub.top", {"4"}}}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.hub.list.top, 4);
  EXPECT_EQ(loaded->settings.hub.retries, 3);
  EXPECT_EQ(loaded->settings.hub.concurrency, 2);
  EXPECT_EQ(loaded->settings.hub.list.search, "one");
  EXPECT_EQ(loaded->origins.at("hub.top").Text(), "flag --hub.top");
  EXPECT_EQ(loaded->origins.at("hub.retries").Text(), "environment BREAKWATCH_HUB_RETRIES");
  EXPECT_EQ(loaded->origins.at("hub.concurrency").Text(), "file " + second + ":1:40");
  EXPECT_EQ(loaded->origins.at("hub.search").Text(), "file " + first + ":1:51");
}

TEST(LoadTest, ReadsTheFilesFromTheEnvironmentWithoutAFlag) {
  const TemporaryDirectory folder;
  const std::string file = folder.Write("1.yaml", "hub: {top: 7}\n");
  const auto loaded = FromEnvironment({{"BREAKWATCH_CONFIG_FILE", file}});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(loaded->settings.hub.list.top, 7);
  EXPECT_EQ(loaded->files, std::vector<std::string>{file});
  EXPECT_TRUE(loaded->warnings.empty());
}

TEST(LoadTest, ReadsToolchainsWithTheirInterpretersAndShowsThemAsTheyWereWritten) {
  const auto loaded = FromFlags({{"capture.toolchains", {"old=/opt/old/bin/python", "next=next/bin/python"}}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.capture.toolchains,
            (std::vector<ToolchainRef>{{"old", "/opt/old/bin/python"}, {"next", "next/bin/python"}}));
  EXPECT_EQ(ValueText(*FindKey("capture.toolchains"), loaded->settings),
            R"(["old=/opt/old/bin/python", "next=next/bin/python"])");
  const auto without_python = FromFlags({{"capture.toolchains", {"old"}}});
  ASSERT_FALSE(without_python.ok());
  EXPECT_EQ(without_python.error().message,
            "flag --capture.toolchains: expected each item to be NAME=PYTHON such as old=.venv-old/bin/python, got "
            "\"old\"");
}

TEST(LoadTest, ReadsEveryTypeFromTheEnvironment) {
  const auto loaded = FromEnvironment({{"BREAKWATCH_HUB_FILTERS", "a,b"},
                                       {"BREAKWATCH_CAPTURE_LAUNCHER", R"(["srun", "-n,1"])"},
                                       {"BREAKWATCH_CAPTURE_LIMITS_RSS_BYTES", "512MiB"},
                                       {"BREAKWATCH_SWEEP_INTERVAL", "90s"},
                                       {"BREAKWATCH_HUB_GATED", "true"},
                                       {"BREAKWATCH_HUB_MIN_PARAMS", ""},
                                       {"BREAKWATCH_WEB_TOKEN", "hunter2"}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.hub.list.filters, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(loaded->settings.capture.launcher, (std::vector<std::string>{"srun", "-n,1"}));
  EXPECT_EQ(loaded->settings.capture.limits.rss_bytes, 512LL << 20);
  EXPECT_EQ(loaded->settings.sweep.interval, std::optional<milliseconds>(seconds(90)));
  EXPECT_EQ(loaded->settings.hub.list.gated, std::optional(true));
  EXPECT_EQ(loaded->settings.hub.list.min_params, std::nullopt);
  EXPECT_EQ(loaded->settings.web.token, "hunter2");
}

TEST(LoadTest, ReadsListsAndBooleansFromFlags) {
  const auto loaded = FromFlags({{"hub.filters", {"a", "b,c"}},
                                 {"capture.launcher", {"[]"}},
                                 {"hub.per_family", {}},
                                 {"exporters.pushgateway.gzip", {"false"}},
                                 {"sweep.interval", {"null"}}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_EQ(loaded->settings.hub.list.filters, (std::vector<std::string>{"a", "b,c"}));
  EXPECT_TRUE(loaded->settings.capture.launcher.empty());
  EXPECT_TRUE(loaded->settings.hub.list.per_family);
  EXPECT_FALSE(loaded->settings.exporters.pushgateway.gzip);
}

TEST(LoadTest, AcceptsOnlyNamesOfOurMetricsToDrop) {
  EXPECT_TRUE(FromFlags({{"metrics.drop", {"compile_graphs", "breakwatch_model_rank"}}}).ok());
  for (const char* name : {"graphs", "compile_graphs{model=\"a\"}", "Compile_graphs", "up"}) {
    const auto refused = FromFlags({{"metrics.drop", {name}}});
    ASSERT_FALSE(refused.ok()) << name;
    EXPECT_NE(refused.error().message.find("compile_graphs or breakwatch_model_rank"), std::string::npos);
  }
}

TEST(LoadTest, NamesTheVariableOrFlagThatIsWrong) {
  EXPECT_EQ(FromEnvironment({{"BREAKWATCH_HUB_TOP", "all"}}).error().message,
            "environment BREAKWATCH_HUB_TOP: expected an integer, got \"all\"");
  EXPECT_EQ(FromFlags({{"sweep.rebuild", {"maybe"}}}).error().message,
            "flag --sweep.rebuild: expected if-needed, always or never, got \"maybe\"");
  EXPECT_EQ(FromFlags({{"hub.top", {"1", "2"}}}).error().message, "flag --hub.top: given 2 times");
  EXPECT_EQ(FromFlags({{"web.token", {"hunter2"}}}).error().message, "flag --web.token: unknown setting");
}

TEST(LoadTest, ReportsTheProblemsOfAllSourcesTogether) {
  const TemporaryDirectory folder;
  const std::string file = folder.Write("1.yaml", "hub: {top: x}\n");
  const std::string message =
      ErrorOf({.files = {file}, .environment = {{"BREAKWATCH_LOG_LEVEL", "loud"}}, .flags = {{"hub.retries", {"-1"}}}});
  EXPECT_EQ(message, file +
                         ":1:12: \"hub.top\": expected an integer, got \"x\"\n"
                         "environment BREAKWATCH_LOG_LEVEL: expected debug, info, warn or error, got \"loud\"\n"
                         "flag --hub.retries: expected a value from 0 to 100, got \"-1\"");
}

TEST(LoadTest, WarnsOfVariablesThatAreNearASettingAndIgnoresOthers) {
  const auto loaded = FromEnvironment({{"BREAKWATCH_HUB_TOPP", "3"}, {"BREAKWATCH_PORT_9723_TCP_ADDR", "10.0.0.1"}});
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(
      loaded->warnings,
      std::vector<std::string>{"environment BREAKWATCH_HUB_TOPP is not a setting; did you mean BREAKWATCH_HUB_TOP?"});
}

TEST(LoadTest, OneOfTwoTimesThatLimitEachOtherMayBeSetAlone) {
  const auto timeout = Load({.files = {},
                             .environment = {},
                             .flags = {{"exporters.loki.timeout", {"2s"}}, {"exporters.pushgateway.timeout", {"1s"}}}});
  ASSERT_TRUE(timeout) << timeout.error().message;
  EXPECT_EQ(timeout->settings.exporters.loki.connect_timeout, 2s);
  EXPECT_EQ(timeout->settings.exporters.pushgateway.connect_timeout, 1s);
  EXPECT_EQ(timeout->origins.at("exporters.loki.connect_timeout").Text(), "default, at most exporters.loki.timeout");
  const auto connect =
      Load({.files = {},
            .environment = {},
            .flags = {{"exporters.loki.connect_timeout", {"90s"}}, {"delivery.first_backoff", {"2m"}}}});
  ASSERT_TRUE(connect) << connect.error().message;
  EXPECT_EQ(connect->settings.exporters.loki.timeout, 90s);
  EXPECT_EQ(connect->settings.delivery.max_backoff, 2min);
  EXPECT_NE(ErrorOf({.files = {},
                     .environment = {},
                     .flags = {{"exporters.loki.timeout", {"2s"}}, {"exporters.loki.connect_timeout", {"3s"}}}})
                .find("longer than timeout"),
            std::string::npos);
}

TEST(LoadTest, ChecksLabelsAndHeadersOfRemoteWrite) {
  const auto refused = [](const std::string& key, std::vector<std::string> values) {
    return ErrorOf({.files = {}, .environment = {}, .flags = {{"exporters.remote_write." + key, std::move(values)}}});
  };
  EXPECT_TRUE(FromFlags({{"exporters.remote_write.external_labels", {"cluster=eu-1", "_team=a=b c"}},
                         {"exporters.remote_write.headers", {"X-Group: ml: a"}},
                         {"exporters.remote_write.instance", {"host:9723"}}})
                  .ok());
  for (const char* bad :
       {"", "cluster", "cluster=", "=x", "1a=x", "__name__=x", "a-b=x", "a=x\ny", "job=x", "pool=x"}) {
    EXPECT_THAT(refused("external_labels", {bad}), testing::HasSubstr("external_labels")) << bad;
  }
  EXPECT_THAT(refused("external_labels", {"pool=x"}), testing::HasSubstr("pool has its own key"));
  EXPECT_THAT(refused("external_labels", {"a=1", "a=2"}), testing::HasSubstr("has a twice"));
  for (const char* bad : {"", "X-Group", "X-Group:", "X-Group: ", ": x", "X Group: x", "AUTHORIZATION: x", "Host: x"})
    EXPECT_THAT(refused("headers", {bad}), testing::HasSubstr("headers")) << bad;
}

TEST(LoadTest, TakesABearerTokenOrAUserButNotBoth) {
  const TemporaryDirectory folder;
  const std::string file = folder.Write("token", "secret\n");
  EXPECT_TRUE(FromFlags({{"exporters.remote_write.bearer_token_file", {file}}}).ok());
  EXPECT_THAT(ErrorOf({.files = {},
                       .environment = {{"BREAKWATCH_EXPORTERS_REMOTE_WRITE_BEARER_TOKEN", "x"}},
                       .flags = {{"exporters.remote_write.username", {"me"}}}}),
              testing::HasSubstr("is set besides a bearer token"));
  EXPECT_THAT(ErrorOf({.files = {},
                       .environment = {{"BREAKWATCH_EXPORTERS_REMOTE_WRITE_BEARER_TOKEN", "x"}},
                       .flags = {{"exporters.remote_write.bearer_token_file", {file}}}}),
              testing::HasSubstr("are both set"));
}

TEST(LoadTest, WarnsIfSeriesWouldDisappearBetweenTwoRemoteWrites) {
  const auto warnings = [](const char* interval) {
    return FromFlags(
               {{"exporters.remote_write.url", {"http://host/write"}}, {"exporters.remote_write.interval", {interval}}})
        ->warnings.size();
  };
  EXPECT_EQ(warnings("4m"), 0u);
  EXPECT_EQ(warnings("5m"), 1u);
}

// Changes the working directory for a scope.
class WorkingDirectory {
 public:
  explicit WorkingDirectory(const std::string& path) { std::filesystem::current_path(path); }
  ~WorkingDirectory() { std::filesystem::current_path(before_); }

 private:
  const std::filesystem::path before_ = std::filesystem::current_path();
};

TEST(LoadTest, AServiceKeepsItsStateInADirectoryOfItsOwn) {
  const auto state_dir = [](const Sources& sources) {
    const auto loaded = Load(sources);
    return loaded ? loaded->settings.state_dir : loaded.error().message;
  };
  EXPECT_EQ(state_dir({}), "var");
  EXPECT_EQ(state_dir({.files = {}, .environment = {{"STATE_DIRECTORY", "/var/lib/mine:/var/lib/other"}}, .flags = {}}),
            "/var/lib/mine");
  EXPECT_EQ(
      state_dir({.files = {}, .environment = {{"STATE_DIRECTORY", "/x"}, {"BREAKWATCH_STATE_DIR", "/y"}}, .flags = {}}),
      "/y");
  const WorkingDirectory root("/");
  EXPECT_EQ(state_dir({}), "/var/lib/breakwatch");
  EXPECT_EQ(state_dir({.files = {}, .environment = {}, .flags = {{"state_dir", {"/tmp/x"}}}}), "/tmp/x");
  for (const char* path : {"var", "/var", "/var/", "./var/.", "/", "tmp/../var"}) {
    EXPECT_NE(
        state_dir({.files = {}, .environment = {}, .flags = {{"state_dir", {path}}}}).find("belongs to the system"),
        std::string::npos)
        << path;
  }
}

TEST(LoadTest, AllowsAPasswordInTheStoreUrlFromTheEnvironmentOnly) {
  const std::string url = "postgresql://me:hunter2@db/breakwatch";
  EXPECT_TRUE(FromEnvironment({{"BREAKWATCH_STORE_URL", url}}).ok());
  const auto refused = FromFlags({{"store.url", {url}}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message.find("hunter2"), std::string::npos);
}

TEST(LoadTest, ReadsDurationsAndSizesOnlyWhenTheyFit) {
  const auto interval = [](const std::string& text) { return FromFlags({{"sweep.quarantine_for", {text}}}); };
  EXPECT_EQ(interval("1h30m")->settings.sweep.quarantine_for, std::chrono::minutes(90));
  EXPECT_EQ(interval("2d")->settings.sweep.quarantine_for, std::chrono::hours(48));
  for (const char* bad : {"", "s", "5", "5 s", "-5s", "1.5s", "5x", "99999999999999999999s", "9223372036854775807h"}) {
    EXPECT_FALSE(interval(bad).ok()) << bad;
  }
  for (const char* bad : {"", "KiB", "6GB", "1.5GiB", "9223372036854775807TiB", "64KiBx"}) {
    EXPECT_FALSE(FromFlags({{"exporters.file.max_bytes", {bad}}}).ok()) << bad;
  }
}

TEST(ReadSecretTest, TakesTheFileWithoutItsLineEnd) {
  const TemporaryDirectory folder;
  EXPECT_EQ(*ReadSecret("", folder.Write("token", "hunter2\n")), "hunter2");
  EXPECT_EQ(*ReadSecret("direct", ""), "direct");
  EXPECT_EQ(*ReadSecret("", ""), "");
  EXPECT_FALSE(ReadSecret("", folder.Path("missing")).ok());
  EXPECT_FALSE(ReadSecret("", folder.Write("empty", "\n")).ok());
  EXPECT_FALSE(ReadSecret("", folder.Write("huge", std::string(65 << 10, 'x'))).ok());
}

TEST(ChangedKeysTest, NamesWhatDiffers) {
  Settings before, after;
  after.hub.list.top = 31;
  after.capture.launcher.clear();
  EXPECT_EQ(ChangedKeys(before, after), (std::vector<std::string>{"hub.top", "capture.launcher"}));
}

TEST(ReloadTest, KeepsAndNamesWhatNeedsARestart) {
  Settings running, loaded;
  loaded.hub.list.top = 31;
  loaded.capture.worker = {"another"};
  loaded.exporters.pushgateway.url = "http://elsewhere:9091";
  const Reloaded reloaded = Reload(running, loaded);
  EXPECT_EQ(reloaded.settings.hub.list.top, 31);
  EXPECT_EQ(reloaded.settings.capture.worker, running.capture.worker);
  EXPECT_EQ(reloaded.settings.exporters.pushgateway.url, "");
  EXPECT_EQ(reloaded.need_restart, (std::vector<std::string>{"capture.worker", "exporters.pushgateway.url"}));
}

}  // namespace
}  // namespace breakwatch::config
