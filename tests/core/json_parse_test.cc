// The documents are read by simdjson and written field by field: both must agree with nlohmann's rules, by which the
// documents of earlier versions were written.
#include <gtest/gtest.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <random>
#include <string>

#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"

namespace breakwatch {
namespace {

using nlohmann::ordered_json;

std::string Nested(int depth) { return std::string(depth, '[') + "1" + std::string(depth, ']'); }

// A document with this text in place of a configuration.
std::string PlanWith(const std::string& config) { return R"({"models":[{"model":"a/b","config":)" + config + "}]}"; }

class RawTextTest : public testing::TestWithParam<std::string> {};

TEST_P(RawTextTest, IsReadAndWrittenAsNlohmannWritesIt) {
  const std::string canonical = JsonText(ordered_json::parse(GetParam()));
  const auto plan = PlanFromJson(PlanWith(GetParam()));
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->models[0].config_json, canonical);
  PlannedModel planned;
  planned.config_json = GetParam();
  EXPECT_NE(ToJson(planned).find("\"config\":" + canonical + ",\"mode\""), std::string::npos) << ToJson(planned);
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RawTextTest,
    testing::Values(R"({})", R"([])", R"("")", R"( { "b" : [ 1 , 2 ] ,
 "a" : { } } )",
                    R"([0,-0,-0.0,1.0,1e5,1E+2,0.1,1e-7,123456789012345678.0,1.7976931348623157e308,5e-324])",
                    R"([9223372036854775807,-9223372036854775808,18446744073709551615])",
                    R"({"model_max_length":1000000000000000019884624838656,"less":-10000000000000000000})",
                    R"(["\u0000\u0001\u0008\u0009\u000a\u000b\u000c\u000d\u001f\u007f\u0080\u2028\ud83d\ude00"])",
                    R"(["\/\\\" é 漢 😀"])", R"({"\n\"":"a key with what must be escaped"})", R"([true,false,null])"));

TEST(ParseJsonTest, ReadsADocumentExactlyIfNlohmannDoes) {
  const std::string bad[] = {R"({"a":"\udc00"})",
                             R"({"a":"\ud800"})",
                             R"({"a":"\ud800\ud800"})",
                             "{\"a\":\"\xff\"}",
                             "{\"a\":\"\xed\xa0\x80\"}",
                             R"({"a":1,})",
                             R"({"a":1e999})",
                             R"({"a":01})",
                             R"({"a":.5})",
                             R"({"a":NaN})",
                             R"({"a":1} 2)",
                             std::string("{}\0", 3),
                             "{\"a\":\"\n\"}",
                             "",
                             " ",
                             "{'a':1}",
                             R"({"a":1}//)",
                             "\xEF\xBB\xBF{}",
                             R"({"a" 1})",
                             R"({"a":"\x"})",
                             R"({"a":tru})"};
  for (const std::string& text : bad) {
    const bool is_json = ordered_json::accept(text);
    const auto read = PlanFromJson(text);
    EXPECT_EQ(bool(read), is_json) << text;
    if (read) continue;
    EXPECT_NE(read.error().message.find("not JSON at byte"), std::string::npos) << read.error().message;
  }
}

TEST(ParseJsonTest, AgreesWithNlohmannOnChangedBytes) {
  // The names of an object differ in length by more than the changes can.
  const std::string seeds[] = {
      R"({"a":[1,-0.5e-3,true,null],"bcdefgh":"\u00e9\ud83d\ude00\n\"é漢","ijklmnopqrstu":{"v":[[],{}]}})",
      R"({"s":1e-12,"integer":18446744073709551615,"escapes of a text":"\t\/","the list of everything":[123.25,0,{"x":-1}]})"};
  const std::string_view bytes = "{}[]\",:\\u0dDeE+-. \n\t\x01\x7f\xc3\xa9\xed\xa0\x80\xf0\xff/9";
  std::minstd_rand random(7);
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seeds[random() % std::size(seeds)];
    for (int change = 0; change < 1 + round % 4; ++change) {
      const std::size_t at = random() % text.size();
      const char byte = bytes[random() % bytes.size()];
      switch (random() % 3) {
        case 0:
          text[at] = byte;
          break;
        case 1:
          text.insert(at, 1, byte);
          break;
        default:
          text.erase(at, 1);
      }
    }
    const std::string document = PlanWith(text);
    const auto plan = PlanFromJson(document);
    const bool is_no_json = !plan && plan.error().message.find("not JSON at byte") != std::string::npos;
    ASSERT_EQ(is_no_json, !ordered_json::accept(document)) << text;
    // A changed bracket can make a document of a text that is none.
    if (!plan || !ordered_json::accept(text)) continue;
    const auto config = ordered_json::parse(text);
    ASSERT_EQ(plan->models[0].config_json, config.is_null() ? "" : JsonText(config)) << text;
  }
}

TEST(ParseJsonTest, RefusesExactlyWhatIsNestedDeeperThanCheckJsonAllows) {
  for (int depth = 90; depth < 110; ++depth) {
    for (const std::string& text : {PlanWith(Nested(depth)), PlanWith("[" + Nested(depth) + ",{}]")}) {
      EXPECT_EQ(bool(PlanFromJson(text)), bool(CheckJson(text, text.size(), 100))) << depth;
    }
  }
}

TEST(ToJsonTest, WritesTextsThatAreNoUtf8AsNlohmannDoes) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  CaptureResult capture;
  capture.detail = all;
  capture.phase_s = {{all, 0.25}};
  const std::string text = ToJson(capture), expected = JsonText(ordered_json(all));
  EXPECT_NE(text.find("\"detail\":" + expected), std::string::npos) << text;
  EXPECT_NE(text.find(expected + ":0.25"), std::string::npos) << text;
}

TEST(ToJsonTest, MakesNoDocumentOfARawTextThatIsNoJson) {
  for (const char* text : {"{", "1,\"status\":\"full_graph\"", "{}}"}) {
    CaptureResult capture;
    capture.inputs_json = text;
    EXPECT_FALSE(ordered_json::accept(ToJson(capture))) << text;
  }
}

}  // namespace
}  // namespace breakwatch
