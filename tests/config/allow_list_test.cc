#include "breakwatch/config/allow_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "fakes/temporary_directory.h"

namespace breakwatch::config {
namespace {

using testing::HasSubstr;

class AllowListTest : public testing::Test {
 protected:
  Result<AllowList> Read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReadAllowList(path_);
  }
  std::string Problem(const std::string& text) {
    const auto read = Read(text);
    return read ? "" : read.error().message;
  }

  const fakes::TemporaryDirectory directory_;
  const std::string path_ = directory_ / "allow.yaml";
};

TEST_F(AllowListTest, ReadsModelsSitesReasonsAndFlakyModels) {
  const auto list = Read(
      "allow:\n"
      "  - {model: org/name, owner: team, why: soon, expires: 2027-01-31}\n"
      "  - {site: 3f9a, owner: team, why: soon, expires: 2027-01-31}\n"
      "  - {reason: GB0170, owner: team, why: soon, expires: 2027-01-31}\n"
      "flaky:\n"
      "  - {model: org/other, owner: team, why: random, expires: 2027-01-31}\n");
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->entries.size(), 4u);
  EXPECT_EQ(Describe(list->entries[0]), "model org/name");
  EXPECT_EQ(Describe(list->entries[1]), "site 3f9a");
  EXPECT_EQ(Describe(list->entries[2]), "reason GB0170");
  EXPECT_TRUE(list->entries[3].flaky);
  EXPECT_EQ(list->entries[0].expires, std::chrono::year(2027) / 1 / 31);
  EXPECT_THAT(list->entries[1].place, HasSubstr(".yaml:3:5"));
}

TEST_F(AllowListTest, AnEmptyFileHasNoEntries) {
  const auto list = Read("");
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->entries.empty());
}

TEST_F(AllowListTest, EveryProblemIsNamedWithItsPlace) {
  EXPECT_THAT(Problem("allowed: []\n"), HasSubstr(":1:1: unknown key \"allowed\""));
  EXPECT_THAT(Problem("allow:\n  - {model: m, owner: o, expires: 2027-01-31}\n"), HasSubstr("owner, why and expires"));
  EXPECT_THAT(Problem("allow:\n  - {model: m, owner: o, why: w, expires: 2027-02-30}\n"), HasSubstr("is not a date"));
  EXPECT_THAT(Problem("allow:\n  - {model: m, site: s, owner: o, why: w, expires: 2027-01-31}\n"),
              HasSubstr("exactly one of"));
  EXPECT_THAT(Problem("flaky:\n  - {site: s, owner: o, why: w, expires: 2027-01-31}\n"), HasSubstr("selects a model"));
  EXPECT_THAT(Problem("allow: [\n"), HasSubstr("allow.yaml:"));
  EXPECT_THAT(Problem("allow:\n  - {model: m, owner: o, why: w, until: 2027-01-31}\n"),
              HasSubstr("unknown key \"until\""));
}

TEST_F(AllowListTest, WhatWouldBeIgnoredIsRefused) {
  const std::string entry = "allow:\n  - {model: m, owner: o, why: w, expires: 2027-01-31}\n";
  EXPECT_THAT(Problem(entry + "---\n" + entry), HasSubstr(":3:1: a second document"));
  EXPECT_THAT(Problem("allow:\n  - {model: m, owner: o, owner: p, why: w, expires: 2027-01-31}\n"),
              HasSubstr("owner is set twice"));
}

TEST_F(AllowListTest, ADirectoryIsNoEmptyList) {
  const auto list = ReadAllowList(directory_ / "");
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message, HasSubstr("Is a directory"));
}

TEST_F(AllowListTest, AMissingFileIsNamed) {
  const auto list = ReadAllowList("/nowhere/allow.yaml");
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message, HasSubstr("/nowhere/allow.yaml"));
}

}  // namespace
}  // namespace breakwatch::config
