#include "breakwatch/page/page_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace breakwatch::page {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(BREAKWATCH_SOURCE_DIR) / "dashboards/page";

fs::path SourceOf(const PageFile& file) {
  return file.path == "/" ? kFolder / "index.html" : kFolder / file.path.substr(std::string_view("/page/").size());
}

TEST(PageFilesTest, AreTheFilesOfTheFolder) {
  std::set<fs::path> embedded, stored;
  for (const PageFile& file : PageFiles()) {
    std::ifstream in(SourceOf(file), std::ios::binary);
    EXPECT_EQ(Plain(file), std::string(std::istreambuf_iterator<char>(in), {})) << file.path;
    embedded.insert(SourceOf(file));
  }
  for (const auto& entry : fs::recursive_directory_iterator(kFolder)) {
    const std::string kind = entry.path().extension();
    if (kind == ".js" || kind == ".css" || kind == ".html" || kind == ".svg") stored.insert(entry.path());
  }
  EXPECT_EQ(embedded, stored);
}

TEST(PageFilesTest, AreBelow150KilobytesInAll) {
  std::size_t sum = 0;
  for (const PageFile& file : PageFiles()) sum += file.gzip.size();
  EXPECT_LT(sum, 150'000u);
}

TEST(PageFilesTest, HaveATypeAndATagOfTheirOwn) {
  std::set<std::string_view> tags;
  for (const PageFile& file : PageFiles()) tags.insert(file.etag);
  EXPECT_EQ(tags.size(), PageFiles().size());
  EXPECT_EQ(FindPageFile("/")->content_type, "text/html; charset=utf-8");
  EXPECT_EQ(FindPageFile("/page/app.js")->content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(FindPageFile("/page/../app.js"), nullptr);
  EXPECT_EQ(FindPageFile("/index.html"), nullptr);
}

}  // namespace
}  // namespace breakwatch::page
