#include "breakwatch/core/status.h"

#include <gtest/gtest.h>

#include <set>

#include "breakwatch/core/family.h"

namespace breakwatch {
namespace {

TEST(StatusTest, EveryNameParsesBackToItsStatus) {
  std::set<std::string_view> names;
  for (const Status status : AllStatuses()) {
    EXPECT_EQ(ParseStatus(StatusName(status)), status);
    names.insert(StatusName(status));
  }
  EXPECT_EQ(names.size(), AllStatuses().size());
  EXPECT_EQ(ParseStatus("fine"), std::nullopt);
}

TEST(StatusTest, KeepsWhatAnotherCaptureWouldRepeat) {
  const std::set<std::string_view> kept = {"full_graph",    "graph_breaks", "failed_create",
                                           "failed_inputs", "failed_eager", "failed_capture"};
  for (const Status status : AllStatuses()) EXPECT_EQ(IsReusable(status), kept.contains(StatusName(status)));
}

TEST(StatusTest, QuarantineCountsOnlyEndsThatHurtTheHost) {
  const std::set<std::string_view> counted = {"timeout", "out_of_memory", "crashed"};
  for (const Status status : AllStatuses()) {
    EXPECT_EQ(CountsTowardsQuarantine(status), counted.contains(StatusName(status)));
  }
}

TEST(StatusTest, SkippedStatusesHaveTheirPrefix) {
  for (const Status status : AllStatuses()) {
    EXPECT_EQ(breakwatch::IsSkipped(status), StatusName(status).starts_with("skipped_")) << StatusName(status);
  }
}

TEST(StatusTest, StagesOfAnArtifactAreTriedAgain) {
  for (const char* name : {"failed_build", "failed_check", "wrong_result", "failed_publish"}) {
    const auto status = ParseStatus(name);
    ASSERT_TRUE(status) << name;
    EXPECT_FALSE(HasNumbers(*status) || IsReusable(*status) || IsIncomplete(*status)) << name;
  }
}

TEST(FamilyTest, EveryNameParsesBackToItsFamily) {
  for (const Family family : AllFamilies()) EXPECT_EQ(ParseFamily(FamilyName(family)), family);
  EXPECT_EQ(ParseFamily("NLP"), std::nullopt);
}

}  // namespace
}  // namespace breakwatch
