#include "breakwatch/core/filter_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

ModelFilter Filter(std::string_view text) { return *ModelFilter::Parse(text); }

ModelResult ResultOf(const std::string& id, Family family, Status status) {
  ModelResult result;
  result.info.id = id;
  result.info.family = family;
  result.capture.status = status;
  result.capture.mode = "eval";
  return result;
}

std::vector<ModelResult> Three() {
  return {ResultOf("org/a", Family::kAudio, Status::kFullGraph), ResultOf("org/b", Family::kNlp, Status::kGraphBreaks),
          ResultOf("other/c", Family::kNlp, Status::kTimeout)};
}

std::vector<std::string> Ids(const std::vector<ModelResult>& results) {
  std::vector<std::string> ids;
  for (const ModelResult& result : results) ids.push_back(result.info.id);
  return ids;
}

TEST(FilterSubjectTest, AResultHasTheFactsOfItsModelAndOfItsCapture) {
  ModelResult result = ResultOf("org/a", Family::kAudio, Status::kGraphBreaks);
  result.capture.architecture = "Net";
  result.capture.model_type = "net";
  result.capture.sites.resize(1);
  result.capture.sites[0].reason = "a reason", result.capture.sites[0].gb_id = "GB0007";
  const FilterSubject subject = SubjectOf(result, {});
  EXPECT_TRUE(Filter("arch:net and type:net and reason:gb0007 and reason:'a reason' and mode:eval").Matches(subject));
  result.info.architectures = {"Listed"};
  EXPECT_FALSE(Filter("arch:net").Matches(SubjectOf(result, {}))) << "the repository's own words come first";
}

TEST(FilterSubjectTest, EachOwnerWhoseFilterMatchesOwnsTheModel) {
  const ModelOwners owners = {
      {"all", "", Filter("*")}, {"speech", "#speech", Filter("family:audio")}, {"none", "", Filter("org/x")}};
  EXPECT_THAT(SubjectOf(Three()[0], owners).owners, ElementsAre("all", "speech"));
  EXPECT_THAT(SubjectOf(Three()[1], owners).owners, ElementsAre("all"));
}

TEST(FilterSubjectTest, ATrackedModelHasTheStatusesAndReasonsOfAllItsModes) {
  TrackedModel model;
  model.model = "org/a";
  model.status = Status::kFullGraph;
  model.attempts["k/cold"].status = Status::kTimeout;
  model.numbers["k"].reasons = {{"a reason", "GB0007", "", 1, 1}};
  const FilterSubject subject = SubjectOf(model, {});
  EXPECT_THAT(subject.statuses, UnorderedElementsAre(Status::kFullGraph, Status::kTimeout));
  EXPECT_TRUE(Filter("reason:GB0007").Matches(subject));
}

TEST(KeepMatchingTest, KeepsWhatMatchesInItsOrder) {
  auto results = Three();
  ASSERT_TRUE(KeepMatching(results, Filter("not status:numbers or org/b"), {}).ok());
  EXPECT_THAT(Ids(results), ElementsAre("org/b", "other/c"));
  ASSERT_TRUE(KeepMatching(results, ModelFilter(), {}).ok());
  EXPECT_EQ(results.size(), 2u);
}

TEST(KeepMatchingTest, RefusesWhatSelectsNothingAndLeavesTheResults) {
  auto results = Three();
  const auto kept = KeepMatching(results, Filter("family:tabular"), {});
  ASSERT_FALSE(kept.ok());
  EXPECT_EQ(kept.error().code, ErrorCode::kUsage);
  const auto owned = KeepMatching(results, Filter("owner:speach"), {{"speech", "", Filter("*")}});
  ASSERT_FALSE(owned.ok());
  EXPECT_THAT(owned.error().message, HasSubstr("did you mean \"speech\""));
  EXPECT_EQ(results.size(), 3u);
}

}  // namespace
}  // namespace breakwatch
