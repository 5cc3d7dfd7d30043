// A PostgreSQL server for the tests: in a temporary folder, on a Unix socket, stopped with this process.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "store_fixture.h"

namespace breakwatch::store {

class PostgresqlServer {
 public:
  // Starts it; `unavailable()` returns the reason if that failed.
  PostgresqlServer();
  ~PostgresqlServer();
  PostgresqlServer(const PostgresqlServer&) = delete;
  PostgresqlServer& operator=(const PostgresqlServer&) = delete;

  const std::string& unavailable() const { return unavailable_; }
  std::string Url(const std::string& database) const;

 private:
  pid_t Spawn(const std::vector<std::string>& command, int output) const;
  std::string Start();

  TemporaryFolder folder_;
  std::string unavailable_;
  pid_t server_ = -1;
  int output_ = -1;
};

}  // namespace breakwatch::store
