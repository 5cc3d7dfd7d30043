// The fixture: a new database for each test, on the backend of this program, and sample values.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "breakwatch/store/store.h"
#include "fakes/fake_clock.h"

namespace breakwatch::store {

// Makes databases; one per program, chosen by which *_backend.cc is linked.
class Backend {
 public:
  virtual ~Backend() = default;
  // Empty, or the reason why it cannot run here.
  virtual std::string Unavailable() = 0;
  // The URL of a database that does not exist yet or is empty.
  virtual std::string NewDatabase() = 0;
};

// A folder of its own, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

Toolchain SampleToolchain();
Sweep SampleSweep(const std::string& id);
Sweep FinishedSweep(const std::string& id);
PlannedModel SamplePlanned(const std::string& model);
Plan SamplePlan(const std::string& sweep_id, const std::vector<std::string>& models);
// A good capture with one break site; capture "capture-<sweep>-<model>", structure "structure-<model>".
ModelResult SampleResult(const std::string& sweep_id, const std::string& model);
Event SampleEvent(const std::string& name, const std::string& model = "");
TrackedModel SampleTracked(const std::string& model);

// Stores one result in a transaction of its own.
Result<void> AppendOne(SweepStore& store, const ModelResult& result, std::span<const Event> events = {},
                       const CurrentChange& change = {});

class StoreTest : public ::testing::TestWithParam<std::shared_ptr<Backend>> {
 protected:
  void SetUp() override;
  // A further session on the same database, or on `url`.
  std::unique_ptr<Store> Open(bool read_only = false);
  // Begins a sweep of these models; fails the test when it cannot.
  void Begin(const std::string& sweep_id, const std::vector<std::string>& models);
  void Append(const ModelResult& result);
  void Finish(const std::string& sweep_id);
  // A further sweep, which ends with these trends.
  void FinishWith(TrendChange trends);
  // A finished sweep "s1" of a/a, b/b and c/c, with an event and a row of the fold each.
  void StoreThreeModels();
  // Executes a statement directly in the database, and opens the store again.
  void Break(const std::string& statement);

  fakes::FakeClock clock_;
  std::string url_;
  std::unique_ptr<Store> store_;
  std::vector<std::string> reported_;  // damage that sessions reported
};

}  // namespace breakwatch::store

// For Result<T>: passes when ok, else shows the error.
#define ASSERT_OK(expression)                             \
  do {                                                    \
    const auto& result_ = (expression);                   \
    ASSERT_TRUE(result_.ok()) << result_.error().message; \
  } while (false)
#define EXPECT_OK(expression)                             \
  do {                                                    \
    const auto& result_ = (expression);                   \
    EXPECT_TRUE(result_.ok()) << result_.error().message; \
  } while (false)
