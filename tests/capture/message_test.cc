#include "message.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <random>

#include "breakwatch/core/measure.h"
#include "message_corpus.h"

namespace breakwatch::capture {
namespace {

using testing::HasSubstr;

TEST(MessageTest, ReadsHello) {
  const auto message = ParseMessage(MessageCorpus()[0]);
  ASSERT_TRUE(message.ok());
  const auto& hello = std::get<Hello>(*message);
  EXPECT_EQ(hello.protocol, 1);
  EXPECT_EQ(hello.toolchain.torch, "2.0");
}

TEST(MessageTest, ReadsAPhase) {
  const auto message = ParseMessage(MessageCorpus()[3]);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(std::get<PhaseBegun>(*message).job, "a");
  EXPECT_EQ(std::get<PhaseBegun>(*message).phase, "eager");
}

TEST(MessageTest, ReadsAFullResult) {
  const auto message = ParseMessage(MessageCorpus().back());
  ASSERT_TRUE(message.ok()) << message.error().message;
  const auto& result = std::get<CaptureResult>(*message);
  EXPECT_EQ(result.job_id, "a");
  EXPECT_EQ(result.status, Status::kGraphBreaks);
  ASSERT_EQ(result.sites.size(), 1u);
  EXPECT_EQ(result.sites[0].occurrences, 2);
  EXPECT_FALSE(result.depth_mismatch);
  EXPECT_EQ(result.sites[0].module_path, "encoder.layer.0");
  ASSERT_EQ(result.segments.size(), 2u);
  EXPECT_EQ(result.segments[0].ended_by, result.sites[0].site_id);
  EXPECT_EQ(result.segments[0].top_ops.at("add"), 2);
  EXPECT_EQ(result.segments[0].guards, 9);
  EXPECT_EQ(result.segments[1].guards, std::nullopt) << "what is absent is not zero";
  EXPECT_THAT(result.mode_detail_json, HasSubstr("first_error"));
}

TEST(MessageTest, ReadsTheSuggestionOfAFailedCapture) {
  const auto message = ParseMessage(
      R"({"type":"result","job":"a","status":"timeout","detail":"d","suggestion":"raise capture.capture_s"})");
  ASSERT_TRUE(message.ok()) << message.error().message;
  EXPECT_EQ(std::get<CaptureResult>(*message).suggestion, "raise capture.capture_s");
}

TEST(MessageTest, RecognisesATypeOfANewerProtocol) {
  const auto message = ParseMessage(R"({"type":"weather"})");
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(std::get<OfNewerProtocol>(*message).type, "weather");
}

TEST(MessageTest, ReportsWhyALineIsNotTheProtocol) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not JSON"},
      {"Traceback (most recent call last):", "Traceback"},
      {"[]", "not an object"},
      {"{}", "no type"},
      {R"({"type":7})", "no type"},
      {R"({"type":"hello"})", "protocol number"},
      {R"({"type":"result","status":"full_graph"})", "without a job"},
      {R"({"type":"result","job":"a","job":"b","status":"full_graph"})", "of two jobs"},
      {R"({"type":"result","job":"a","status":"splendid"})", "status"},
      {std::string(100, '['), "deeper"},
      {"{\"type\":\"heartbeat\"}\xff", "not JSON"},
  };
  for (const auto& [line, why] : cases) {
    const auto message = ParseMessage(line);
    ASSERT_FALSE(message.ok()) << line;
    EXPECT_EQ(message.error().code, ErrorCode::kInvalid);
    EXPECT_THAT(message.error().message, HasSubstr(why)) << line;
  }
}

TEST(MessageTest, RejectsAResultThatNoWorkerMaySend) {
  const auto wrong = [](const std::string& fields) {
    return !ParseMessage(R"({"type":"result","job":"a","detail":"d",)" + fields + "}").ok();
  };
  EXPECT_FALSE(wrong(R"("status":"full_graph","breaks":0,"sites":[])"));
  EXPECT_FALSE(wrong(R"("status":"full_graph","segments":[{"index":0,"ops":{"call_function":3}}])"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","segments":[{"index":0,"ops":{"call_function":-3}}])"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","segments":[{"index":0,"guards":9223372036854775807}])"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","segments":[7])"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","segments":{})"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","mode_detail":[1])"));
  EXPECT_TRUE(wrong(R"("status":"quarantined")"));
  EXPECT_TRUE(wrong(R"("status":"skipped_gated")"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","breaks":1)"));
  EXPECT_TRUE(wrong(R"("status":"full_graph","sites":[{"reason":"r","occurrences":1}])"));
  EXPECT_TRUE(wrong(R"("status":"graph_breaks","breaks":-1)"));
  EXPECT_TRUE(wrong(R"("status":"graph_breaks","explain_breaks":-2)"));
  EXPECT_TRUE(wrong(R"("status":"graph_breaks","breaks":18446744073709551615)"));
  EXPECT_TRUE(wrong(R"("status":"graph_breaks","sites":[{"reason":"r","occurrences":9223372036854775807}])"));
  std::string sites = R"({"reason":"r","occurrences":1})";
  for (int i = 0; i < 13; ++i) sites += "," + sites;
  EXPECT_TRUE(wrong(R"("status":"graph_breaks","sites":[)" + sites + "]"));
}

TEST(MessageTest, TakesAModelOfWhichNoGraphWasMade) {
  const auto message = ParseMessage(
      R"({"type":"result","job":"a","status":"graph_breaks","detail":"1 break","graphs":0,"breaks":1,"explain_breaks":-1})");
  ASSERT_TRUE(message.ok()) << message.error().message;
  EXPECT_EQ(std::get<CaptureResult>(*message).explain_breaks, -1);
}

TEST(MessageTest, QuotesOnlyALittleOfALongLine) {
  const auto message = ParseMessage(std::string(100'000, 'x'));
  ASSERT_FALSE(message.ok());
  EXPECT_LT(message.error().message.size(), 400u);
}

TEST(MessageTest, WritesACaptureAsOneLine) {
  CaptureJob job;
  job.id = "a";
  job.model = "sample/a\nb\xff";
  job.config_json = "{\n\t\"k\":\r\n1}";
  const std::string line = CaptureLine(job);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(line.find('\r'), std::string::npos);
  EXPECT_EQ(line.rfind(R"({"type":"capture",)", 0), 0u);
}

TEST(MessageTest, HasAMeasurementOnlyWhereTheJobIsOne) {
  CaptureJob job;
  job.id = "a";
  EXPECT_EQ(nlohmann::json::parse(CaptureLine(job)).count("measure"), 0u);
  job.mode = "profile";
  job.measure_json = MeasureJson(MeasureOptions{.threads = 2});
  const auto sent = nlohmann::json::parse(CaptureLine(job));
  EXPECT_EQ(sent["measure"]["threads"], 2);
  EXPECT_EQ(sent["measure"].size(), 9u);
  EXPECT_EQ(sent.count("build"), 0u);
}

TEST(MessageTest, NamesASourceOnlyWhereTheJobIsOne) {
  CaptureJob job;
  job.id = "a";
  job.config_json = R"({"kind":"python",
    "factory":"a:b","source":{"kind":"script"}})";
  EXPECT_EQ(nlohmann::json::parse(CaptureLine(job)).count("source"), 0u);
  job.is_source = true;
  const std::string line = CaptureLine(job);
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  EXPECT_EQ(nlohmann::json::parse(line)["source"]["factory"], "a:b");
}

// Every line is either parsed or rejected with a text; the random seed is fixed. The fuzzer tests more.
TEST(MessageTest, SurvivesMutatedLines) {
  std::mt19937 random(20261121);
  const std::vector<std::string> corpus = MessageCorpus();
  const std::string_view interesting = "{}[]\",:\\0123456789eE+-.ntu\xff\x80\x00\x7f ";
  std::size_t understood = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string line = corpus[random() % corpus.size()];
    for (unsigned i = random() % 4; i-- > 0 && !line.empty();) {
      const std::size_t at = random() % line.size();
      switch (random() % 4) {
        case 0:
          line[at] = interesting[random() % interesting.size()];
          break;
        case 1:
          line.erase(at, 1 + random() % 20);
          break;
        case 2:
          line.insert(at, line.substr(random() % line.size(), random() % 40));
          break;
        default:
          line.resize(at);
          break;
      }
    }
    const auto message = ParseMessage(line);
    if (message.ok()) {
      ++understood;
    } else {
      ASSERT_FALSE(message.error().message.empty()) << line;
    }
  }
  EXPECT_GT(understood, 5'000u) << "the unchanged ones at least";
  EXPECT_LT(understood, 20'000u);
}

}  // namespace
}  // namespace breakwatch::capture
