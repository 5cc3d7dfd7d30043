#include "repeats_fixture.h"

namespace breakwatch::store {
namespace {

class SqliteBackend : public Backend {
 public:
  std::string Unavailable() override { return ""; }
  std::string NewDatabase() override {
    return "sqlite:" + (folder_.path() / ("database " + std::to_string(++count_) + ".db")).string();
  }

 private:
  TemporaryFolder folder_;
  int count_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Sqlite, StoreTest, ::testing::Values(std::make_shared<SqliteBackend>()),
                         [](const auto&) { return "Sqlite"; });
INSTANTIATE_TEST_SUITE_P(Sqlite, RepeatsTest, ::testing::Values(std::make_shared<SqliteBackend>()),
                         [](const auto&) { return "Sqlite"; });

}  // namespace
}  // namespace breakwatch::store
