#include "faults.h"

namespace breakwatch::hub_replay {
namespace {

Error Bad(const std::string& key, const std::string& expected) {
  return {ErrorCode::kInvalid, "faults.json: " + key + ": expected " + expected};
}

Result<int> WholeNumber(const std::string& key, const Json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 1'000'000) return Bad(key, "a number up to 1000000");
  return value.get<int>();
}

std::optional<ModelFault> ParseModelFault(const Json& value) {
  static const std::map<std::string, ModelFault> kNames = {{"gated", ModelFault::kGated},
                                                           {"disabled", ModelFault::kDisabled},
                                                           {"missing", ModelFault::kMissing},
                                                           {"private", ModelFault::kPrivate}};
  const auto found = value.is_string() ? kNames.find(value.get<std::string>()) : kNames.end();
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

Result<void> ReadModels(const std::string& key, const Json& value, Faults& faults) {
  if (!value.is_object()) return Bad(key, "an object");
  for (const auto& [id, state] : value.items()) {
    const auto fault = ParseModelFault(state);
    if (!fault) return Bad(key + "." + id, "gated, disabled, missing or private");
    faults.models[id] = *fault;
  }
  return {};
}

Result<void> ReadTokens(const std::string& key, const Json& value, Faults& faults) {
  if (!value.is_object()) return Bad(key, "an object");
  faults.any_token = false;
  for (const auto& [token, ids] : value.items()) {
    std::set<std::string>& opens = faults.tokens[token];
    if (!ids.is_array()) return Bad(key, "a list of ids for each token");
    for (const Json& id : ids) {
      if (!id.is_string()) return Bad(key, "a list of ids for each token");
      opens.insert(id.get<std::string>());
    }
  }
  return {};
}

Result<void> ReadQuotas(const std::string& key, const Json& value, Faults& faults) {
  const std::map<std::string, int*> fields = {{"api", &faults.quotas.api},
                                              {"resolvers", &faults.quotas.resolvers},
                                              {"pages", &faults.quotas.pages},
                                              {"window_s", &faults.quotas.window_s}};
  if (!value.is_object()) return Bad(key, "an object");
  for (const auto& [name, number] : value.items()) {
    const auto field = fields.find(name);
    if (field == fields.end()) return Bad(key + "." + name, "api, resolvers, pages or window_s");
    const auto read = WholeNumber(key + "." + name, number);
    if (!read) return read.error();
    *field->second = *read;
  }
  if (faults.quotas.window_s == 0) return Bad(key + ".window_s", "at least 1");
  return {};
}

Result<Failing> ReadFailing(const std::string& key, const Json& value) {
  Failing failing;
  int retry_after_s = 0;
  const std::map<std::string, int*> fields = {{"status", &failing.status},
                                              {"after", &failing.after},
                                              {"times", &failing.times},
                                              {"retry_after_s", &retry_after_s}};
  if (!value.is_object()) return Bad(key, "an object");
  for (const auto& [name, number] : value.items()) {
    const auto field = fields.find(name);
    if (field == fields.end()) return Bad(key + "." + name, "status, after, times or retry_after_s");
    const auto read = WholeNumber(key + "." + name, number);
    if (!read) return read.error();
    *field->second = *read;
  }
  if (failing.status < 400 || failing.status > 599) return Bad(key + ".status", "400 to 599");
  if (value.contains("retry_after_s")) failing.retry_after_s = retry_after_s;
  return failing;
}

Result<void> ReadList(const std::string& key, const Json& value, Faults& faults) {
  const auto failing = ReadFailing(key, value);
  if (!failing) return failing.error();
  faults.list = *failing;
  return {};
}

Result<void> ReadResolve(const std::string& key, const Json& value, Faults& faults) {
  const auto failing = ReadFailing(key, value);
  if (!failing) return failing.error();
  faults.resolve = *failing;
  return {};
}

Result<void> ReadRepeat(const std::string& key, const Json& value, Faults& faults) {
  if (!value.is_boolean()) return Bad(key, "true or false");
  faults.repeat_across_pages = value.get<bool>();
  return {};
}

}  // namespace

Result<Faults> ParseFaults(const Json& json) {
  using Read = Result<void> (*)(const std::string&, const Json&, Faults&);
  static const std::map<std::string, Read> kKeys = {{"models", ReadModels},     {"tokens", ReadTokens},
                                                    {"rate_limit", ReadQuotas}, {"list", ReadList},
                                                    {"resolve", ReadResolve},   {"repeat_across_pages", ReadRepeat}};
  if (!json.is_object()) return Bad("the file", "an object");
  Faults faults;
  for (const auto& [key, value] : json.items()) {
    const auto read = kKeys.find(key);
    if (read == kKeys.end()) return Bad(key, "a known key");
    if (auto done = read->second(key, value, faults); !done) return done.error();
  }
  return faults;
}

}  // namespace breakwatch::hub_replay
