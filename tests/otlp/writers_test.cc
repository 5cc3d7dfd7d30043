// The two encodings of one message.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "line_head.h"
#include "message_writer.h"

namespace breakwatch::exporters::otlp {
namespace {

constexpr Field kName{1, "aName"}, kItems{2, "someItems"}, kNested{3, "nested"}, kTime{4, "timeUnixNano"},
    kCount{5, "count"}, kValue{6, "value"}, kKind{7, "kind"}, kFlag{8, "flag"};

void Write(MessageWriter& out) {
  out.Text(kName, "a\"b");
  out.Item(kItems);
  out.Int64(kCount, 7);
  out.End();
  out.Item(kItems);
  out.Bool(kFlag, true);
  out.End();
  out.Begin(kNested);
  out.Enum(kKind, 2);
  out.End();
}

TEST(JsonWriterTest, FollowsTheMappingOfOtlp) {
  const auto out = MakeJsonWriter();
  Write(*out);
  out->Fixed64(kTime, 1'763'690'000'000'000'001u);
  out->Double(kValue, 1.5);
  EXPECT_EQ(out->Take(), R"({"aName":"a\"b","someItems":[{"count":"7"},{"flag":true}],"nested":{"kind":2},)"
                         R"("timeUnixNano":"1763690000000000001","value":1.5})");
}

TEST(JsonWriterTest, WritesNumbersThatJsonLacksAsTexts) {
  for (const auto& [value, text] : {std::pair<double, const char*>{std::nan(""), "\"NaN\""},
                                    {std::numeric_limits<double>::infinity(), "\"Infinity\""},
                                    {-std::numeric_limits<double>::infinity(), "\"-Infinity\""}}) {
    const auto out = MakeJsonWriter();
    out->Double(kValue, value);
    EXPECT_EQ(out->Take(), std::string(R"({"value":)") + text + "}");
  }
}

TEST(JsonWriterTest, ClosesWhatIsOpenAndStartsAnew) {
  const auto out = MakeJsonWriter();
  out->Item(kItems);
  out->Begin(kNested);
  EXPECT_EQ(out->Take(), R"({"someItems":[{"nested":{}}]})");
  out->Int64(kCount, -1);
  EXPECT_EQ(out->Take(), R"({"count":"-1"})");
}

TEST(ProtobufWriterTest, WritesTagsLengthsAndValues) {
  const auto out = MakeProtobufWriter();
  Write(*out);
  EXPECT_EQ(out->Take(), std::string("\x0a\x03"
                                     "a\"b"
                                     "\x12\x02\x28\x07"
                                     "\x12\x02\x40\x01"
                                     "\x1a\x02\x38\x02"));
  out->Fixed64(kTime, 1);
  EXPECT_EQ(out->Take(), std::string("\x21\x01\0\0\0\0\0\0\0", 9));
}

TEST(ProtobufWriterTest, ClosesWhatIsOpenAndStartsAnew) {
  const auto out = MakeProtobufWriter();
  out->Item(kItems);
  out->Begin(kNested);
  out->Int64(kCount, 1);
  EXPECT_GT(out->bytes(), 0u);
  EXPECT_EQ(out->Take(), "\x12\x04\x1a\x02\x28\x01");
  EXPECT_EQ(out->bytes(), 0u);
}

TEST(LineHeadTest, FindsLevelAndNameWhereverTheyAre) {
  EXPECT_EQ(ReadLineHead(R"({"ts":"x","level":"warn","msg":"graph_break","more":[)").name, "graph_break");
  const LineHead late = ReadLineHead(R"({"a":{"level":"no","msg":["no"]},"n":1,"msg":"m","level":"error"})");
  EXPECT_EQ(late.level, "error");
  EXPECT_EQ(late.name, "m");
}

TEST(LineHeadTest, IsEmptyWithoutThem) {
  for (const char* line : {"", "[]", "{", R"({"level":1,"msg":null})", "not json"}) {
    EXPECT_EQ(ReadLineHead(line).name, "") << line;
    EXPECT_EQ(ReadLineHead(line).level, "") << line;
  }
}

}  // namespace
}  // namespace breakwatch::exporters::otlp
