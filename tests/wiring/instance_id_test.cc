#include "instance_id.h"

#include <gtest/gtest.h>

#include "fakes/temporary_directory.h"

namespace breakwatch::wiring {
namespace {

TEST(InstanceIdTest, IsMadeOnceForAStateDirectory) {
  const fakes::TemporaryDirectory folder;
  const std::string state = folder / "state";
  const auto made = InstanceId(state);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->size(), 36u);
  EXPECT_EQ(*InstanceId(state), *made);
  EXPECT_NE(*InstanceId(folder / "other"), *made);
}

TEST(InstanceIdTest, ReplacesAFileThatHasNone) {
  const fakes::TemporaryDirectory folder;
  folder.Write("instance-id", "half");
  const auto made = InstanceId(folder.path().string());
  ASSERT_TRUE(made);
  EXPECT_EQ(made->size(), 36u);
  EXPECT_EQ(*InstanceId(folder.path().string()), *made);
}

TEST(InstanceIdTest, NamesTheFileThatItCannotWrite) {
  const auto made = InstanceId("/dev/null/state");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("/dev/null"), std::string::npos);
}

}  // namespace
}  // namespace breakwatch::wiring
