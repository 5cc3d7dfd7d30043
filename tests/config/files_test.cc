// Loads every file of tests/data/config: good ones load, and bad ones give exactly the error in the file beside them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "breakwatch/config/inputs_file.h"
#include "config_fixture.h"

namespace breakwatch::config {
namespace {

namespace fs = std::filesystem;

std::string ReadText(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> DataFiles(const std::string& prefix) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(fs::path(BREAKWATCH_TEST_DATA) / "config")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() == ".yaml" && name.starts_with(prefix)) names.push_back(name);
  }
  return names;
}

std::string NameOf(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class GoodFileTest : public testing::TestWithParam<std::string> {};
class BadFileTest : public testing::TestWithParam<std::string> {};

TEST_P(GoodFileTest, Loads) {
  const fs::path file = fs::path(BREAKWATCH_TEST_DATA) / "config" / (GetParam() + ".yaml");
  const auto loaded = Load({.files = {file.string()}, .environment = {}, .flags = {}});
  EXPECT_TRUE(loaded.ok()) << loaded.error().message;
}

TEST_P(BadFileTest, SaysWhatStandsBesideIt) {
  const fs::path folder = fs::path(BREAKWATCH_TEST_DATA) / "config";
  const auto loaded = Load({.files = {(folder / (GetParam() + ".yaml")).string()}, .environment = {}, .flags = {}});
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kConfig);
  std::string message = loaded.error().message + "\n";
  const std::string prefix = folder.string() + "/";
  for (auto at = message.find(prefix); at != std::string::npos; at = message.find(prefix))
    message.erase(at, prefix.size());
  std::string expected = ReadText(folder / (GetParam() + ".expected"));
  // The parser's own words may change with its version: a short expectation is a beginning.
  if (message.find("not YAML") != std::string::npos) {
    expected.pop_back();
    message.resize(std::min(message.size(), expected.size()));
  }
  EXPECT_EQ(message, expected);
}

INSTANTIATE_TEST_SUITE_P(Data, GoodFileTest, testing::ValuesIn(DataFiles("good-")), NameOf);
INSTANTIATE_TEST_SUITE_P(Data, BadFileTest, testing::ValuesIn(DataFiles("bad-")), NameOf);

TEST(FileTest, SetsEveryFormOfValue) {
  const std::string file = std::string(BREAKWATCH_TEST_DATA) + "/config/good-sections.yaml";
  const auto loaded = Load({.files = {file}, .environment = {}, .flags = {}});
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  const Settings& s = loaded->settings;
  EXPECT_EQ(s.state_dir, "/srv/breakwatch");
  EXPECT_EQ(s.hub.list.top, 100);
  EXPECT_TRUE(s.hub.list.per_family);
  EXPECT_EQ(s.hub.list.filters, (std::vector<std::string>{"text-generation", "pytorch"}));
  EXPECT_EQ(s.hub.list.gated, std::optional(false));
  EXPECT_EQ(s.hub.list.max_params, std::optional<std::int64_t>(70'000'000'000));
  EXPECT_TRUE(s.capture.launcher.empty());
  EXPECT_EQ(s.capture.limits.create, std::chrono::minutes(2));
  EXPECT_EQ(s.capture.limits.rss_bytes, 8LL << 30);
  EXPECT_EQ(s.capture.seed, 18446744073709551615u);
  EXPECT_EQ(s.sweep.interval, std::optional<milliseconds>(std::chrono::minutes(90)));
  EXPECT_EQ(s.exporters.pushgateway.url, "http://[::1]:9091/prefix");
  EXPECT_EQ(loaded->origins.at("hub.top").Text(), "file " + file + ":6:8");
  EXPECT_EQ(loaded->origins.at("hub.sort").Text(), "default");
}

TEST(FileTest, RefusesWhatIsNoReadableText) {
  const TemporaryDirectory folder;
  const auto error = [](const std::string& file) { return ErrorOf({.files = {file}, .environment = {}, .flags = {}}); };
  EXPECT_EQ(error("/does/not/exist.yaml"), "/does/not/exist.yaml: cannot be read: No such file or directory");
  EXPECT_NE(error("/tmp").find("/tmp: cannot be read: Is a directory"), std::string::npos);
  const std::string huge = folder.Write("huge.yaml", "# " + std::string(1 << 20, 'x'));
  EXPECT_EQ(error(huge), huge + ": is longer than 1 MiB");
  const std::string bytes = folder.Write("bytes.yaml", "state_dir: \xff\xfe\n");
  EXPECT_EQ(error(bytes), bytes + ": is not UTF-8 text");
}

TEST(FileTest, ReportsWhyAnInputsFileCannotBeRead) {
  EXPECT_EQ(ReadInputsFile("/does/not/exist.json").error().message,
            "capture.inputs_file /does/not/exist.json: cannot be read: No such file or directory");
  EXPECT_TRUE(ReadInputsFile("").ok());
}

TEST(FileTest, BoundsWhatItReports) {
  const TemporaryDirectory folder;
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "unknown_" + std::to_string(i) + ": 1\n";
  const std::string message = ErrorOf({.files = {folder.Write("many.yaml", text)}, .environment = {}, .flags = {}});
  EXPECT_EQ(std::count(message.begin(), message.end(), '\n'), kMaxProblems);
  EXPECT_NE(message.find("... and 980 more problems"), std::string::npos);
}

// Damage anywhere, by a fixed generator: the answer is settings or problems, never an end of the program.
TEST(FileTest, SurvivesAnyDamage) {
  const TemporaryDirectory folder;
  const std::string good = ReadText(fs::path(BREAKWATCH_TEST_DATA) / "config" / "good-sections.yaml");
  const std::string pieces[] = {"\t", ":",  "- ", "{",   "[",    "&a ", "*a",   "!!binary ",         "\"",
                                "'",  "\n", "%",  "|\n", "<<: ", "? ",  "\xff", std::string(1, '\0')};
  unsigned state = 7;
  const auto below = [&](std::size_t bound) {
    state = state * 1664525u + 1013904223u;
    return state / 65536 % bound;
  };
  for (int round = 0; round < 600; ++round) {
    std::string text = good;
    for (std::size_t cuts = below(4) + 1; cuts > 0; --cuts) {
      text.replace(below(text.size()), below(5), pieces[below(std::size(pieces))]);
    }
    const auto loaded = Load({.files = {folder.Write("damaged.yaml", text)}, .environment = {}, .flags = {}});
    if (!loaded.ok()) {
      EXPECT_EQ(loaded.error().code, ErrorCode::kConfig);
      EXPECT_NE(loaded.error().message.find("damaged.yaml"), std::string::npos) << loaded.error().message;
    }
  }
}

TEST(FileTest, SurvivesAliasesThatPointAtThemselves) {
  const TemporaryDirectory folder;
  const std::string file = folder.Write("loop.yaml", "hub: &a\n  filters: &b [*b]\n  top: *a\n");
  const std::string message = ErrorOf({.files = {file}, .environment = {}, .flags = {}});
  EXPECT_NE(message.find("\"hub.filters\": expected a list of texts"), std::string::npos);
  EXPECT_NE(message.find("\"hub.top\": expected an integer, got a mapping"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::config
