#include "commands/command_fixture.h"

#include <poll.h>
#include <signal.h>
#include <soci/soci.h>
#include <soci/sqlite3/soci-sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include "breakwatch/core/event.h"

namespace breakwatch::commands {
namespace {

constexpr const char* kPython = "/environments/default/bin/python";

// A stream whose text can be read back. Not a terminal.
class CapturedStream {
 public:
  ~CapturedStream() { std::fclose(file_); }
  std::FILE* file() { return file_; }
  std::string Text() {
    std::fflush(file_);
    std::rewind(file_);
    std::string text;
    for (int c; (c = std::fgetc(file_)) != EOF;) text += static_cast<char>(c);
    return text;
  }

 private:
  std::FILE* file_ = std::tmpfile();
};

class FakeSender final : public net::HttpSender {
 public:
  using Answer = std::function<Result<net::HttpResponse>(const net::HttpRequest&)>;
  explicit FakeSender(Answer answer) : answer_(std::move(answer)) {}
  Result<net::HttpResponse> Send(const net::HttpRequest& request) override {
    if (answer_) return answer_(request);
    return Error{ErrorCode::kUnavailable, request.url + ": connection refused", true, {}};
  }

 private:
  const Answer answer_;
};

class BorrowedLister final : public ModelLister {
 public:
  explicit BorrowedLister(ModelLister& lister) : lister_(lister) {}
  Result<RankedList> List(const ListRequest& request, std::stop_token stop, const Progress& progress) override {
    return lister_.List(request, std::move(stop), progress);
  }

 private:
  ModelLister& lister_;
};

std::string KeyOf(const std::string& torch, const std::string& transformers) { return torch + " " + transformers; }

void ForgetSettingsOfTheEnvironment() {
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (text.starts_with("BREAKWATCH_")) names.push_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

}  // namespace

ReadTrace SampleTrace() {
  ReadTrace trace;
  trace.capture = GoodCapture({FakeSite("Data-dependent branching", "GB0170", 2)});
  trace.capture.mode = kImport;
  trace.capture.toolchain = {kImport, "2.15.0", "", "", "trace", ""};
  trace.digest = "d1";
  trace.bytes = 2'500'000, trace.files = 2, trace.records = 40;
  return trace;
}

// The workers of the test, for one session.
class CommandTest::Borrowed final : public CaptureRunner {
 public:
  Borrowed(CommandTest& test, fakes::FakeCaptureRunner& workers) : test_(test), workers_(workers) {}
  std::size_t Capacity() const override { return workers_.Capacity(); }
  Result<void> Start(const CaptureJob& job) override { return workers_.Start(job); }
  Waited Wait(SteadyTime until, int wake_fd) override {
    if (test_.signal_after_ == test_.ended_) {
      test_.signal_after_.reset();
      kill(getpid(), SIGTERM);
      pollfd woken{wake_fd, POLLIN, 0};
      return {std::nullopt, poll(&woken, 1, 20'000) == 1};
    }
    Waited waited = workers_.Wait(until, wake_fd);
    if (waited.finished) ++test_.ended_;
    return waited;
  }
  std::vector<std::string> StopAll() override { return workers_.StopAll(); }

 private:
  CommandTest& test_;
  fakes::FakeCaptureRunner& workers_;
};

std::string CommandTest::FastDirectory() {
  constexpr const char* kInMemory = "/dev/shm";
  return access(kInMemory, W_OK) == 0 ? kInMemory : std::filesystem::temp_directory_path().string();
}

CommandTest::CommandTest() {
  // Who started the tests may have ignored some, as nohup does; the commands leave ignored signals alone.
  for (const int number : {SIGTERM, SIGHUP, SIGUSR1}) signal(number, SIG_DFL);
  ForgetSettingsOfTheEnvironment();
  installed_[kPython] = engine::TestToolchain();
}

void CommandTest::Fill(App& app) {
  app.version = "9.8.7";
  app.clock = &clock_;
  app.log = [&app](Level level, const std::string& text) {
    std::fprintf(app.err, "%s: %s\n", std::string(LevelName(level)).c_str(), text.c_str());
  };
  app.open_store = [this, &app](const Settings& settings, bool read_only) {
    std::error_code ignored;
    if (!read_only) std::filesystem::create_directories(settings.state_dir, ignored);
    store::StoreOptions options{config::StoreUrl(settings), read_only};
    options.on_damage = [&app](const store::Damage& damage) { NoteDamage(app, damage); };
    return store::Store::Open(options, clock_);
  };
  app.make_lister = [this](const Settings&) -> Result<std::unique_ptr<ModelLister>> {
    return std::unique_ptr<ModelLister>(std::make_unique<BorrowedLister>(lister_));
  };
  app.make_runner = [this](const Settings& settings) -> Result<std::unique_ptr<CaptureRunner>> {
    const auto toolchain = Describe(settings);
    if (!toolchain) return toolchain.error();
    if (no_workers_) return *no_workers_;
    return std::unique_ptr<CaptureRunner>(
        std::make_unique<Borrowed>(*this, Workers(toolchain->torch, toolchain->transformers)));
  };
  app.describe_toolchain = [this](const Settings& settings) { return Describe(settings); };
  app.compose_toolchain = [this](const std::string& torch, const std::string& rest, const std::string& target) {
    if (compose_error_) return Result<void>(*compose_error_);
    Toolchain mixed = installed_.at(rest);
    mixed.torch = installed_.at(torch).torch;
    installed_[target + "/bin/python"] = mixed;
    return Result<void>();
  };
  app.with_toolchain = [this](const Settings& settings, const ToolchainRef& toolchain) {
    return WithToolchain(settings, toolchain);
  };
  app.toolchain_names = [](const Settings& settings) { return std::vector<std::string>{settings.capture.toolchain}; };
  app.ignored_config_keys = [](const Settings&) { return engine::IgnoredKeys(); };
  app.make_exporters = [this](const Settings&) -> Result<engine::DeliveryThreads::Exporters> {
    engine::DeliveryThreads::Exporters exporters;
    exporters.metrics.push_back({exporters::MakeMemoryMetrics({.name = "pushgateway"}, metrics_), required_});
    exporters.events.push_back({exporters::MakeMemoryEvents({.name = "loki"}, events_), {.required = required_}});
    return exporters;
  };
  app.make_sender = [this] { return std::make_unique<FakeSender>(answer_); };
  app.hub_endpoint = [this](const Settings&) { return hub_endpoint_; };
  app.check_toolchain = [this](const Settings&) { return toolchain_checks_; };
  app.discover = [this](const Settings&, const DiscoverRequest& request) {
    discoveries_.push_back(request);
    return discovered_;
  };
  app.read_trace = [this](const std::string&, const TraceProgress&) { return trace_; };
  app.hub_record = [](App& recording, const HubRecordOptions& options) {
    std::fprintf(recording.out, "recorded %zu models in %s\n", options.models.size(), options.dir.c_str());
    return kExitOk;
  };
  app.hub_serve = [](App& serving, const HubServeOptions& options) {
    std::fprintf(serving.out, "served %s at %s:%d\n", options.dir.c_str(), options.host.c_str(), options.port);
    return kExitOk;
  };
}

Result<Toolchain> CommandTest::Describe(const Settings& settings) const {
  const auto& worker = settings.capture.worker;
  const auto found = installed_.find(worker.empty() ? kPython : worker.front());
  if (found == installed_.end()) return Error{ErrorCode::kInternal, "no worker program at " + worker.front()};
  Toolchain toolchain = found->second;
  toolchain.name = settings.capture.toolchain;
  return toolchain;
}

Result<Settings> CommandTest::WithToolchain(Settings settings, const ToolchainRef& toolchain) const {
  auto& capture = settings.capture;
  std::string python = toolchain.python;
  if (python.empty() && toolchain.name == capture.toolchain) python = kPython;
  for (const ToolchainRef& entry : capture.toolchains) {
    if (python.empty() && entry.name == toolchain.name) python = entry.python;
  }
  if (python.empty()) return Error{ErrorCode::kUsage, "unknown toolchain " + toolchain.name};
  capture.toolchain = toolchain.name;
  capture.worker = {python};
  return settings;
}

void CommandTest::Install(const std::string& name, const std::string& torch, const std::string& transformers) {
  const std::string python = "/environments/" + name + "/bin/python";
  installed_[python] = engine::TestToolchain(torch);
  installed_[python].transformers = transformers;
  settings_.insert(settings_.end(), {"--capture.toolchains", name + "=" + python});
}

fakes::FakeCaptureRunner& CommandTest::Workers(const std::string& torch, const std::string& transformers) {
  return workers_.try_emplace(KeyOf(torch, transformers), clock_).first->second;
}

std::size_t CommandTest::Captures() const {
  std::size_t captures = 0;
  for (const auto& [versions, workers] : workers_) captures += workers.started.size();
  return captures;
}

Ran CommandTest::Run(const std::string& command_line) {
  std::istringstream text(command_line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return RunWords(std::move(words));
}

Ran CommandTest::RunWords(std::vector<std::string> words) {
  words.insert(words.begin(), settings_.begin(), settings_.end());
  words.insert(words.begin(), {"breakwatch", "--state-dir", StateDir()});
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  CapturedStream out, err;
  App app;
  app.out = standard_output_ != nullptr ? standard_output_ : out.file();
  app.err = err.file();
  Fill(app);
  const int code = Main(app, static_cast<int>(words.size()), argv.data());
  return {code, out.Text(), err.Text()};
}

nlohmann::json CommandTest::RunJson(const std::string& command_line, int code) {
  const Ran ran = Run(command_line + " --json");
  EXPECT_THAT(ran, EndsWith(code));
  nlohmann::json json = ran.Json();
  EXPECT_FALSE(json.is_discarded()) << ran.out;
  return json;
}

std::map<std::string, std::string> CommandTest::Statuses() {
  std::map<std::string, std::string> statuses;
  const auto sweep = Store()->FindSweep("latest");
  EXPECT_TRUE(sweep.ok());
  if (!sweep) return statuses;
  for (const ModelResult& result : *Store()->Results(sweep->id)) {
    statuses[result.info.id] = StatusName(result.capture.status);
  }
  return statuses;
}

void CommandTest::Sql(const std::string& statement) {
  soci::session sql(soci::sqlite3, "dbname=" + StateDir() + "/breakwatch.db");
  sql << statement;
}

void SweptTest::SetUp() {
  HubLists({FakeModel("org/broken", 1, Config(1)), FakeModel("org/clean", 2, Config(2)),
            FakeModel("org/slow", 3, Config(3))});
  Workers().Script("org/broken", GoodCapture({FakeSite("Dynamic shape operator", "GB0036", 3),
                                              FakeSite("Data-dependent branching", "GB0170", 1)}));
  Workers().Script("org/slow", FailedCapture(Status::kTimeout, "capture took longer than 300 s"));
  ASSERT_THAT(Run("sweep --quiet"), Succeeds());
}

}  // namespace breakwatch::commands
