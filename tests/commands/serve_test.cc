// `breakwatch serve`: how it starts and stops, what signals do, and what it does for other commands.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "breakwatch/store/writer_lock.h"
#include "commands/command_fixture.h"
#include "fakes/environment_variable.h"

namespace breakwatch::commands {
namespace {

namespace fs = std::filesystem;

void Send(int signal) { kill(getpid(), signal); }

class ServeTest : public CommandTest {
 protected:
  ServeTest() {
    settings_ = {"--web.listen_address", "127.0.0.1:0"};
    HubLists({FakeModel("org/a", 1, Config(1)), FakeModel("org/b", 2, Config(2))});
  }
  // Serves; before each wait of the loop, steps are taken in order while they answer true. The last one stops it.
  Ran Serve(const std::string& flags, std::vector<std::function<bool()>> steps) {
    steps.emplace_back([] { return Send(SIGTERM), true; });
    std::size_t taken = 0;
    Workers().on_wait = [&] {
      while (taken < steps.size() && steps[taken]()) ++taken;
    };
    Ran ran = Run("serve " + flags);
    Workers().on_wait = nullptr;
    EXPECT_EQ(taken, steps.size());
    return ran;
  }
  static std::function<bool()> Signal(int signal) {
    return [signal] { return Send(signal), true; };
  }
  // True once the loop was woken and waits again: it took what it was woken for.
  static std::function<bool()> Woken() {
    return [waits = 0]() mutable { return waits++ > 0; };
  }
  // True once this number of captures ended.
  std::function<bool()> Captured(std::size_t captures) {
    return [this, captures] { return Captures() == captures && Workers().Capacity() == 2; };
  }
  // Serves until a command ended that runs in another thread, as another process would.
  Ran ServeBeside(const std::string& command_line, Ran& ran) {
    std::thread client;
    Workers().on_wait = [&] {
      if (client.joinable()) return;
      client = std::thread([&] {
        ran = Run(command_line);
        Send(SIGTERM);
      });
    };
    Ran served = Run("serve");
    Workers().on_wait = nullptr;
    client.join();
    return served;
  }
};

TEST_F(ServeTest, StartsAndStopsOnASignal) {
  const Ran ran = Serve("", {});
  EXPECT_THAT(ran, Succeeds());
  EXPECT_THAT(ran.err, HasSubstr("listening on http://127.0.0.1:"));
  EXPECT_THAT(ran.err, HasSubstr("stopped"));
  EXPECT_EQ(ran.out, "");
  EXPECT_FALSE(fs::exists(StateDir() + "/control.sock")) << "another daemon may start";
}

TEST_F(ServeTest, SweepsOnASignal) {
  const Ran ran = Serve("", {Signal(SIGUSR1), Captured(2)});
  EXPECT_THAT(ran, Succeeds());
  EXPECT_THAT(ran.err, HasSubstr("finished"));
  EXPECT_EQ(RunJson("report")["sweep"]["trigger"], "signal");
  EXPECT_TRUE(fs::exists(StateDir() + "/latest/report.md"));
}

TEST_F(ServeTest, ContinuesAnUnfinishedSweepAtItsStart) {
  InterruptAfter(1);
  ASSERT_THAT(Run("sweep"), EndsWith(kExitInterrupted));
  const std::string id = Store()->Sweeps(1)->at(0).id;
  EXPECT_THAT(Serve("", {[this] { return Workers().StartsOf("org/b") == 2 && Workers().Capacity() == 2; }}),
              Succeeds());
  EXPECT_EQ(Store()->Sweeps(2)->size(), 1u);
  EXPECT_EQ(Store()->FindSweep(id)->state, SweepState::kFinished);
}

TEST_F(ServeTest, ReadsItsSettingsAgainOnAHangup) {
  const std::string file = folder_ / "site.yaml";
  folder_.Write("site.yaml", "hub: {top: 5}\n");
  const auto change = [this] {
    folder_.Write("site.yaml", "hub: {top: 6}\nstore: {url: \"sqlite:elsewhere.db\"}\n");
    return Send(SIGHUP), true;
  };
  const Ran ran = Serve("--config.file " + file, {change, Woken(), Signal(SIGUSR1), Captured(2)});
  EXPECT_THAT(ran.err, HasSubstr("settings reloaded; these need a restart: store.url"));
  EXPECT_EQ(lister_.Requests().back().top, 6);
}

TEST_F(ServeTest, KeepsItsSettingsIfTheNewOnesAreInvalid) {
  const std::string file = folder_ / "site.yaml";
  folder_.Write("site.yaml", "hub: {top: 5}\n");
  const auto change = [this] {
    folder_.Write("site.yaml", "hub: {tpo: 6}\n");
    return Send(SIGHUP), true;
  };
  const Ran ran = Serve("--config.file " + file, {change, Woken(), Signal(SIGUSR1), Captured(2)});
  EXPECT_THAT(ran, Fails(kExitOk, "did you mean \"top\"?"));
  EXPECT_EQ(lister_.Requests().back().top, 5);
}

TEST_F(ServeTest, SweepsForTheCommandLine) {
  Ran swept;
  EXPECT_THAT(ServeBeside("sweep --capture.seed 3 --top 2", swept), Succeeds());
  EXPECT_THAT(swept, Prints("2 full_graph"));
  EXPECT_THAT(swept.err, HasSubstr("uses its own settings; ignored: --capture.seed"));
  EXPECT_THAT(swept.out, HasSubstr(StateDir() + "/latest/report.md"));
  EXPECT_EQ(lister_.Requests().back().top, 2);
}

TEST_F(ServeTest, TellsTheCommandLineThatAModelDoesNotExist) {
  HubFinds({Excluded("org/none", 0, Status::kSkippedNotFound, "not on the Hub")});
  Ran swept;
  EXPECT_THAT(ServeBeside("sweep --model org/none", swept), Succeeds());
  EXPECT_THAT(swept, Fails(kExitFailure, "org/none not found"));
}

TEST_F(ServeTest, TellsTheCommandLineThatTheHubIsUnavailable) {
  HubFails({ErrorCode::kUnavailable, "http://hub.test: connection refused", true, {}});
  Ran swept;
  EXPECT_THAT(ServeBeside("sweep", swept), Succeeds());
  EXPECT_THAT(swept, Fails(kExitUnavailable, "http://hub.test"));
}

TEST_F(ServeTest, TellsTheCommandLineThatATargetRefused) {
  metrics_->AnswerAlways({Delivery::kRefused, "422 no", {}, false});
  Ran swept;
  EXPECT_THAT(ServeBeside("sweep", swept), Succeeds());
  EXPECT_THAT(swept, Fails(kExitIncomplete, "pushgateway did not accept everything"));
}

TEST_F(ServeTest, HasNothingToContinueForTheCommandLineEither) {
  Ran swept;
  EXPECT_THAT(ServeBeside("sweep --resume", swept), Succeeds());
  EXPECT_THAT(swept, Fails(kExitFailure, "nothing to resume"));
}

TEST_F(ServeTest, StoresTheTraceOfAnImport) {
  trace_ = SampleTrace();
  Ran imported;
  EXPECT_THAT(ServeBeside("import /tmp/trace --model acme/net --commit 3f9a1c2", imported), Succeeds());
  EXPECT_THAT(imported, Prints("Data-dependent branching"));
  EXPECT_THAT(Run("show acme/net"), Prints("2 breaks"));
}

TEST_F(ServeTest, CapturesTheCombinationsOfABisection) {
  Install("old", "2.13.0", "5.8.0");
  HubFinds({FakeModel("org/model", 0, Config(1))});
  Workers().Script("org/model", GoodCapture({FakeSite("one", "GB0001")}));
  Ran bisected;
  EXPECT_THAT(ServeBeside("bisect org/model --from old --quiet", bisected), Succeeds());
  EXPECT_THAT(bisected, Prints("torch and transformers together"));
  EXPECT_EQ(Captures(), 4u);
}

TEST_F(ServeTest, TellsTheServiceManagerThatItIsReadyAndThatItStops) {
  const std::string path = folder_ / "notify";
  const int manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(bind(manager, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const fakes::EnvironmentVariable notify("NOTIFY_SOCKET", path);
  ASSERT_THAT(Serve("", {}), Succeeds());
  std::vector<std::string> messages;
  std::array<char, 256> message{};
  for (ssize_t size; (size = recv(manager, message.data(), message.size(), 0)) > 0;)
    messages.emplace_back(message.data(), static_cast<std::size_t>(size));
  close(manager);
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[0], HasSubstr("READY=1"));
  EXPECT_EQ(messages[1], "STOPPING=1");
}

TEST_F(ServeTest, NamesAnAddressThatIsTaken) {
  const int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  getsockname(taken, reinterpret_cast<sockaddr*>(&address), &size);
  const std::string text = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  EXPECT_THAT(Run("serve --web.listen_address " + text), Fails(kExitFailure, text));
  close(taken);
}

TEST_F(ServeTest, DoesNotStartBesideAnotherWriter) {
  const auto lock = store::WriterLock::Take(StateDir());
  ASSERT_TRUE(lock.ok());
  EXPECT_THAT(Run("serve"), Fails(kExitStore, "in use by process"));
}

TEST_F(ServeTest, DoesNotStartWithoutTheTokenThatIsConfigured) {
  EXPECT_THAT(Run("serve --web.token_file " + (folder_ / "absent")), Fails(kExitConfig, folder_ / "absent"));
}

TEST_F(ServeTest, EndsIfItsStateDirectoryIsRemoved) {
  const auto remove = [this] { return fs::remove_all(StateDir()), true; };
  Workers().on_wait = [&, removed = false]() mutable {
    if (!removed) removed = remove();
  };
  EXPECT_THAT(Run("serve"), Fails(kExitStore, "was removed"));
}

}  // namespace
}  // namespace breakwatch::commands
