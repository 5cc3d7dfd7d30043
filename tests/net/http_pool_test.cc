#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "breakwatch/net/http.h"
#include "net/scripted_server.h"

namespace breakwatch::net {
namespace {

using testing::Reply;
using testing::ScriptedServer;
using testing::SeenRequest;
using namespace std::chrono_literals;

HttpRequest Get(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.timeout = 20s;
  return request;
}

TEST(HttpPoolTest, AnswersEveryRequestOnAFewConnections) {
  ScriptedServer server([](const SeenRequest& request) { return Reply{200, {}, request.target}; });
  const auto pool = MakeHttpPool("t", 4);
  std::vector<std::string> bodies;
  for (int i = 0; i < 50; ++i) {
    pool->Submit(Get(server.Url() + "/" + std::to_string(i)), [&](Result<HttpResponse> answer) {
      ASSERT_TRUE(answer.ok()) << answer.error().message;
      bodies.push_back(answer->body);
    });
  }
  ASSERT_TRUE(pool->Run({}).ok());
  EXPECT_EQ(bodies.size(), 50u);
  EXPECT_LE(server.Connections(), 4);
}

TEST(HttpPoolTest, ACallbackMaySubmitMore) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  const auto pool = MakeHttpPool("t", 2);
  int answers = 0;
  HttpPool::Done again = [&](Result<HttpResponse> answer) {
    ASSERT_TRUE(answer.ok());
    if (++answers < 5) pool->Submit(Get(server.Url()), again);
  };
  pool->Submit(Get(server.Url()), again);
  ASSERT_TRUE(pool->Run({}).ok());
  EXPECT_EQ(answers, 5);
}

TEST(HttpPoolTest, ADelayedRequestDoesNotHoldTheOthersUp) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  const auto pool = MakeHttpPool("t", 2);
  std::string order;
  const auto mark = [&](char c) { return [&order, c](Result<HttpResponse>) { order += c; }; };
  pool->SubmitAfter(150ms, Get(server.Url()), mark('b'));
  pool->Submit(Get(server.Url()), mark('a'));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(pool->Run({}).ok());
  EXPECT_EQ(order, "ab");
  EXPECT_GE(std::chrono::steady_clock::now() - start, 150ms);
}

TEST(HttpPoolTest, OneHangingServerDoesNotHoldTheOthersUp) {
  ScriptedServer slow([](const SeenRequest&) { return Reply{.hang = true}; });
  ScriptedServer quick([](const SeenRequest&) { return Reply{}; });
  const auto pool = MakeHttpPool("t", 2);
  std::string order;
  HttpRequest hanging = Get(slow.Url());
  hanging.timeout = 200ms;
  pool->Submit(hanging, [&](Result<HttpResponse> answer) { order += answer.ok() ? "?" : "timeout"; });
  pool->Submit(Get(quick.Url()), [&](Result<HttpResponse> answer) { order += answer.ok() ? "ok " : "?"; });
  ASSERT_TRUE(pool->Run({}).ok());
  EXPECT_EQ(order, "ok timeout");
}

TEST(HttpPoolTest, AStopRequestEndsTheRunAndEveryCallbackIsCalled) {
  std::stop_source stop;
  ScriptedServer server([&](const SeenRequest&) {
    stop.request_stop();  // from another thread, while the pool waits
    return Reply{.hang = true};
  });
  const auto pool = MakeHttpPool("t", 1);
  std::vector<ErrorCode> codes;
  const auto note = [&](Result<HttpResponse> answer) {
    ASSERT_FALSE(answer.ok());
    codes.push_back(answer.error().code);
  };
  pool->Submit(Get(server.Url()), note);
  pool->Submit(Get(server.Url()), note);
  pool->SubmitAfter(1h, Get(server.Url()), note);
  const auto ended = pool->Run(stop.get_token());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code, ErrorCode::kInterrupted);
  EXPECT_THAT(codes, ::testing::Each(ErrorCode::kInterrupted));
  EXPECT_EQ(codes.size(), 3u);
}

TEST(HttpPoolTest, CanRunAgain) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  const auto pool = MakeHttpPool("t", 2);
  ASSERT_TRUE(pool->Run({}).ok());
  int answers = 0;
  for (int round = 0; round < 2; ++round) {
    pool->Submit(Get(server.Url()), [&](Result<HttpResponse> answer) { answers += answer.ok(); });
    ASSERT_TRUE(pool->Run({}).ok());
  }
  EXPECT_EQ(answers, 2);
  EXPECT_EQ(server.Connections(), 1);
}

TEST(HttpPoolTest, ARequestThatCannotBeSentIsAnsweredToo) {
  const auto pool = MakeHttpPool("t", 2);
  int faults = 0;
  for (const char* url : {"", "file:///etc/passwd", "http://127.0.0.1:1/"}) {
    pool->Submit(Get(url), [&](Result<HttpResponse> answer) { faults += !answer.ok(); });
  }
  ASSERT_TRUE(pool->Run({}).ok());
  EXPECT_EQ(faults, 3);
}

}  // namespace
}  // namespace breakwatch::net
