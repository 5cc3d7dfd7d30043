// The exit codes: which error has which, and which of several counts.
#include <gtest/gtest.h>

#include <vector>

#include "commands.h"

namespace breakwatch::commands {
namespace {

// From the first that applies to the last, as the guide lists them.
const std::vector<int> kInOrder = {kExitInterrupted, kExitUsage,       kExitConfig,  kExitStore, kExitUnavailable,
                                   kExitIncomplete,  kExitRegressions, kExitFailure, kExitOk};

TEST(ExitCodeTest, IsTheContracts) { EXPECT_EQ(kInOrder, (std::vector{130, 64, 78, 74, 69, 3, 2, 1, 0})); }

TEST(ExitCodeTest, IsTheFirstThatApplies) {
  for (std::size_t first = 0; first < kInOrder.size(); ++first) {
    for (std::size_t other = first; other < kInOrder.size(); ++other) {
      EXPECT_EQ(FirstThatApplies(kInOrder[first], kInOrder[other]), kInOrder[first]);
      EXPECT_EQ(FirstThatApplies(kInOrder[other], kInOrder[first]), kInOrder[first]);
    }
  }
}

TEST(ExitCodeTest, FollowsFromTheKindOfAnError) {
  EXPECT_EQ(ExitCode({ErrorCode::kInterrupted, ""}), 130);
  EXPECT_EQ(ExitCode({ErrorCode::kUsage, ""}), 64);
  EXPECT_EQ(ExitCode({ErrorCode::kConfig, ""}), 78);
  EXPECT_EQ(ExitCode({ErrorCode::kStore, ""}), 74);
  EXPECT_EQ(ExitCode({ErrorCode::kUnavailable, ""}), 69);
  for (const ErrorCode code : {ErrorCode::kNotFound, ErrorCode::kInvalid, ErrorCode::kInternal}) {
    EXPECT_EQ(ExitCode({code, ""}), 1);
  }
}

Sweep Ended(bool complete, const std::string& status = "full_graph") {
  Sweep sweep;
  sweep.complete = complete;
  sweep.statuses = {{status, 1}};
  return sweep;
}

TEST(RequestCodeTest, IsTheWorstOfAllSweeps) {
  EXPECT_EQ(CodeOfRequest({{Ended(true)}, {}, {}}, false), kExitOk);
  EXPECT_EQ(CodeOfRequest({{Ended(true), Ended(false)}, {}, {}}, false), kExitIncomplete);
  EXPECT_EQ(CodeOfRequest({{Ended(true)}, {"loki"}, {}}, false), kExitIncomplete);
  EXPECT_EQ(CodeOfRequest({{Ended(false)}, {}, Error{ErrorCode::kStore, "full"}}, false), kExitStore);
  EXPECT_EQ(CodeOfRequest({{Ended(false)}, {}, Error{ErrorCode::kInternal, "no toolchain"}}, false), kExitIncomplete);
}

TEST(RequestCodeTest, CountsAModelThatWasNotFoundOnlyIfItWasNamed) {
  EXPECT_EQ(CodeOfRequest({{Ended(true, "skipped_not_found")}, {}, {}}, true), kExitFailure);
  EXPECT_EQ(CodeOfRequest({{Ended(true, "skipped_not_found")}, {}, {}}, false), kExitOk);
}

}  // namespace
}  // namespace breakwatch::commands
