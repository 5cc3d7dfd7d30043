#include "prose.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "escape.h"

namespace breakwatch::report {
namespace {

using testing::ElementsAre;

Style Reader() { return {.directory = "/home/ada/project", .home = "/home/ada"}; }

TEST(ShortPathsTest, BeginWithThePackageTheFolderOrTheHome) {
  const std::pair<const char*, const char*> kCases[] = {
      {"/x/.venv/lib/python3.11/site-packages/transformers/models/bart/modeling_bart.py",
       "transformers/models/bart/modeling_bart.py"},
      {"/home/ada/project/.venv/lib/python3.11/site-packages/torch/nn/modules/module.py", "torch/nn/modules/module.py"},
      {"/usr/lib/python3/dist-packages/numpy/core.py", "numpy/core.py"},
      {"/usr/lib/python3.11/asyncio/tasks.py", "asyncio/tasks.py"},
      {"/home/ada/project/nets/mine.py", "nets/mine.py"},
      {"/home/ada/other/mine.py", "~/other/mine.py"},
      {"/home/adam/mine.py", "/home/adam/mine.py"},
      {"/srv/shared/mine.py", "/srv/shared/mine.py"},
      {"a/b site-packages/c", "a/b site-packages/c"},
      {"/home/ada", "/home/ada"},
  };
  for (const auto& [path, wanted] : kCases) EXPECT_EQ(ShortPaths(path, Reader()), wanted);
  EXPECT_EQ(ShortPaths("/home/ada/project/nets/mine.py", {}), "/home/ada/project/nets/mine.py");
}

TEST(ShortPathsTest, KeepEverythingAroundThePaths) {
  EXPECT_EQ(
      ShortPaths("File \"/v/lib/python3.11/site-packages/torch/a.py\", line 7, in f\n(/home/ada/x.py:3) 1/2 of it",
                 Reader()),
      "File \"torch/a.py\", line 7, in f\n(~/x.py:3) 1/2 of it");
}

TEST(WrappedTest, BreaksAtBlanksAndKeepsEveryWord) {
  EXPECT_THAT(Wrapped("one two three four", 9), ElementsAre("one two", "three", "four"));
  EXPECT_THAT(Wrapped("", 9), ElementsAre(""));
  EXPECT_THAT(Wrapped("a transformers/models/x.py:7 b", 5), ElementsAre("a", "transformers/models/x.py:7", "b"));
  EXPECT_THAT(Wrapped("模型 模型", 4), ElementsAre("模型", "模型"));
}

TEST(FitEndTest, KeepsTheEndWithinItsColumns) {
  EXPECT_EQ(FitEnd("a/long/way/file.py:12", 11), "…file.py:12");
  EXPECT_EQ(FitEnd("file.py:12", 10), "file.py:12");
  EXPECT_EQ(FitEnd("abc", 0), "");
  for (std::size_t columns = 0; columns < 8; ++columns) {
    EXPECT_LE(DisplayWidth(FitEnd("模型a模型b", columns)), columns) << columns;
  }
}

}  // namespace
}  // namespace breakwatch::report
