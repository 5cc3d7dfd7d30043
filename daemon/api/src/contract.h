// Contract: the routes and their parameters, read from openapi.json. The document decides what is routed, which
// parameters a request may have and which values they take; handlers.h binds each operation to its function.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch::api {

struct Parameter {
  enum class Type { kText, kInteger, kFlag, kDay };

  std::string name;
  bool in_query = false;  // otherwise in the path
  bool required = false;
  Type type = Type::kText;
  std::optional<std::string> fallback{};  // the default, as text
  std::optional<std::int64_t> minimum{}, maximum{};
  std::size_t min_length = 0, max_length = 0;  // in characters; a maximum of 0: any
  std::vector<std::string> values{};           // allowed ones; empty: any
  std::optional<std::regex> pattern{};
};

struct Operation {
  std::string id, method, path;       // "listSweeps", "GET", "/api/v1/sweeps"
  std::vector<std::string> segments;  // of the path; "{name}": a parameter
  std::vector<Parameter> parameters;
  bool needs_token = false;
};

// Values by the name of their parameter; absent ones have their default, if there is one.
using Arguments = std::map<std::string, std::string>;

// Thread: any; immutable.
class Contract {
 public:
  // Of the document that is compiled in.
  static const Contract& Get();

  const std::vector<Operation>& operations() const { return operations_; }

  struct Match {
    const Operation* operation = nullptr;  // null: the path is unknown, or does not take the method
    Arguments path{};
    std::string allow{};  // methods of the path, "GET, HEAD"; empty: the path is unknown
  };
  // HEAD counts as GET. A model id or a reason may contain slashes.
  Match Find(const std::string& method, const std::string& path) const;

 private:
  Contract();

  std::vector<Operation> operations_;
};

// The arguments of a request, checked. Error: kUsage, naming the parameter and what is allowed.
Result<Arguments> CheckArguments(const Operation& operation, const Arguments& path,
                                 const std::multimap<std::string, std::string>& query);

}  // namespace breakwatch::api
