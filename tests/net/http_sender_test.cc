#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>

#include "breakwatch/core/gzip.h"
#include "breakwatch/net/http.h"
#include "fakes/temporary_directory.h"
#include "net/scripted_server.h"

namespace breakwatch::net {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
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

std::string Gunzip(const std::string& packed) {
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string out(1 << 20, '\0');
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(HttpSenderTest, ReturnsStatusLowerCaseHeadersAndBody) {
  ScriptedServer server([](const SeenRequest&) { return Reply{404, {{"X-Error-Code", "EntryNotFound"}}, "no"}; });
  const auto answer = MakeHttpSender("breakwatch/test")->Send(Get(server.Url() + "/a?b=c"));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->Header("x-error-code"), "EntryNotFound");
  EXPECT_EQ(answer->body, "no");
  const SeenRequest seen = server.Requests().at(0);
  EXPECT_EQ(seen.target, "/a?b=c");
  EXPECT_EQ(seen.Header("user-agent"), "breakwatch/test");
  EXPECT_THAT(seen.Header("accept-encoding"), HasSubstr("gzip"));
}

TEST(HttpSenderTest, ReusesItsConnection) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  const auto sender = MakeHttpSender("t");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sender->Send(Get(server.Url())).ok());
  EXPECT_EQ(server.Connections(), 1);
}

TEST(HttpSenderTest, SendsEveryMethodWithItsBodyAndNothingElse) {
  ScriptedServer server([](const SeenRequest&) { return Reply{202, {}, ""}; });
  const auto sender = MakeHttpSender("t");
  for (const char* method : {"PUT", "POST", "DELETE", "PATCH"}) {
    HttpRequest request = Get(server.Url() + "/m");
    request.method = method;
    request.body = "payload";
    request.headers = {{"Content-Type", "text/plain"}};
    ASSERT_TRUE(sender->Send(request).ok());
    const SeenRequest seen = server.Requests().back();
    EXPECT_EQ(seen.method, method);
    EXPECT_EQ(seen.body, "payload");
    EXPECT_EQ(seen.Header("content-type"), "text/plain");
    EXPECT_EQ(seen.headers.count("expect"), 0u);
  }
}

TEST(HttpSenderTest, SendsAnEmptyPutAndABareDelete) {
  ScriptedServer server([](const SeenRequest&) { return Reply{202, {}, ""}; });
  const auto sender = MakeHttpSender("t");
  HttpRequest request = Get(server.Url());
  request.method = "PUT";
  ASSERT_TRUE(sender->Send(request).ok());
  EXPECT_EQ(server.Requests().back().Header("content-length"), "0");
  request.method = "DELETE";
  ASSERT_TRUE(sender->Send(request).ok());
  EXPECT_EQ(server.Requests().back().method, "DELETE");
}

TEST(HttpSenderTest, HeadDoesNotWaitForABody) {
  ScriptedServer server([](const SeenRequest&) { return Reply{200, {{"Content-Length", "1000"}}, ""}; });
  HttpRequest request = Get(server.Url());
  request.method = "HEAD";
  const auto answer = MakeHttpSender("t")->Send(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->Header("content-length"), "1000");
}

TEST(HttpSenderTest, CompressesABodyOnRequest) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  HttpRequest request = Get(server.Url());
  request.method = "PUT";
  request.gzip_body = true;
  request.body.assign(100'000, 'x');
  ASSERT_TRUE(MakeHttpSender("t")->Send(request).ok());
  const SeenRequest seen = server.Requests().at(0);
  EXPECT_EQ(seen.Header("content-encoding"), "gzip");
  EXPECT_LT(seen.body.size(), 2'000u);
  EXPECT_EQ(Gunzip(seen.body), request.body);
}

TEST(HttpSenderTest, UnpacksACompressedAnswer) {
  const std::string packed = *Gzip(std::string(5'000, 'y'));
  ScriptedServer server([&](const SeenRequest&) { return Reply{200, {{"Content-Encoding", "gzip"}}, packed}; });
  const auto answer = MakeHttpSender("t")->Send(Get(server.Url()));
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, std::string(5'000, 'y'));
}

TEST(HttpSenderTest, RefusesASmallAnswerThatUnpacksToAHugeOne) {
  const std::string packed = *Gzip(std::string(4 << 20, 'z'));
  ScriptedServer server([&](const SeenRequest&) { return Reply{200, {{"Content-Encoding", "gzip"}}, packed}; });
  HttpRequest request = Get(server.Url());
  request.max_response_bytes = 1 << 20;
  const auto answer = MakeHttpSender("t")->Send(request);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(answer.error().retryable);
  EXPECT_THAT(answer.error().message, HasSubstr("1048576 bytes"));
}

TEST(HttpSenderTest, ReturnsARedirectUnchanged) {
  ScriptedServer server([](const SeenRequest&) { return Reply{307, {{"Location", "/elsewhere"}}, ""}; });
  const auto answer = MakeHttpSender("t")->Send(Get(server.Url()));
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 307);
  EXPECT_EQ(server.Requests().size(), 1u);
}

TEST(HttpSenderTest, SendsTheBearerTokenAndKeepsItOutOfMessages) {
  ScriptedServer server([](const SeenRequest&) { return Reply{.hang_up = true}; });
  HttpRequest request = Get(server.Url());
  request.bearer_token = "hf_secret";
  const auto answer = MakeHttpSender("t")->Send(request);
  EXPECT_EQ(server.Requests().at(0).Header("authorization"), "Bearer hf_secret");
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().message, Not(HasSubstr("secret")));
}

TEST(HttpSenderTest, DoesNotCarryATokenIntoTheNextRequest) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  const auto sender = MakeHttpSender("t");
  HttpRequest request = Get(server.Url());
  request.bearer_token = "hf_secret";
  ASSERT_TRUE(sender->Send(request).ok());
  ASSERT_TRUE(sender->Send(Get(server.Url())).ok());
  EXPECT_EQ(server.Requests().at(1).Header("authorization"), "");
}

TEST(HttpSenderTest, SendsBasicAuth) {
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  HttpRequest request = Get(server.Url());
  request.user = "ops";
  request.password = "a:b";
  ASSERT_TRUE(MakeHttpSender("t")->Send(request).ok());
  EXPECT_EQ(server.Requests().at(0).Header("authorization"), "Basic b3BzOmE6Yg==");
}

TEST(HttpSenderTest, NamesTheUrlWithoutItsUserIfNothingListens) {
  std::string authority;
  {
    ScriptedServer gone([](const SeenRequest&) { return Reply{}; });
    authority = gone.Authority();
  }
  const auto answer = MakeHttpSender("t")->Send(Get("http://user:hidden@" + authority + "/p?sig=hidden"));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(answer.error().retryable);
  EXPECT_THAT(answer.error().message, HasSubstr("http://" + authority + "/p"));
  EXPECT_THAT(answer.error().message, Not(HasSubstr("hidden")));
}

TEST(HttpSenderTest, EndsARunningSendOnAStopRequest) {
  std::stop_source stop;
  ScriptedServer server([&](const SeenRequest&) {
    stop.request_stop();
    return Reply{.hang = true};
  });
  const auto answer = MakeHttpSender("t", stop.get_token())->Send(Get(server.Url()));
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().retryable);
  EXPECT_THAT(answer.error().message, Not(HasSubstr("timed out")));
}

TEST(HttpSenderTest, TimesOutOnAServerThatSendsNothing) {
  ScriptedServer server([](const SeenRequest&) { return Reply{.hang = true}; });
  HttpRequest request = Get(server.Url());
  request.timeout = 100ms;
  const auto answer = MakeHttpSender("t")->Send(request);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kUnavailable);
  EXPECT_TRUE(answer.error().retryable);
  EXPECT_THAT(answer.error().message, HasSubstr("100 ms"));
}

TEST(HttpSenderTest, EndsAnExchangeWithoutProgressLongBeforeItsDeadline) {
  ScriptedServer server([](const SeenRequest&) { return Reply{.hang = true}; });
  HttpRequest request = Get(server.Url());
  request.timeout = 24h;
  request.stall_timeout = 1s;
  const auto answer = MakeHttpSender("t")->Send(request);
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(IsTimeout(answer.error()));
  EXPECT_TRUE(answer.error().retryable);
  EXPECT_THAT(answer.error().message, HasSubstr("nothing came for 1000 ms"));
}

TEST(HttpSenderTest, SendsAFileAndReadsItAgainForTheNextRequest) {
  const fakes::TemporaryDirectory folder;
  const std::string content(3 << 20, 'x');
  folder.Write("file", content);
  ScriptedServer server([](const SeenRequest&) { return Reply{}; });
  const auto sender = MakeHttpSender("t");
  HttpRequest request = Get(server.Url());
  request.method = "PUT";
  request.body_file = folder / "file";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(sender->Send(request).ok());
  folder.Write("file", "");
  ASSERT_TRUE(sender->Send(request).ok());
  const auto seen = server.Requests();
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].method, "PUT");
  EXPECT_TRUE(seen[0].body == content && seen[1].body == content);
  EXPECT_EQ(seen[2].body, "");
  ASSERT_TRUE(sender->Send(Get(server.Url())).ok());
  EXPECT_EQ(server.Requests()[3].method, "GET");
  request.body_file = folder / "none";
  EXPECT_EQ(sender->Send(request).error().code, ErrorCode::kStore);
}

TEST(HttpSenderTest, WritesABodyToAFileFromAnOffsetOn) {
  const fakes::TemporaryDirectory folder;
  folder.Write("file", "0123456789");
  int status = 206;
  ScriptedServer server([&](const SeenRequest&) { return Reply{.status = status, .body = "abc"}; });
  const auto sender = MakeHttpSender("t");
  HttpRequest request = Get(server.Url());
  request.response_file = folder / "file";
  request.response_offset = 4;
  for (int i = 0; i < 2; ++i) {  // a repeated request does not append
    const auto answer = sender->Send(request);
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->body, "");
    EXPECT_EQ(folder.Read("file"), "0123abc");
  }
  status = 404;
  EXPECT_EQ(sender->Send(request)->body, "abc") << "the text of an error";
  EXPECT_EQ(folder.Read("file"), "0123");
  status = 200;
  request.max_response_bytes = 2;
  EXPECT_EQ(sender->Send(request).error().code, ErrorCode::kInvalid);
  request.response_file = folder / "none/file";
  const auto unwritable = sender->Send(request);
  EXPECT_EQ(unwritable.error().code, ErrorCode::kStore);
  EXPECT_THAT(unwritable.error().message, HasSubstr("none/file"));
  request.response_file = "/dev/full";
  request.response_offset = 0;
  request.max_response_bytes = 100;
  EXPECT_EQ(sender->Send(request).error().code, ErrorCode::kStore);
}

TEST(HttpSenderTest, RejectsAnIncompleteBody) {
  ScriptedServer server([](const SeenRequest&) { return Reply{.body = "0123456789", .cut_short = true}; });
  const auto answer = MakeHttpSender("t")->Send(Get(server.Url()));
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().retryable);
}

TEST(HttpSenderTest, GivesABodyInPiecesAndEndsWhenItIsEnough) {
  const std::string packed = *Gzip(std::string(8 << 20, 'y'));
  int status = 200;
  ScriptedServer server([&](const SeenRequest&) { return Reply{status, {{"Content-Encoding", "gzip"}}, packed}; });
  const auto sender = MakeHttpSender("t");
  std::size_t bytes = 0, enough = SIZE_MAX;
  HttpRequest request = Get(server.Url());
  request.on_body = [&](std::string_view piece) { return (bytes += piece.size()) < enough; };
  auto answer = sender->Send(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(bytes, 8u << 20);
  EXPECT_EQ(answer->body, "");
  bytes = 0, enough = 1000;
  answer = sender->Send(request);
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
  EXPECT_LT(bytes, 1u << 20);
  request.max_response_bytes = 1 << 20;
  bytes = 0, enough = SIZE_MAX;
  EXPECT_EQ(sender->Send(request).error().code, ErrorCode::kInvalid);
  request.max_response_bytes = 16 << 20;
  bytes = 0, status = 500;
  EXPECT_EQ(sender->Send(request)->body.size(), 8u << 20) << "the text of an error";
  EXPECT_EQ(bytes, 0u);
}

TEST(HttpSenderTest, RejectsAnAnswerThatEndsInItsHeaders) {
  ScriptedServer server([](const SeenRequest&) { return Reply{.raw = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"}; });
  const auto answer = MakeHttpSender("t")->Send(Get(server.Url()));
  ASSERT_FALSE(answer.ok());
  EXPECT_TRUE(answer.error().retryable);
}

TEST(HttpSenderTest, RefusesOtherSchemes) {
  for (const char* url : {"file:///etc/passwd", "gopher://127.0.0.1/", "", "::"}) {
    const auto answer = MakeHttpSender("t")->Send(Get(url));
    ASSERT_FALSE(answer.ok()) << url;
    EXPECT_FALSE(answer.error().retryable) << answer.error().message;
  }
}

TEST(HttpSenderTest, RefusesLineBreaksInHeadersWithoutRepeatingThem) {
  HttpRequest request = Get("http://127.0.0.1:1/");
  request.bearer_token = "hf_x\r\nX-Injected: 1";
  const auto answer = MakeHttpSender("t")->Send(request);
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
  EXPECT_THAT(answer.error().message, Not(HasSubstr("hf_x")));
}

TEST(HttpSenderTest, RefusesEndlessHeaders) {
  ScriptedServer server([](const SeenRequest&) {
    Reply reply;
    for (int i = 0; i < 40; ++i) reply.headers.emplace_back("X-" + std::to_string(i), std::string(10'000, 'h'));
    return reply;
  });
  const auto answer = MakeHttpSender("t")->Send(Get(server.Url()));
  ASSERT_FALSE(answer.ok());
  EXPECT_EQ(answer.error().code, ErrorCode::kInvalid);
}

TEST(HttpSenderTest, UsesTheProxyOfTheEnvironment) {
  ScriptedServer proxy([](const SeenRequest&) { return Reply{200, {}, "by proxy"}; });
  setenv("http_proxy", proxy.Url().c_str(), 1);
  const auto answer = MakeHttpSender("t")->Send(Get("http://hub.invalid/x"));
  unsetenv("http_proxy");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->body, "by proxy");
  EXPECT_EQ(proxy.Requests().at(0).target, "http://hub.invalid/x");
}

}  // namespace
}  // namespace breakwatch::net
