#include "json_scan.h"

#include <gtest/gtest.h>

namespace breakwatch::trace {
namespace {

bool Good(std::string_view text) {
  ObjectScan scan(text);
  std::string_view key, value;
  while (scan.Next(key, value)) {
  }
  return scan.Good();
}

TEST(JsonScanTest, TakesWhatPythonWrites) {
  for (const char* text : {"{}", " { } ", R"({"a": [1, -2.5e+7, NaN, -Infinity], "b": {"c": "\u00e9\"\\"}, "d": null})",
                           R"({"a": [[], {}, [{}]]})"}) {
    EXPECT_TRUE(Good(text)) << text;
  }
}

TEST(JsonScanTest, RefusesWhatIsCutOrBroken) {
  for (const char* text : {"", "[]", "{", R"({"a")", R"({"a":})", R"({"a": 1,})", R"({"a": 1} x)", R"({"a": 1 "b": 2})",
                           R"({"a": "x)", R"({"a": "\x"})", R"({"a": tru})", R"({"a": 1..2})", R"({"a": "\u12"})",
                           "{\"a\": \"line\nbreak\"}", R"({a: 1})"}) {
    EXPECT_FALSE(Good(text)) << text;
  }
}

TEST(JsonScanTest, RefusesNestingThatWouldFillTheStack) {
  EXPECT_TRUE(Good("{\"a\": " + std::string(50, '[') + std::string(50, ']') + "}"));
  EXPECT_FALSE(Good("{\"a\": " + std::string(1'000'000, '[')));
}

TEST(JsonScanTest, ReadsValuesOnlyOfTheRequestedType) {
  EXPECT_EQ(AsString(R"("a\n\u00e9\ud83d\ude00\ud800")", 100), "a\n\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd");
  EXPECT_EQ(AsString("\"abcdef\"", 3), "abc");
  EXPECT_EQ(AsString("7", 3), std::nullopt);
  EXPECT_EQ(AsInt("-7"), -7);
  EXPECT_EQ(AsInt("7.5"), std::nullopt);
  EXPECT_EQ(AsInt("99999999999999999999"), std::nullopt);
  EXPECT_EQ(AsNumber("7.5"), 7.5);
  EXPECT_EQ(AsNumber("NaN"), std::nullopt);
  EXPECT_EQ(Member(R"({"a": 1, "b": [2]})", "b"), "[2]");
  EXPECT_EQ(Member(R"({"a": 1})", "b"), "");
  EXPECT_EQ(Element("[1, [2], 3]", 1), "[2]");
  EXPECT_EQ(Element("[1, [2], 3]", -1), "3");
  EXPECT_EQ(Element("[]", 0), "");
}

}  // namespace
}  // namespace breakwatch::trace
