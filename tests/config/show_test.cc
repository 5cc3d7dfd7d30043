#include "breakwatch/config/show.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "breakwatch/config/keys.h"
#include "config_fixture.h"

namespace breakwatch::config {
namespace {

Loaded WithSecrets() {
  auto loaded = Load({.files = {},
                      .environment = {{"BREAKWATCH_WEB_TOKEN", "hunter2"},
                                      {"BREAKWATCH_STORE_URL", "postgresql://me:hunter2@db/x?sslmode=require"},
                                      {"BREAKWATCH_HUB_TOP", "5"}},
                      .flags = {{"sweep.interval", {"24h"}}}});
  EXPECT_TRUE(loaded.ok());
  return *loaded;
}

TEST(ShowTest, ReportsTheOriginOfEachValueAndHidesSecrets) {
  const std::string text = ShowText(WithSecrets());
  EXPECT_NE(text.find("environment BREAKWATCH_HUB_TOP\n"), std::string::npos);
  EXPECT_NE(text.find("flag --sweep.interval\n"), std::string::npos);
  EXPECT_NE(text.find("postgresql://me:<secret>@db/x"), std::string::npos);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), Keys().size());
}

TEST(ShowTest, WritesTypedJson) {
  const std::string text = ShowJson(WithSecrets());
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  const auto json = nlohmann::json::parse(text);
  ASSERT_EQ(json["settings"].size(), Keys().size());
  std::map<std::string, nlohmann::json> values;
  for (const auto& setting : json["settings"]) values[setting["key"]] = setting["value"];
  EXPECT_EQ(values["hub.top"], 5);
  EXPECT_EQ(values["hub.per_family"], false);
  EXPECT_TRUE(values["hub.gated"].is_null());
  EXPECT_EQ(values["sweep.interval"], "24h");
  EXPECT_EQ(values["web.token"], "<secret>");
}

TEST(CheckTextTest, NamesTheFilesAndCountsWhatIsSet) {
  EXPECT_EQ(CheckText(WithSecrets()),
            "ok: no file, 4 of " + std::to_string(Keys().size()) + " settings differ from the default\n");
}

TEST(ExplainTest, PrintsEverythingAboutAKey) {
  const auto text = ExplainText("sweep.rebuild");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text,
            "sweep.rebuild\n"
            "  Which known captures are repeated: if-needed, always, never.\n"
            "  type         one of these values\n"
            "  default      \"if-needed\"\n"
            "  environment  BREAKWATCH_SWEEP_REBUILD\n"
            "  flag         --sweep.rebuild\n"
            "  changes      take effect after a reload\n");
}

TEST(ExplainTest, AcceptsASectionOrNothingAndSuggestsTheNearestName) {
  EXPECT_EQ(nlohmann::json::parse(*ExplainJson("capture.limits")).size(), 6u);
  EXPECT_EQ(nlohmann::json::parse(*ExplainJson("")).size(), Keys().size());
  const auto unknown = ExplainText("hub.tops");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().code, ErrorCode::kUsage);
  EXPECT_EQ(unknown.error().message, "unknown setting \"hub.tops\"; did you mean \"hub.top\"?");
}

TEST(ExampleTest, IsTheFileInTheTreeAndEqualsTheDefaults) {
  const std::string path = std::string(BREAKWATCH_SOURCE_DIR) + "/config/breakwatch.example.yaml";
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), ExampleYaml());
  const auto loaded = Load({.files = {path}, .environment = {}, .flags = {}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_TRUE(ChangedKeys(loaded->settings, Settings{}).empty());
  for (const Key& key : Keys()) {
    EXPECT_EQ(loaded->origins.at(key.name).kind == Origin::Kind::kFile, !key.is_secret) << key.name;
  }
}

}  // namespace
}  // namespace breakwatch::config
