#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>

#include "postgresql_server.h"
#include "repeats_fixture.h"

namespace breakwatch::store {
namespace {

class PostgresqlBackend : public Backend {
 public:
  std::string Unavailable() override { return Server().unavailable(); }
  std::string NewDatabase() override {
    static int count = 0;
    const std::string name = "test_" + std::to_string(++count);
    soci::session sql(soci::postgresql, Server().Url("postgres"));
    sql << "CREATE DATABASE " + name;
    return Server().Url(name);
  }

 private:
  // Started by the first test that needs it, not while tests are listed.
  static PostgresqlServer& Server() {
    static PostgresqlServer server;
    return server;
  }
};

INSTANTIATE_TEST_SUITE_P(Postgresql, StoreTest, ::testing::Values(std::make_shared<PostgresqlBackend>()),
                         [](const auto&) { return "Postgresql"; });
INSTANTIATE_TEST_SUITE_P(Postgresql, RepeatsTest, ::testing::Values(std::make_shared<PostgresqlBackend>()),
                         [](const auto&) { return "Postgresql"; });

TEST_P(StoreTest, LetsOneWriterOfSweepsHaveADatabase) {
  const auto other = Open();
  ASSERT_OK(store_->LockAsWriter());
  const auto refused = other->LockAsWriter();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::kStore);
  store_.reset();
  EXPECT_OK(other->LockAsWriter());
}

TEST_P(StoreTest, ConnectsAgainAfterTheServerEndedItsConnection) {
  ASSERT_OK(store_->SetCursor("loki", 7));
  ASSERT_OK(store_->LockAsWriter());
  soci::session sql(soci::postgresql, url_);
  sql << "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database()"
         " AND pid <> pg_backend_pid()";
  const auto lost = store_->Cursor("loki");
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().code, ErrorCode::kStore);
  EXPECT_TRUE(lost.error().retryable) << lost.error().message;
  EXPECT_EQ(*store_->Cursor("loki"), 7);
  EXPECT_FALSE(Open()->LockAsWriter().ok()) << "the lock came back with the connection";
}

TEST_P(StoreTest, DoesNotReportALostConnectionAsDamage) {
  StoreThreeModels();
  soci::session sql(soci::postgresql, url_);
  sql << "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database()"
         " AND pid <> pg_backend_pid()";
  const auto found = store_->FindDamage();
  ASSERT_FALSE(found.ok());
  EXPECT_TRUE(found.error().retryable) << found.error().message;
  EXPECT_OK(store_->Check());
}

}  // namespace
}  // namespace breakwatch::store
