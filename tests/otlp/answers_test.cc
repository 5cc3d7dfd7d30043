// What each answer of a receiver, or of what is in its place, means.
#include "answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <protozero/pbf_writer.hpp>

namespace breakwatch::exporters::otlp {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kProtobuf[] = "application/x-protobuf";
constexpr char kJson[] = "application/json; charset=utf-8";

std::string PartialAsProtobuf(std::int64_t rejected, const std::string& message) {
  std::string text;
  protozero::pbf_writer response(text);
  {
    protozero::pbf_writer partial(response, 1);
    partial.add_int64(1, rejected);
    partial.add_string(2, message);
  }
  return text;
}

std::string StatusAsProtobuf(int code, const std::string& message) {
  std::string text;
  protozero::pbf_writer status(text);
  status.add_int32(1, code);
  status.add_string(2, message);
  return text;
}

Answer Read(int status, std::string body = "", std::string type = kProtobuf, net::Headers more = {}) {
  more.emplace_back("content-type", std::move(type));
  return ReadAnswer(net::HttpResponse{status, std::move(more), std::move(body)}, "send 1 event");
}

TEST(OtlpAnswersTest, ReadPartialSuccessInBothEncodings) {
  for (const auto& [type, body] :
       {std::pair<std::string, std::string>{kProtobuf, PartialAsProtobuf(5, "why")},
        {kJson, R"({"partialSuccess":{"rejectedLogRecords":"5","errorMessage":"why"}})"},
        {kJson, R"({"partialSuccess":{"rejectedDataPoints":5,"errorMessage":"why","more":{}}})"},
        {kJson, R"({"partial_success":{"rejected_log_records":"5","error_message":"why"}})"}}) {
    const auto partial = ReadSuccess(type, body);
    ASSERT_TRUE(partial) << body;
    EXPECT_EQ(partial->rejected, 5);
    EXPECT_EQ(partial->message, "why");
  }
}

TEST(OtlpAnswersTest, KnowARequestThatIsTooLargeAlsoByTheTextOfA400) {
  EXPECT_TRUE(Read(413).too_large);
  EXPECT_TRUE(Read(400, StatusAsProtobuf(3, "http: request body too large")).too_large);
  EXPECT_FALSE(Read(400, StatusAsProtobuf(3, "invalid metric")).too_large);
}

TEST(OtlpAnswersTest, ReadFullSuccess) {
  for (const auto& [type, body] : {std::pair<std::string, std::string>{kProtobuf, ""},
                                   {"text/plain", ""},
                                   {kProtobuf, std::string("\x0a\0", 2)},
                                   {kJson, "{}"},
                                   {kJson, R"({"partialSuccess":{}})"},
                                   {kJson, R"({"partialSuccess":null})"}}) {
    const auto partial = ReadSuccess(type, body);
    ASSERT_TRUE(partial) << body;
    EXPECT_EQ(partial->rejected, 0);
  }
}

// A login page, an error with the status of a success, another server: the data is not there.
TEST(OtlpAnswersTest, RetrySlowlyAfterASuccessThatIsNotOfAReceiver) {
  for (const auto& [type, body] : {std::pair<std::string, std::string>{"text/html", "<html>log in</html>"},
                                   {"text/plain", "ok"},
                                   {kJson, R"({"error":"no such tenant"})"},
                                   {kJson, "[]"},
                                   {kJson, "{"},
                                   {kJson, R"({"partialSuccess":[]})"},
                                   {kProtobuf, StatusAsProtobuf(3, "no")},
                                   {kProtobuf, "\x0a\x7fx"},
                                   {kProtobuf, "<html>"}}) {
    const Answer answer = Read(200, body, type);
    EXPECT_EQ(answer.outcome.delivery, Delivery::kTryAgain) << body;
    EXPECT_EQ(answer.outcome.after, milliseconds(60'000)) << body;
    EXPECT_THAT(answer.outcome.detail, HasSubstr("check the endpoint"));
  }
}

TEST(OtlpAnswersTest, RetryWhatIsNotAvailableWhenTheReceiverSays) {
  for (const int status : {429, 502, 503, 504}) {
    const Answer answer = Read(status, "", kProtobuf, {{"retry-after", "7"}});
    EXPECT_EQ(answer.outcome.delivery, Delivery::kTryAgain) << status;
    EXPECT_EQ(answer.outcome.after, milliseconds(7'000)) << status;
    EXPECT_EQ(Read(status).outcome.after, std::nullopt) << status;
  }
}

TEST(OtlpAnswersTest, LoseNothingBecauseOfAWrongSetting) {
  for (const int status : {301, 308, 401, 403, 404, 405, 415}) {
    const Answer answer = Read(status);
    EXPECT_EQ(answer.outcome.delivery, Delivery::kTryAgain) << status;
    EXPECT_EQ(answer.outcome.after, milliseconds(60'000)) << status;
  }
}

TEST(OtlpAnswersTest, RefuseWhatMustNotBeSentAgain) {
  for (const int status : {400, 422, 500, 501}) EXPECT_EQ(Read(status).outcome.delivery, Delivery::kRefused) << status;
}

TEST(OtlpAnswersTest, AskForSmallerRequests) {
  EXPECT_TRUE(Read(413).too_large);
  for (const int status : {408, 429, 504}) EXPECT_TRUE(Read(status).slow_down) << status;
  EXPECT_FALSE(Read(503).slow_down);
}

TEST(OtlpAnswersTest, QuoteTheErrorOfTheReceiver) {
  const Answer answer = Read(400, StatusAsProtobuf(3, "unknown\nattribute \x01"));
  EXPECT_THAT(answer.outcome.detail, AllOf(HasSubstr("send 1 event: 400, "), HasSubstr(": unknown attribute")));
  EXPECT_THAT(Read(503, R"({"code":14,"message":"queue is full"})", kJson).outcome.detail,
              HasSubstr(": queue is full"));
  EXPECT_THAT(Read(502, "<html>Bad Gateway</html>", "text/html").outcome.detail, HasSubstr("<html>Bad Gateway"));
}

TEST(OtlpAnswersTest, BoundWhatTheyQuote) {
  const std::string long_text(100'000, 'x');
  EXPECT_LT(Read(400, StatusAsProtobuf(3, long_text)).outcome.detail.size(), 1000u);
  EXPECT_LT(Read(500, long_text, "text/html").outcome.detail.size(), 1000u);
  EXPECT_LT(Read(200, PartialAsProtobuf(1, long_text)).partial.message.size(), 1000u);
}

TEST(OtlpAnswersTest, IgnoreCountsThatCannotBe) {
  EXPECT_EQ(Read(200, PartialAsProtobuf(-3, "")).partial.rejected, 0);
  EXPECT_EQ(Read(200, R"({"partialSuccess":{"rejectedLogRecords":"many"}})", kJson).partial.rejected, 0);
  EXPECT_EQ(Read(200, R"({"partialSuccess":{"rejectedLogRecords":-1}})", kJson).partial.rejected, 0);
}

TEST(OtlpAnswersTest, RetryWithoutAnAnswer) {
  const Answer answer = ReadAnswer(Error{ErrorCode::kUnavailable, "connection refused", true}, "send 1 event");
  EXPECT_EQ(answer.outcome.delivery, Delivery::kTryAgain);
  EXPECT_EQ(answer.outcome.detail, "send 1 event: connection refused");
}

}  // namespace
}  // namespace breakwatch::exporters::otlp
