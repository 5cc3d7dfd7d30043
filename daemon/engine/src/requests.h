// Requests: what waits for its sweep. Equal ones become one; so do any number asked for by name.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "breakwatch/core/command.h"

namespace breakwatch::engine {

struct Request {
  SweepRequest sweep;
  std::vector<std::string> commands{};  // ids of the commands it answers
  bool own = false;                     // the daemon itself wants it too: a tick, a retry, a resume
};

class Requests {
 public:
  // An empty id: the daemon itself asks. False when too many different ones wait.
  [[nodiscard]] bool Add(SweepRequest request, const std::string& command_id);
  std::optional<Request> Next();
  bool empty() const { return waiting_.empty(); }

 private:
  static constexpr std::size_t kMax = 16;
  std::deque<Request> waiting_;
};

// Both ask for the same list of models.
bool SameModels(const SweepRequest& a, const SweepRequest& b);

}  // namespace breakwatch::engine
