#include <gmock/gmock.h>
#include <unistd.h>

#include "breakwatch/capture/run_process.h"

namespace breakwatch::capture {
namespace {

using std::chrono::milliseconds;
using testing::UnorderedElementsAre;

constexpr milliseconds kLong{20'000};

Result<ProcessEnd> FollowShell(const std::string& script, const Follow& follow, milliseconds timeout = kLong) {
  return FollowProcess({"sh", "-c", script}, {"PATH=/usr/bin:/bin"}, timeout, follow);
}

TEST(FollowProcessTest, GivesEachLineOfBothOutputsAndTheExitCode) {
  std::vector<std::string> lines;
  const auto end = FollowShell("echo one; echo two >&2; printf last; exit 3",
                               {[&](std::string_view line) { lines.emplace_back(line); }, {}, -1});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->value, 3);
  EXPECT_THAT(lines, UnorderedElementsAre("one", "two", "last"));
}

TEST(FollowProcessTest, CutsALineThatDoesNotEnd) {
  std::size_t longest = 0, bytes = 0;
  const auto end = FollowShell("head -c 1000000 /dev/zero | tr '\\0' x", {[&](std::string_view line) {
                                                                            longest = std::max(longest, line.size());
                                                                            bytes += line.size();
                                                                          },
                                                                          {},
                                                                          -1});
  ASSERT_TRUE(end);
  EXPECT_LE(longest, 64u << 10);
  EXPECT_GT(bytes, 0u);
}

TEST(FollowProcessTest, KillsTheProgramWhenTheDescriptorIsReadable) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Follow follow{[&](std::string_view) { ASSERT_EQ(write(ends[1], "x", 1), 1); }, {}, ends[0]};
  const auto end = FollowShell("echo begun; exec sleep 1000", follow);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kInterrupted);
  close(ends[0]), close(ends[1]);
}

TEST(FollowProcessTest, EndsAProgramThatTakesTooLong) {
  const auto end = FollowShell("exec sleep 1000", {}, milliseconds{1});
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
}

TEST(FollowProcessTest, SaysThatThereIsNoSuchProgram) {
  const auto end = FollowProcess({"/nowhere/pip"}, {}, kLong, {});
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, testing::HasSubstr("/nowhere/pip"));
}

}  // namespace
}  // namespace breakwatch::capture
