#include "breakwatch/core/filter_subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/core/model_rules.h"

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

TEST(KeepMatchingTest, KeepsBothSidesOfAModelThatMatchesOnOne) {
  auto a = Three(), b = Three();
  a[0].capture.status = Status::kTimeout;
  a.pop_back();
  ASSERT_TRUE(KeepMatching(a, b, Filter("status:timeout"), {}).ok());
  EXPECT_THAT(Ids(a), ElementsAre("org/a"));
  EXPECT_THAT(Ids(b), ElementsAre("org/a", "other/c"));
  EXPECT_FALSE(KeepMatching(a, b, Filter("org/none"), {}).ok());
}

TEST(NoteOwnersTest, FillsInTheOwnersOfEachResult) {
  auto results = Three();
  NoteOwners(results, {{"speech", "", Filter("family:audio")}});
  EXPECT_THAT(results[0].owners, ElementsAre("speech"));
  EXPECT_TRUE(results[1].owners.empty());
}

TEST(OverrideOfTest, TakesOfEachFieldTheLastEntryThatMatches) {
  ModelRules rules;
  rules.owners = {{"speech", "", Filter("family:audio")}};
  rules.overrides = {{.models = Filter("*"), .modes = {"train"}, .limits = {.capture = std::chrono::minutes(9)}},
                     {.models = Filter("owner:speech"), .modes = {"eval"}, .dtype = "float16"},
                     {.models = Filter("org/b"), .skip = "too slow", .skip_place = "models.yaml:7:11"}};
  const ModelOverride rule = OverrideOf(Three()[0].info, rules);
  EXPECT_THAT(rule.modes, ElementsAre("eval"));
  EXPECT_EQ(rule.dtype, "float16");
  EXPECT_EQ(rule.limits.Over({}).capture, std::chrono::minutes(9));
  EXPECT_EQ(rule.limits.Over({}).eager, CaptureLimits().eager);
  EXPECT_TRUE(rule.skip.empty());
  EXPECT_EQ(OverrideOf(Three()[1].info, rules).skip, "too slow");
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
