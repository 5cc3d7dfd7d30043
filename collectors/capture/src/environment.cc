#include "environment.h"

#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>

namespace breakwatch::capture {
namespace {

// Forking is safe only in a single-threaded process. Libraries must not use the network or prompt for input.
const std::map<std::string, std::string>& Always() {
  static const std::map<std::string, std::string> kAlways = {
      {"HF_HUB_DISABLE_TELEMETRY", "1"},
      {"HF_HUB_OFFLINE", "1"},
      {"HF_TOKEN_PATH", "/nonexistent"},
      {"MKL_NUM_THREADS", "1"},
      {"OMP_NUM_THREADS", "1"},
      {"PYTHONNOUSERSITE", "1"},
      {"PYTHONSAFEPATH", "1"},  // prevents importing a yaml.py from the working directory
      {"TOKENIZERS_PARALLELISM", "false"},
      {"TORCHINDUCTOR_COMPILE_THREADS", "1"},
      {"TORCH_WARM_POOL", "0"},
      {"TRANSFORMERS_OFFLINE", "1"},
  };
  return kAlways;
}

bool Matches(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0;
  });
}

bool Passes(const std::string& name, const ZygoteOptions& options) {
  if (Matches(name, options.pass)) return true;
  return Matches(name, options.keep) && !Matches(name, options.drop);
}

}  // namespace

std::vector<std::string> SecretVariables() {
  return {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "*TOKEN*",       "*SECRET*",     "*PASSWORD*",
          "*PASSWD*", "*CREDENTIAL*",           "*API_KEY*",     "*ACCESS_KEY*", "*PRIVATE_KEY*",
          "*_PROXY",  "BREAKWATCH_*",           "NOTIFY_SOCKET", "PGPASS*"};
}

std::vector<std::string> PlainVariables() { return {"PATH", "LANG", "LANGUAGE", "LC_*", "TZ", "LD_LIBRARY_PATH"}; }

std::vector<std::string> WorkerEnvironment(const ZygoteOptions& options, const std::string& folder) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=', 1);
    if (equals == std::string::npos) continue;
    const std::string name = text.substr(0, equals);
    if (Passes(name, options)) variables[name] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : Always()) variables[name] = value;
  if (!folder.empty()) variables["TMPDIR"] = variables["TORCHINDUCTOR_CACHE_DIR"] = folder;
  // The sandbox has no user account. Libraries that look up the user read these variables first.
  for (const char* name : {"USER", "LOGNAME"}) variables.try_emplace(name, "breakwatch");
  // An empty home, unless a launcher needs its own files there (ssh, docker, kubectl).
  if (!folder.empty()) variables.try_emplace("HOME", folder);
  for (const auto& [name, value] : options.environment) variables[name] = value;
  std::vector<std::string> entries;
  for (const auto& [name, value] : variables) entries.push_back(name + "=" + value);
  return entries;
}

}  // namespace breakwatch::capture
