#include "breakwatch/core/durable_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "fakes/temporary_directory.h"

namespace breakwatch {
namespace {

namespace fs = std::filesystem;

TEST(DurableFilesTest, AFolderMovesToANameInTheCurrentDirectory) {
  const fakes::TemporaryDirectory folder;
  const fs::path before = fs::current_path();
  fs::create_directories(folder / "work");
  std::ofstream(folder / "work/file") << "text";
  fs::current_path(folder.path());
  const auto moved = MoveIntoPlace("work", "package");
  fs::current_path(before);
  EXPECT_TRUE(moved.ok()) << moved.error().message;
  EXPECT_TRUE(fs::exists(folder / "package/file"));
}

TEST(DurableFilesTest, AFileThatCannotBeReplacedLeavesNothingBeside) {
  const fakes::TemporaryDirectory folder;
  fs::create_directories(folder / "card/in the way");
  EXPECT_FALSE(WriteWhole(folder / "card", "text").ok());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace breakwatch
