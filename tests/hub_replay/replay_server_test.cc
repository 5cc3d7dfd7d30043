// The server itself: sockets, limits, stopping. hub_test.cc tests its answers.
#include "breakwatch/hub_replay/replay_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

#include "breakwatch/net/http.h"
#include "small_recording.h"

namespace breakwatch::hub_replay {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class Connection {
 public:
  explicit Connection(int port) : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The number of bytes that the other side accepted before it closed the connection.
  std::size_t Send(std::string_view bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t wrote = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (wrote <= 0) break;
      sent += static_cast<std::size_t>(wrote);
    }
    return sent;
  }

  // All bytes until the other side closes, or for ten seconds.
  std::string ReadToEnd() {
    std::string all;
    char buffer[4096];
    pollfd entry{fd_, POLLIN, 0};
    while (::poll(&entry, 1, 10'000) == 1) {
      const ssize_t got = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (got <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(got));
    }
    ADD_FAILURE() << "the connection stayed open";
    return all;
  }

 private:
  int fd_;
};

class ReplayServerTest : public ::testing::Test {
 protected:
  ReplayServerTest() {
    files_.Add(Body("org/model", "01")).File("org/model", kSha, "config.json", "{}");
    options_.dir = files_.dir().string();
    options_.threads = 2;
  }

  ReplayServer& Start() {
    auto server = ReplayServer::Start(options_);
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = *std::move(server);
    return *server_;
  }

  Result<net::HttpResponse> Get(const std::string& path) {
    net::HttpRequest request;
    request.url = server_->url() + path;
    return net::MakeHttpSender("test")->Send(request);
  }

  SmallRecording files_;
  ReplayOptions options_;
  std::unique_ptr<ReplayServer> server_;
};

TEST_F(ReplayServerTest, ServesTheBundledSnapshot) {
  options_.dir = std::string(BREAKWATCH_SOURCE_DIR) + "/collectors/hub/snapshot";
  EXPECT_GE(Start().models(), 120u);
  const auto answer = Get("/api/models?sort=downloads&limit=1&expand=config");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(answer->body, HasSubstr("architectures"));
  EXPECT_TRUE(answer->Header("ratelimit"));
}

TEST_F(ReplayServerTest, KeepsAConnectionForTheNextRequest) {
  Connection connection(Start().port());
  connection.Send(
      "GET /api/models HTTP/1.1\r\nHost: x\r\n\r\nGET /none HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = connection.ReadToEnd();
  EXPECT_THAT(answers, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(answers, HasSubstr("HTTP/1.1 404 Not Found\r\n"));
}

TEST_F(ReplayServerTest, AnswersAHeadRequestWithTheLengthAndNoBody) {
  Connection connection(Start().port());
  const std::string target = "/api/resolve-cache/models/org/model/" + std::string(kSha) + "/config.json";
  connection.Send("HEAD " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answer = connection.ReadToEnd();
  EXPECT_THAT(answer, HasSubstr("Content-Length: 2\r\n"));
  EXPECT_THAT(answer, testing::EndsWith("\r\n\r\n"));
}

TEST_F(ReplayServerTest, HangsUpOnAHeaderThatDoesNotEnd) {
  options_.max_header_bytes = 4096;
  Connection connection(Start().port());
  connection.Send("GET /api/models HTTP/1.1\r\nX-Long: ");
  EXPECT_LT(connection.Send(std::string(16u << 20, 'a')), 16u << 20);
}

TEST_F(ReplayServerTest, HangsUpOnAChunkedBodyOverTheBound) {
  options_.max_body_bytes = 4096;
  Connection connection(Start().port());
  connection.Send(
      "POST /api/models/org/model/paths-info/main HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  std::string chunks;
  for (int i = 0; i < 1024; ++i) chunks += "4000\r\n" + std::string(0x4000, 'a') + "\r\n";
  EXPECT_LT(connection.Send(chunks), chunks.size());
}

TEST_F(ReplayServerTest, AnswersWhileSlowClientsHoldEveryThreadOnlyForTheirDeadline) {
  options_.request_timeout = std::chrono::milliseconds(200);
  Start();
  Connection slow(server_->port()), slower(server_->port());
  slow.Send("GET / HT");
  slower.Send("GET / HT");
  const auto answer = Get("/api/models");
  ASSERT_TRUE(answer.ok()) << answer.error().message;
  EXPECT_EQ(answer->status, 200);
}

TEST_F(ReplayServerTest, TurnsAwayMoreConnectionsThanItMayHold) {
  options_.threads = 1;
  options_.queued_connections = 0;
  Connection connection(Start().port());
  connection.Send("GET /api/models HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(connection.ReadToEnd(), StartsWith("HTTP/1.1 503 Service Unavailable\r\n"));
}

TEST_F(ReplayServerTest, StopsWithConnectionsOpen) {
  Connection idle(Start().port()), half(server_->port());
  idle.Send("GET /api/models HTTP/1.1\r\nHost: x\r\n\r\n");
  half.Send("GET /api/mo");
  const auto before = std::chrono::steady_clock::now();
  server_->Stop();
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(3));
}

TEST_F(ReplayServerTest, NamesThePortThatIsInUse) {
  options_.port = Start().port();
  const auto second = ReplayServer::Start(options_);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message, HasSubstr(std::to_string(options_.port)));
}

TEST_F(ReplayServerTest, LinksToItselfIfConfigured) {
  files_.Add(Body("org/second", "02"));
  options_.link_endpoint = "self";
  Start();
  EXPECT_THAT(Get("/api/models?limit=1")->Header("link").value_or(""),
              StartsWith("<" + server_->url() + "/api/models?"));
}

}  // namespace
}  // namespace breakwatch::hub_replay
