#include "local_gateway.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

namespace breakwatch::commands {
namespace {

constexpr const char* kProgram = "prometheus-pushgateway";
constexpr const char* kAddress = "127.0.0.1:9091";
constexpr int kTries = 100;
constexpr std::chrono::milliseconds kPause{50};

enum class Answer { kNobody, kGateway, kSomeoneElse };

Answer Ask(net::HttpSender& sender) {
  net::HttpRequest request;
  request.url = std::string("http://") + kAddress + "/api/v1/status";
  request.connect_timeout = std::chrono::milliseconds(500);
  request.timeout = std::chrono::milliseconds(2'000);
  const auto response = sender.Send(request);
  if (!response) return Answer::kNobody;
  const bool gateway = response->status == 200 && response->body.find("build_information") != std::string::npos;
  return gateway ? Answer::kGateway : Answer::kSomeoneElse;
}

// Starts it in its own session, so that it continues after this run.
std::optional<pid_t> Start(const std::string& state_dir) {
  std::error_code ignored;
  std::filesystem::create_directories(state_dir, ignored);
  const std::string log = state_dir + "/pushgateway.log";
  const std::string data =
      "--persistence.file=" + std::filesystem::absolute(state_dir, ignored).string() + "/pushgateway.data";
  const std::string listen = std::string("--web.listen-address=") + kAddress;
  std::vector<std::string> words = {kProgram, listen, data};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int failed = posix_spawnp(&pid, kProgram, &files, &attributes, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return std::nullopt;
  std::ofstream(state_dir + "/pushgateway.pid") << pid << "\n";
  return pid;
}

}  // namespace

void UseLocalGateway(App& app) {
  Settings& settings = app.loaded.settings;
  if (!settings.exporters.pushgateway.url.empty()) return;
  const auto sender = app.make_sender();
  Answer answer = Ask(*sender);
  if (answer == Answer::kSomeoneElse) {
    app.log(Level::kWarn, std::string(kAddress) + " is in use, but not by a Pushgateway; metrics are not pushed");
    return;
  }
  if (answer == Answer::kNobody) {
    const auto pid = Start(settings.state_dir);
    for (int i = 0; pid && answer == Answer::kNobody && i < kTries; ++i) {
      std::this_thread::sleep_for(kPause);
      answer = Ask(*sender);
    }
    if (answer != Answer::kGateway) {
      app.log(Level::kWarn, std::string("no Pushgateway is configured and ") + kProgram +
                                " does not start; metrics are not pushed (see " + settings.state_dir +
                                "/pushgateway.log)");
      return;
    }
    app.log(Level::kInfo, std::string("no Pushgateway is configured: started ") + kProgram + " on http://" + kAddress +
                              ", process " + std::to_string(*pid) + "; it keeps running (to stop it: kill $(cat " +
                              settings.state_dir + "/pushgateway.pid))");
  } else {
    app.log(Level::kInfo, std::string("no Pushgateway is configured: using the one on http://") + kAddress);
  }
  settings.exporters.pushgateway.url = std::string("http://") + kAddress;
  app.loaded.origins["exporters.pushgateway.url"] = {config::Origin::Kind::kFlag, "--local-gateway"};
}

}  // namespace breakwatch::commands
