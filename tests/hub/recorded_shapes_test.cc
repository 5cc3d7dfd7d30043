// Bodies recorded from the Hub in several years. They are read in place, if they exist on this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "listed_model.h"
#include "pacer.h"
#include "url.h"

namespace breakwatch::hub {
namespace {

const std::string kFolder = BREAKWATCH_SOURCE_DIR "/../shared/hub/api/";

std::vector<Json> Lines(const std::string& name) {
  std::vector<Json> lines;
  std::ifstream file(kFolder + name);
  for (std::string line; std::getline(file, line);) lines.push_back(*ParseJson(line, 64u << 20, 64));
  return lines;
}

#define SKIP_WITHOUT(name) \
  if (!std::filesystem::exists(kFolder + name)) GTEST_SKIP() << kFolder + name << " is not there"

TEST(RecordedShapesTest, ReadsEveryModelOf2022) {
  SKIP_WITHOUT("models_by_downloads_2022-02.jsonl");
  const auto families = FamilyTable::Load("");
  std::optional<std::int64_t> before;
  for (const Json& line : Lines("models_by_downloads_2022-02.jsonl")) {
    const auto model = ReadListedModel(line, *families);
    ASSERT_TRUE(model.ok()) << model.error().message;
    ASSERT_TRUE(model->info.downloads) << model->info.id;
    EXPECT_LE(*model->info.downloads, before.value_or(*model->info.downloads)) << model->info.id;
    before = model->info.downloads;
  }
  EXPECT_TRUE(before);
}

TEST(RecordedShapesTest, ReadsEveryRecordedInfoBody) {
  SKIP_WITHOUT("recorded_model_info.jsonl");
  const auto families = FamilyTable::Load("");
  int full = 0;
  int redirects = 0;
  for (const Json& line : Lines("recorded_model_info.jsonl")) {
    const std::string uri = line["uri"];
    if (line["status"]["code"] == 307) {
      const auto target = ResolveLocation(uri, line["headers"]["Location"][0].get<std::string>());
      EXPECT_TRUE(target && target->starts_with("https://huggingface.co/api/models/")) << uri;
      ++redirects;
      continue;
    }
    const auto body = ParseJson(line["body"].get<std::string>(), 16u << 20, 64);
    ASSERT_TRUE(body.ok()) << uri;
    const auto model = ReadListedModel(*body, *families);
    ASSERT_TRUE(model.ok()) << uri;
    if (uri.find('?') != std::string::npos) continue;
    ++full;
    EXPECT_EQ(model->info.sha.size(), 40u) << uri;
    EXPECT_NE(model->info.family, Family::kUnknown) << uri;
    EXPECT_TRUE(model->info.gated.empty() || model->info.gated == "auto" || model->info.gated == "manual");
  }
  EXPECT_GT(full, 0);
  EXPECT_GT(redirects, 0);
}

TEST(RecordedShapesTest, ReadsRecordedRateLimitsAndLinks) {
  SKIP_WITHOUT("header_captures.json");
  std::ifstream file(kFolder + "header_captures.json");
  const Json captures = Json::parse(file);
  int limits = 0;
  for (const Json& capture : captures["captures"]) {
    for (const Json& header : capture.value("headers", Json::array())) {
      if (header[0] != "ratelimit") continue;
      EXPECT_TRUE(ReadRateLimit({200, {{"ratelimit", header[1]}}, ""})) << header[1];
      ++limits;
    }
  }
  EXPECT_GT(limits, 0);
}

}  // namespace
}  // namespace breakwatch::hub
