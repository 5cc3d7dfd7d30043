#include "docs_shells.h"

#include <algorithm>
#include <array>

namespace breakwatch::commands {

std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "\u2019";
    } else {
      out += c == '\n' ? ' ' : c;
    }
  }
  return out + "'";
}

std::string Words(const std::vector<std::string>& words, std::string_view separator) {
  std::string out;
  for (const std::string& word : words) out.append(out.empty() ? "" : separator).append(word);
  return out;
}

std::string LastWord(const std::string& name) { return name.substr(name.rfind(' ') + 1); }

const DocCommand& TheProgram(const DocModel& model) { return model.commands.front(); }

Offer OfferOf(const DocOption& option) {
  // By what they are named: the command line does not say which texts are paths.
  constexpr std::array<std::string_view, 12> kFiles = {"file",  "dir",    "path",  "output",   "plan",       "baseline",
                                                       "allow", "script", "repro", "sign-key", "public-key", "gate"};
  if (!option.values.empty()) return Offer::kValues;
  std::string name = option.names.back();
  name.erase(0, name.find_first_not_of('-'));
  if (name == "key") return Offer::kKeys;
  for (const std::string_view word : kFiles) {
    if (name == word || name.ends_with("." + std::string(word)) || name.ends_with("_" + std::string(word)) ||
        name.ends_with("-" + std::string(word)))
      return Offer::kFiles;
  }
  return Offer::kNothing;
}

std::vector<std::string> SettingKeys(const DocModel& model) {
  std::vector<std::string> keys;
  for (const DocOption& setting : model.settings) keys.push_back(setting.names.front().substr(2));
  return keys;
}

}  // namespace breakwatch::commands
