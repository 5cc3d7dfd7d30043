// The user's own models beside those of a Hub.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "breakwatch/core/selector.h"
#include "breakwatch/core/text.h"
#include "breakwatch/hub/hub_lister.h"
#include "fakes/fake_model_lister.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::hub {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SelectorListerTest : public ::testing::Test {
 protected:
  Result<RankedList> List(const std::vector<std::string>& ids, bool allow = true) {
    auto others = std::make_unique<fakes::FakeModelLister>();
    others_ = others.get();
    RankedModel listed;
    listed.info.id = "org/name";
    others->Answer(RankedList{.source = "hub", .ranked = ids.empty(), .models = {listed}, .warnings = {}});
    lister_ = MakeSelectorLister({allow, directory_.path().string(), {directory_ / "lib"}}, std::move(others));
    ListRequest request;
    request.ids = ids;
    return lister_->List(request, {}, nullptr);
  }

  fakes::TemporaryDirectory directory_;
  std::unique_ptr<ModelLister> lister_;
  fakes::FakeModelLister* others_ = nullptr;
};

TEST_F(SelectorListerTest, PinsAFactoryByTheDigestOfItsFile) {
  directory_.Write("package/models.py", "def net(): ...\n");
  const auto list = List({"python:package.models:net"});
  ASSERT_TRUE(list.ok()) << list.error().message;
  EXPECT_FALSE(list->ranked);
  ASSERT_THAT(list->models, SizeIs(1));
  const RankedModel& model = list->models[0];
  ASSERT_FALSE(model.excluded) << model.detail;
  EXPECT_EQ(model.info.id, "python:package.models:net");
  EXPECT_EQ(model.info.sha, Sha256Hex("def net(): ...\n").substr(0, 40));
  EXPECT_TRUE(RunsOwnCode(model.info));
  const auto source = nlohmann::json::parse(model.config_json);
  EXPECT_EQ(source["kind"], "python");
  EXPECT_EQ(source["factory"], "package.models:net");
  EXPECT_EQ(source["path"], (std::vector<std::string>{directory_.path().string(), directory_ / "lib"}));
  EXPECT_THAT(others_->Requests(), IsEmpty());
}

TEST_F(SelectorListerTest, FindsPackagesAndFurtherFoldersAsPythonDoes) {
  directory_.Write("both/__init__.py", "package");
  directory_.Write("both.py", "module");
  directory_.Write("lib/other.py", "other");
  const auto list = List({"python:both:f", "python:other:f"});
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(list->models.at(0).info.sha, Sha256Hex("package").substr(0, 40));
  EXPECT_EQ(list->models.at(1).info.sha, Sha256Hex("other").substr(0, 40));
}

TEST_F(SelectorListerTest, AScriptIsFoundFromTheDirectoryAndKeepsHashAndArguments) {
  directory_.Write("train.py", "print()");
  const auto list = List({"script:train.py::abc123 -- --width 6"});
  ASSERT_TRUE(list.ok());
  ASSERT_FALSE(list->models.at(0).excluded) << list->models[0].detail;
  const auto source = nlohmann::json::parse(list->models[0].config_json);
  EXPECT_EQ(source["path"], directory_ / "train.py");
  EXPECT_EQ(source["hash"], "abc123");
  EXPECT_EQ(source["args"], (std::vector<std::string>{"--width", "6"}));
}

TEST_F(SelectorListerTest, WhatIsNotThereIsAModelThatCouldNotBeResolved) {
  const auto list = List({"python:absent:f", "script:absent.py"});
  ASSERT_TRUE(list.ok());
  for (const RankedModel& model : list->models) {
    EXPECT_EQ(model.excluded, Status::kFailedResolve);
    EXPECT_THAT(model.detail, HasSubstr("absent"));
  }
}

TEST_F(SelectorListerTest, RefusesWhatIsNotAllowedBeforeAnythingIsRead) {
  const auto list = List({"org/name", "python:a:b"}, /*allow=*/false);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().code, ErrorCode::kUsage);
  EXPECT_THAT(list.error().message, HasSubstr("--allow-factories"));
}

TEST_F(SelectorListerTest, LeavesOtherNamesAndListingsToTheOther) {
  directory_.Write("train.py", "print()");
  const auto mixed = List({"org/name", "script:train.py"});
  ASSERT_TRUE(mixed.ok());
  EXPECT_THAT(others_->Requests().at(0).ids, ElementsAre("org/name"));
  EXPECT_THAT(mixed->models, SizeIs(2));
  const auto listing = List({}, /*allow=*/false);
  ASSERT_TRUE(listing.ok());
  EXPECT_TRUE(listing->ranked);
}

}  // namespace
}  // namespace breakwatch::hub
