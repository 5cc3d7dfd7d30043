// A request that passed the contract, and the reply to it.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/result.h"
#include "contract.h"
#include "model_metrics.h"
#include "problem.h"

namespace breakwatch::api {

inline constexpr const char* kJson = "application/json";

struct Call {
  const Operation& operation;
  Arguments arguments;
  std::string body{};

  // Empty: the parameter is absent and has no default.
  const std::string& Get(const std::string& name) const {
    static const std::string kNone;
    const auto found = arguments.find(name);
    return found == arguments.end() ? kNone : found->second;
  }
  int Limit() const { return std::stoi(Get("limit")); }  // of an operation with this parameter
  bool Flag(const std::string& name) const { return Get(name) == "true"; }
};

struct Reply {
  int status = 200;
  std::string body{};
  std::string type = kJson;
  std::map<std::string, std::string> headers{};
  // A long body instead of `body`: sent as it is to a client that takes gzip, else expanded while it is sent.
  std::shared_ptr<const PackedText> packed{};
};

inline Reply Json(const nlohmann::ordered_json& document) { return {.status = 200, .body = JsonDocument(document, 1)}; }
inline Reply Problem(int status, const std::string& detail) {
  return {.status = status, .body = ProblemDocument(status, detail), .type = kProblem};
}
inline Reply Problem(const Error& error) {
  return {.status = HttpStatus(error), .body = ProblemDocument(error), .type = kProblem};
}

}  // namespace breakwatch::api
