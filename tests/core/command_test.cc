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

SweepRequest RequestFor(std::vector<std::pair<std::string, std::string>> models_in_modes) {
  SweepRequest request;
  request.saved_plan.emplace();
  for (auto& [model, mode] : models_in_modes) {
    PlannedModel& planned = request.saved_plan->models.emplace_back();
    planned.info.id = std::move(model), planned.mode = std::move(mode);
  }
  return request;
}

TEST(CheckNamesTest, NamesTheModelOfAPlanAndWhatIsWrongWithIt) {
  EXPECT_TRUE(CheckNames(RequestFor({{"a", "eval"}, {"a", "train"}, {"b", "eval"}})));
  EXPECT_EQ(
      CheckNames(RequestFor({{"a", "eval"}, {"b", "fast"}})).error().message,
      "models[1]: field \"mode\": expected eval, train, dynamic, fullgraph, nested, export, recompile or cold, not "
      "\"fast\"");
  EXPECT_EQ(CheckNames(RequestFor({{"a", "eval"}, {"a", "eval"}})).error().message,
            "models[1]: \"a\" is planned twice in mode eval");
  EXPECT_EQ(CheckNames(RequestFor({{"", "eval"}})).error().message, "models[0]: \"\" is not a valid model name");
}

TEST(CheckNamesTest, OnlyWhatIsImportedIsInModeImport) {
  SweepRequest request = RequestFor({{"a", kImport}});
  EXPECT_FALSE(CheckNames(request));
  request.imported.emplace();
  EXPECT_TRUE(CheckNames(request));
}

TEST(CommandQueueTest, RefusesWhenFullButAlwaysTakesAStop) {
  CommandQueue queue(1);
  EXPECT_TRUE(queue.Push(Named("a")));
  EXPECT_FALSE(queue.Push(Named("b")));
  EXPECT_TRUE(queue.Push(Named("stop", Command::Kind::kStop)));
}

}  // namespace
}  // namespace breakwatch
