#include "breakwatch/core/command.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace breakwatch {
namespace {

bool Readable(int fd) {
  pollfd poll_fd{fd, POLLIN, 0};
  return poll(&poll_fd, 1, 0) == 1;
}

Command Named(std::string id, Command::Kind kind = Command::Kind::kSweep) {
  Command command;
  command.id = std::move(id);
  command.kind = kind;
  return command;
}

TEST(CommandQueueTest, IsReadableExactlyWhileCommandsWait) {
  CommandQueue queue;
  EXPECT_FALSE(Readable(queue.Fd()));
  ASSERT_TRUE(queue.Push(Named("a")));
  ASSERT_TRUE(queue.Push(Named("b")));
  EXPECT_TRUE(Readable(queue.Fd()));
  EXPECT_EQ(queue.Pop()->id, "a");
  EXPECT_TRUE(Readable(queue.Fd()));
  EXPECT_EQ(queue.Pop()->id, "b");
  EXPECT_FALSE(Readable(queue.Fd()));
  EXPECT_FALSE(queue.Pop());
}

TEST(CommandQueueTest, RefusesWhenFullButAlwaysTakesAStop) {
  CommandQueue queue(1);
  EXPECT_TRUE(queue.Push(Named("a")));
  EXPECT_FALSE(queue.Push(Named("b")));
  EXPECT_TRUE(queue.Push(Named("stop", Command::Kind::kStop)));
}

}  // namespace
}  // namespace breakwatch
