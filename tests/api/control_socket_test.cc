#include "breakwatch/api/control_socket.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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
    auto listening = ControlSocket::Listen(path_, commands_, {}, {"default"}, [this](const std::stop_token& stop) {
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

TEST_F(ControlSocketTest, SendsARequestAndFollowsItsSweep) {
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
  socket_->OnResult(result, 9, 9);  // of an earlier sweep: not for this follower
  socket_->OnAccepted(command.id, "s1");
  socket_->OnPlan(plan, 0);
  socket_->OnResult(result, 1, 1);
  socket_->OnFinished(sweep);
  socket_->OnServed(command.id, nullptr);

  const auto end = followed.get();
  ASSERT_TRUE(end && *end) << end.error().message;
  ASSERT_EQ((*end)->sweeps.size(), 1u);
  EXPECT_EQ((*end)->sweeps[0].id, "s1");
  EXPECT_FALSE((*end)->error);
  EXPECT_EQ((*end)->behind, std::vector<std::string>{"loki"});
  EXPECT_EQ(heard.planned, 1u);
  EXPECT_EQ(heard.models, std::vector<std::string>{"org/name"});
}

TEST_F(ControlSocketTest, PassesTheSweepsErrorOnWithItsCode) {
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  const Command command = NextCommand();
  socket_->OnAccepted(command.id, "s1");
  const Error away{ErrorCode::kUnavailable, "the Hub is away"};
  socket_->OnServed(command.id, &away);
  const auto end = followed.get();
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(end.error().message, "the Hub is away");
}

TEST_F(ControlSocketTest, FollowsTheSweepsOfEveryToolchainAndPassesTheFirstErrorOn) {
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  const Command command = NextCommand();
  socket_->OnAccepted(command.id, "s1");
  Sweep first, second;
  first.id = "s1", first.complete = true;
  second.id = "s2", second.toolchain.name = "older";
  ModelResult result;
  result.info.id = "org/later";
  result.capture.detail = "clean";
  socket_->OnFinished(first);
  socket_->OnResult(result, 1, 1);  // by the further toolchain
  socket_->OnFinished(second);
  const Error gone{ErrorCode::kUsage, "no toolchain oldest"};
  socket_->OnServed(command.id, &gone);

  const auto end = followed.get();
  ASSERT_TRUE(end && *end) << end.error().message;
  ASSERT_EQ((*end)->sweeps.size(), 2u);
  EXPECT_TRUE((*end)->sweeps[0].complete);
  EXPECT_EQ((*end)->sweeps[1].toolchain.name, "older");
  ASSERT_TRUE((*end)->error);
  EXPECT_EQ((*end)->error->message, "no toolchain oldest");
  EXPECT_EQ(heard.models, std::vector<std::string>{"org/later"});
}

TEST_F(ControlSocketTest, CarriesAnImportedCaptureAndAnInterpreter) {
  Heard heard;
  SweepRequest request;
  request.toolchain = {"mixed", "/opt/mixed/bin/python"};
  request.saved_plan.emplace().models.resize(1);
  request.saved_plan->models[0].info.id = "org/name";
  request.imported.emplace().detail = "read from a trace";
  request.imported->breaks = 7;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, request, heard); });
  const Command command = NextCommand();
  EXPECT_EQ(command.request.toolchain, request.toolchain);
  ASSERT_TRUE(command.request.imported);
  EXPECT_EQ(command.request.imported->breaks, 7);
  EXPECT_EQ(command.request.saved_plan->models[0].info.id, "org/name");
  socket_->OnRefused(command.id, {ErrorCode::kUsage, "enough seen"});
  followed.get();
}

// A gate at which a drain waits until the test opens it.
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

TEST_F(ControlSocketTest, ReportsTheOwnSweepToEveryFollowerWhenSweepsEndDuringOneWait) {
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
  const Command earlier = NextCommand();
  socket_->OnAccepted(earlier.id, "s1");
  auto two = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  const Command later = NextCommand();
  socket_->OnFinished(first);
  socket_->OnServed(earlier.id, nullptr);
  gate.WaitUntilEntered();
  socket_->OnAccepted(later.id, "s2");
  socket_->OnFinished(second);
  socket_->OnServed(later.id, nullptr);
  gate.Open();
  const auto end_of_one = one.get(), end_of_two = two.get();
  ASSERT_TRUE(end_of_one && *end_of_one && end_of_two && *end_of_two);
  EXPECT_EQ((*end_of_one)->sweeps.front().id, "s1");
  EXPECT_EQ((*end_of_two)->sweeps.front().id, "s2");
}

TEST_F(ControlSocketTest, EndsTheWaitForExportersWhenItStops) {
  std::promise<void> entered;
  drain_ = [&](const std::stop_token& stop) {
    entered.set_value();
    std::promise<void> stopped;
    const std::stop_callback on_stop(stop, [&] { stopped.set_value(); });
    stopped.get_future().wait();
  };
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  const Command command = NextCommand();
  socket_->OnAccepted(command.id, "s1");
  socket_->OnFinished({});
  socket_->OnServed(command.id, nullptr);
  entered.get_future().wait();
  socket_.reset();
  const auto end = followed.get();
  ASSERT_TRUE(end && *end);
  EXPECT_EQ((*end)->behind, std::vector<std::string>{"loki"});
}

TEST_F(ControlSocketTest, ReportsThatThereIsNothingToResume) {
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, {}, heard); });
  socket_->OnRefused(NextCommand().id, {ErrorCode::kNotFound, "nothing to resume"});
  const auto end = followed.get();
  ASSERT_FALSE(end);  // unlike without a daemon
  EXPECT_EQ(end.error().code, ErrorCode::kNotFound);
}

TEST_F(ControlSocketTest, ReportsThatTheDaemonEnded) {
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

// The response to a client that does not use the protocol.
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

TEST_F(ControlSocketTest, RejectsWhatIsNotARequestAndContinues) {
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  for (const std::string& line :
       {std::string("garbage\n"), std::string("[]\n"), std::string("{\"type\":5}\n"), std::string("{\"type\":null}\n"),
        std::string("{\"request\":{}}\n"), std::string("\xff\n"), "{\"type\":\"sweep\",\"request\":" + deep + "}\n"}) {
    EXPECT_NE(AnswerTo(path_, line).find("expected a sweep request"), std::string::npos) << line.substr(0, 40);
  }
}

TEST_F(ControlSocketTest, RefusesAnImportThatIsNotOfOneModel) {
  const std::string answer =
      AnswerTo(path_, R"({"type":"sweep","request":{},"capture":{"status":"full_graph","detail":"d"}})"
                      "\n");
  EXPECT_NE(answer.find("a plan with exactly one model"), std::string::npos) << answer;
  EXPECT_NE(AnswerTo(path_, R"({"type":"sweep","request":{},"capture":{"graphs":"many"}})"
                            "\n")
                .find("graphs"),
            std::string::npos);
}

// The response to another user of this machine; only this thread acts as that user.
Result<std::optional<Followed>> FollowAsAnotherUser(const std::string& path, const SweepRequest& request) {
  constexpr uid_t kNobody = 65534;
  return std::async(std::launch::async,
                    [&] {
                      Heard heard;
                      // The C library's function would change the user of every thread.
                      EXPECT_EQ(syscall(SYS_setresuid, kNobody, kNobody, 0), 0);
                      return FollowSweep(path, request, heard);
                    })
      .get();
}

TEST_F(ControlSocketTest, AnotherUserCannotNameAProgram) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  std::filesystem::permissions(dir_, std::filesystem::perms::all);
  std::filesystem::permissions(path_, std::filesystem::perms::all);
  SweepRequest python, toolchain, script, plan;
  python.toolchain = {"default", "/tmp/evil"};
  toolchain.toolchain.name = "other";
  script.list.ids = {"script:/tmp/evil.py"};
  plan.saved_plan.emplace().models.resize(1);
  plan.saved_plan->models[0].info.id = "python:evil:make";
  for (const SweepRequest& request : {python, toolchain, script, plan}) {
    const auto refused = FollowAsAnotherUser(path_, request);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUsage) << refused.error().message;
  }
  EXPECT_FALSE(commands_.Pop());
  SweepRequest plain;
  plain.toolchain.name = "default";
  auto followed = std::async(std::launch::async, [&] { return FollowAsAnotherUser(path_, plain); });
  const Command command = NextCommand();
  EXPECT_EQ(command.request.toolchain.name, "default");
  socket_->OnRefused(command.id, {ErrorCode::kInternal, "enough seen"});
  EXPECT_EQ(followed.get().error().message, "enough seen");
}

TEST_F(ControlSocketTest, TheDaemonsOwnUserCanNameAProgram) {
  SweepRequest request;
  request.toolchain.name = "other", request.list.ids = {"script:mine.py"};
  Heard heard;
  auto followed = std::async(std::launch::async, [&] { return FollowSweep(path_, request, heard); });
  const Command command = NextCommand();
  EXPECT_EQ(command.request.list.ids, request.list.ids);
  socket_->OnRefused(command.id, {ErrorCode::kInternal, "enough seen"});
  followed.get();
}

TEST_F(ControlSocketTest, IsAccessibleToItsOwnerOnly) {
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

}  // namespace
}  // namespace breakwatch::api
