#include "breakwatch/api/control_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>

namespace breakwatch::api {
namespace {

class Heard final : public ProgressListener {
 public:
  void OnPlan(const Plan& plan, std::size_t) override { planned = plan.models.size(); }
  void OnResult(const ModelResult& result, std::size_t, std::size_t) override { models.push_back(result.info.id); }
  std::size_t planned = 0;
  std::vector<std::string> models;
};

class ControlSocketTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/breakwatch-control-XXXXXX";
    dir_ = mkdtemp(name);
    path_ = dir_ + "/control.sock";
    auto listening = ControlSocket::Listen(path_, commands_, {}, [this](const std::stop_token& stop) {
      if (drain_) drain_(stop);
      return std::vector<std::string>{"loki"};
    });
    ASSERT_TRUE(listening) << listening.error().message;
    socket_ = std::move(*listening);
  }
  void TearDown() override {
    socket_.reset();
    std::filesystem::remove_all(dir_);
  }
  Command NextCommand() {
    pollfd ready{commands_.Fd(), POLLIN, 0};
    EXPECT_EQ(poll(&ready, 1, 10'000), 1);
    return commands_.Pop().value_or(Command{});
  }

  std::string dir_, path_;
  std::function<void(const std::stop_token&)> drain_;
  CommandQueue commands_;
  std::unique_ptr<ControlSocket> socket_;
};

TEST_F(ControlSocketTest, HandsARequestOverAndFollowsItsSweep) {
  Heard heard;
  SweepRequest request;
  request.list.top = 5;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, request, heard); });
  const Command command = NextCommand();
  EXPECT_EQ(command.request.list.top, 5);

  ModelResult result;
  result.info.id = "org/name";
  result.capture.detail = "clean";
  Plan plan;
  plan.models.resize(1);
  Sweep sweep;
  sweep.id = "s1";
  socket_->OnResult(result, 9, 9);  // of a sweep before: not ours
  socket_->OnAccepted(command.id, "s1");
  socket_->OnPlan(plan, 0);
  socket_->OnResult(result, 1, 1);
  socket_->OnFinished(sweep);

  const auto end = followed.get();
  ASSERT_TRUE(end && *end) << end.error().message;
  EXPECT_EQ((*end)->sweep.id, "s1");
  EXPECT_EQ((*end)->behind, std::vector<std::string>{"loki"});
  EXPECT_EQ(heard.planned, 1u);
  EXPECT_EQ(heard.models, std::vector<std::string>{"org/name"});
}

TEST_F(ControlSocketTest, PassesTheSweepsErrorOnWithItsCode) {
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  const Command command = NextCommand();
  socket_->OnAccepted(command.id, "s1");
  socket_->OnFailed({ErrorCode::kUnavailable, "the Hub is away"});
  const auto end = followed.get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(end.error().message, "the Hub is away");
}

// A gate that a drain passes when the test lets it.
class Gate {
 public:
  void Pass() {
    entered_.set_value();
    open_.get_future().wait();
  }
  void WaitUntilEntered() { entered_.get_future().wait(); }
  void Open() { open_.set_value(); }

 private:
  std::promise<void> entered_, open_;
};

TEST_F(ControlSocketTest, TellsEveryFollowerOfItsOwnSweepWhenTheyEndDuringOneWait) {
  Gate gate;
  std::atomic<int> drains{0};
  drain_ = [&](const std::stop_token&) {
    if (drains++ == 0) gate.Pass();
  };
  Heard heard;
  Sweep first, second;
  first.id = "s1";
  second.id = "s2";
  auto one = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  socket_->OnAccepted(NextCommand().id, "s1");
  auto two = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  const Command later = NextCommand();
  socket_->OnFinished(first);
  gate.WaitUntilEntered();
  socket_->OnAccepted(later.id, "s2");
  socket_->OnFinished(second);
  gate.Open();
  const auto end_of_one = one.get(), end_of_two = two.get();
  ASSERT_TRUE(end_of_one && *end_of_one && end_of_two && *end_of_two);
  EXPECT_EQ((*end_of_one)->sweep.id, "s1");
  EXPECT_EQ((*end_of_two)->sweep.id, "s2");
}

TEST_F(ControlSocketTest, GivesTheWaitForExportersUpWhenItEnds) {
  std::promise<void> entered;
  drain_ = [&](const std::stop_token& stop) {
    entered.set_value();
    std::promise<void> stopped;
    const std::stop_callback on_stop(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
  };
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  socket_->OnAccepted(NextCommand().id, "s1");
  socket_->OnFinished({});
  entered.get_future().wait();
  socket_.reset();
  const auto end = followed.get();
  ASSERT_TRUE(end && *end);
  EXPECT_EQ((*end)->behind, std::vector<std::string>{"loki"});
}

TEST_F(ControlSocketTest, PassesOnThatThereIsNothingToResume) {
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  socket_->OnRefused(NextCommand().id, {ErrorCode::kNotFound, "nothing to resume"});
  const auto end = followed.get();
  ASSERT_FALSE(end);  // unlike "no daemon"
  EXPECT_EQ(end.error().code, ErrorCode::kNotFound);
}

TEST_F(ControlSocketTest, SaysWhenTheDaemonGoesAway) {
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  NextCommand();
  socket_.reset();
  const auto end = followed.get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kInternal);
}

TEST_F(ControlSocketTest, IsNotThereWithoutADaemon) {
  socket_.reset();
  Heard heard;
  const auto end = FollowSweep(path_, {}, heard);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_FALSE(end->has_value());
}

// What a client that speaks no protocol of ours is answered.
std::string AnswerTo(const std::string& path, const std::string& line) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  char buffer[4096];
  ssize_t size = -1;
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      send(fd, line.data(), line.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(line.size())) {
    size = read(fd, buffer, sizeof buffer);
  }
  close(fd);
  return {buffer, static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

TEST_F(ControlSocketTest, RefusesWhatIsNoRequestAndGoesOn) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& line :
       {std::string("garbage\n"), std::string("[]\n"), std::string("{\"type\":5}\n"), std::string("{\"type\":null}\n"),
        std::string("{\"request\":{}}\n"), std::string("\xff\n"), "{\"type\":\"sweep\",\"request\":" + deep + "}\n"}) {
    EXPECT_NE(AnswerTo(path_, line).find("expected a sweep request"), std::string::npos) << line.substr(0, 40);
  }
}

TEST_F(ControlSocketTest, IsTheOwnersAlone) {
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace breakwatch::api
