// Result<T>: a value, or an Error that names what failed, the cause and what to do.
//
// Operations that can fail return it; our code never throws across libraries. A model that fails is not
// an Error: it is a ModelResult with a Status.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace breakwatch {

// What the caller can do about it; the command line maps each to one exit code.
enum class ErrorCode {
  kUsage,        // the command line is wrong: exit 64
  kConfig,       // a setting is wrong: exit 78
  kStore,        // store or disk: exit 74
  kUnavailable,  // a server is unreachable or refuses: exit 69 for the Hub
  kNotFound,     // the thing named does not exist
  kInvalid,      // invalid input
  kInterrupted,  // stop requested: exit 130
  kInternal,     // anything else: exit 1
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  bool retryable = false;                            // the same call may succeed later
  std::optional<std::chrono::milliseconds> after{};  // wait at least this long, if the peer requested it

  // The same error with "context: " put before its message.
  Error Within(const std::string& context) const { return {code, context + ": " + message, retryable, after}; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: a value is a Result
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: so is an Error

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  // By value: the value outlives a temporary Result, also in a range-for.
  T operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT: an Error is a Result

  bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

}  // namespace breakwatch
