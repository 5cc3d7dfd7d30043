// Lists of documents that are JSON text already.
#pragma once

#include <string>
#include <vector>

#include "breakwatch/core/choices.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/mode.h"
#include "call.h"

namespace breakwatch::api {

inline constexpr std::size_t kMaxPageBytes = 8u << 20;
inline constexpr int kMaxReads = 20;  // of the store for one page that a filter thins out

inline const std::string& TextOf(const std::string& document) { return document; }
template <class Value>
std::string TextOf(const Value& value) {
  return breakwatch::ToJson(value);
}

// {"NAME": [...], "next": ...}. `next`: a cursor, of letters, digits, - and _; empty: the last page.
template <class Value>
std::string ListDocument(const char* name, const std::vector<Value>& values, const std::string& next) {
  std::string out = std::string("{\"") + name + "\": [";
  for (std::size_t i = 0; i < values.size(); ++i) out += (i == 0 ? "\n" : ",\n") + TextOf(values[i]);
  return out + "\n], \"next\": " + (next.empty() ? "null" : "\"" + next + "\"") + "}\n";
}

// Whether a page has its rows, or its bytes.
inline bool IsFull(const std::vector<std::string>& documents, std::size_t bytes, const Call& call) {
  return documents.size() >= static_cast<std::size_t>(call.Limit()) || bytes >= kMaxPageBytes;
}

// The parameter `mode`: absent, a mode with or without a call, or that of imports.
inline Result<void> CheckMode(const Call& call) {
  const std::string& mode = call.Get("mode");
  if (mode.empty() || IsMode(mode) || mode == kImport) return {};
  std::vector<std::string_view> names(AllModes().begin(), AllModes().end());
  names.push_back(kImport);
  return Error{ErrorCode::kUsage, "mode must be " + OneOf(names) + ", not \"" + mode + "\""};
}

}  // namespace breakwatch::api
