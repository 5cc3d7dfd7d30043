// Requests: sweep requests that wait. Equal requests are merged, and so are requests for models by name.
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
  std::vector<std::string> commands{};  // ids of the commands that it answers
  bool own = false;                     // the daemon itself requested it too: a tick, a retry, a resume
};

class Requests {
 public:
  // An empty id means the daemon itself. False if too many different requests wait.
  [[nodiscard]] bool Add(SweepRequest request, const std::string& command_id);
  std::optional<Request> Next();
  // Removes a command; its request too, if nothing else waits for it. False if no request has it.
  bool Cancel(const std::string& command_id);
  bool empty() const { return waiting_.empty(); }

 private:
  static constexpr std::size_t kMax = 16;
  std::deque<Request> waiting_;
};

// True if both request the same list of models.
bool SameModels(const SweepRequest& a, const SweepRequest& b);

}  // namespace breakwatch::engine
