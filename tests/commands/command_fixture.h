// Runs command lines as main does, each with an App of its own: a Hub, workers and targets that the test scripts, and
// a real store in a temporary directory.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "breakwatch/commands/app.h"
#include "breakwatch/exporters/memory.h"
#include "engine/support.h"
#include "fakes/fake_capture_runner.h"
#include "fakes/fake_clock.h"
#include "fakes/fake_model_lister.h"
#include "fakes/temporary_directory.h"

namespace breakwatch::commands {

using engine::Config;
using engine::Excluded;
using engine::ListOf;
using fakes::FailedCapture;
using fakes::FakeModel;
using fakes::FakeSite;
using fakes::GoodCapture;
using ::testing::HasSubstr;
using ::testing::Not;

// What a command line left behind. `err`: messages, progress and the log.
struct Ran {
  int code = -1;
  std::string out, err;
  // Of the output; a discarded value if it is no JSON.
  nlohmann::json Json() const { return nlohmann::json::parse(out, nullptr, /*allow_exceptions=*/false); }
};
inline void PrintTo(const Ran& ran, std::ostream* to) {
  *to << "exit code " << ran.code << "\n--- out\n" << ran.out << "--- err\n" << ran.err;
}

MATCHER(Succeeds, "ends with exit code 0") { return arg.code == kExitOk; }
MATCHER_P(EndsWith, code, "") { return arg.code == code; }
// The exit code, and a part of the messages.
MATCHER_P2(Fails, code, text, "") { return arg.code == code && arg.err.find(text) != std::string::npos; }
// Success, and a part of the output.
MATCHER_P(Prints, text, "") { return arg.code == kExitOk && arg.out.find(text) != std::string::npos; }

// What a job's trace has: one model with two breaks at one site.
ReadTrace SampleTrace();

class CommandTest : public ::testing::Test {
 protected:
  CommandTest();

  // Runs "sweep --top 3": the words are split at blanks, and follow the state directory of the test.
  Ran Run(const std::string& command_line);
  Ran RunWords(std::vector<std::string> words);
  // Both, as JSON; fails the test if the exit code is another or the output is no JSON.
  nlohmann::json RunJson(const std::string& command_line, int code = kExitOk);
  // The results of the newest sweep, by model.
  std::map<std::string, std::string> Statuses();

  // The answer to the next listing and all after it.
  void HubLists(std::vector<RankedModel> models) { lister_.AnswerFromNow(ListOf(std::move(models))); }
  // The same for models that were asked for by name.
  void HubFinds(std::vector<RankedModel> models) { lister_.AnswerFromNow(ListOf(std::move(models), /*ranked=*/false)); }
  void HubFails(Error error) { lister_.AnswerFromNow(std::move(error)); }
  // The worker processes of a toolchain. They may be scripted before the first sweep.
  fakes::FakeCaptureRunner& Workers(const std::string& torch = "2.15.0", const std::string& transformers = "5.23.0");
  // Captures by all workers so far.
  std::size_t Captures() const;
  // Adds toolchain `name` to the settings of all command lines.
  void Install(const std::string& name, const std::string& torch, const std::string& transformers);
  // Once this number of captures ended, the program gets SIGTERM while others run.
  void InterruptAfter(int captures) { signal_after_ = captures; }

  std::string StateDir() const { return folder_ / "state"; }
  std::unique_ptr<store::Store> Store() {
    return engine::OpenStoreAt("sqlite:" + StateDir() + "/breakwatch.db", clock_);
  }
  // Executes a statement on the database, past the store.
  void Sql(const std::string& statement);

  fakes::TemporaryDirectory folder_{FastDirectory()};
  fakes::FakeClock clock_;
  fakes::FakeModelLister lister_;
  std::vector<std::string> settings_;  // flags of all command lines
  // Exporters "pushgateway" and "loki".
  std::shared_ptr<exporters::MemoryRecord> metrics_ = std::make_shared<exporters::MemoryRecord>();
  std::shared_ptr<exporters::MemoryRecord> events_ = std::make_shared<exporters::MemoryRecord>();
  bool required_ = true;                  // both
  std::FILE* standard_output_ = nullptr;  // instead of a stream that is captured
  std::optional<Error> no_workers_;       // of the factory of workers
  std::optional<Error> compose_error_;    // of combining two toolchains
  std::function<Result<net::HttpResponse>(const net::HttpRequest&)> answer_;
  std::vector<Check> toolchain_checks_{{"worker", Check::State::kOk, "default torch 2.15.0", ""}};
  std::string hub_endpoint_ = "http://hub.test";
  Result<std::string> discovered_ = Error{ErrorCode::kInternal, "no worker program"};
  std::vector<DiscoverRequest> discoveries_;
  Result<ReadTrace> trace_ = Error{ErrorCode::kNotFound, "no trace"};

 private:
  class Borrowed;
  // In memory where that is possible: a store syncs each of its writes, and these tests do not need durability.
  static std::string FastDirectory();
  void Fill(App& app);
  Result<Toolchain> Describe(const Settings& settings) const;
  Result<Settings> WithToolchain(Settings settings, const ToolchainRef& toolchain) const;

  std::map<std::string, Toolchain> installed_;               // by interpreter
  std::map<std::string, fakes::FakeCaptureRunner> workers_;  // by versions
  std::optional<int> signal_after_;
  int ended_ = 0;
};

// A finished sweep of three models: org/broken with two reasons, org/clean, and org/slow without numbers.
class SweptTest : public CommandTest {
 protected:
  void SetUp() override;
};

}  // namespace breakwatch::commands
