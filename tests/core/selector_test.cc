#include "breakwatch/core/selector.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace breakwatch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(SelectorTest, ReadsAFactory) {
  const auto selector = ParseSelector("python:package.module:Class.make");
  ASSERT_TRUE(selector.ok()) << selector.error().message;
  EXPECT_EQ(selector->kind, Selector::Kind::kPython);
  EXPECT_EQ(selector->module, "package.module");
  EXPECT_EQ(selector->function, "Class.make");
  EXPECT_EQ(SelectorText(*selector), "python:package.module:Class.make");
}

TEST(SelectorTest, ReadsAScriptItsHashAndItsArguments) {
  const auto selector = ParseSelector("script:a folder/train.py::0123abcd -- --epochs  1");
  ASSERT_TRUE(selector.ok()) << selector.error().message;
  EXPECT_EQ(selector->file, "a folder/train.py");
  EXPECT_EQ(selector->hash, "0123abcd");
  EXPECT_THAT(selector->arguments, ElementsAre("--epochs", "1"));
  EXPECT_EQ(SelectorText(*selector), "script:a folder/train.py::0123abcd -- --epochs 1");

  const auto plain = ParseSelector("script:train.py");
  ASSERT_TRUE(plain.ok());
  EXPECT_THAT(plain->hash, IsEmpty());
  EXPECT_EQ(SelectorText(*plain), "script:train.py");
}

TEST(SelectorTest, ReportsWhatIsWrong) {
  for (const char* bad : {"python:", "python:module", "python:module:", "python:../x:f", "python:a..b:f",
                          "python:a:f()", "python:1a:f", "script:", "script:x.py::", "script:x.py::xyz", "gpt2"}) {
    const auto selector = ParseSelector(bad);
    ASSERT_FALSE(selector.ok()) << bad;
    EXPECT_EQ(selector.error().code, ErrorCode::kUsage) << bad;
    EXPECT_THAT(selector.error().message, HasSubstr(std::string("\"") + bad)) << bad;
  }
}

TEST(SelectorTest, OnlyANameThatIsOneWithASourceOfOursRunsCode) {
  ModelInfo info;
  info.id = "python:a:b";
  EXPECT_FALSE(RunsOwnCode(info)) << "a listing that calls a model so gives it no source";
  info.config_source = "python";
  EXPECT_TRUE(RunsOwnCode(info));
  info.id = "org/name";
  EXPECT_FALSE(RunsOwnCode(info));
}

}  // namespace
}  // namespace breakwatch
