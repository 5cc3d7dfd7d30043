// What the completions of the shells have in common.
#pragma once

#include <string>
#include <vector>

#include "docs_model.h"

namespace breakwatch::commands {

// In single quotes; a quote in the text becomes one that no shell minds. Line ends become blanks.
std::string Quoted(std::string_view text);
// Joined with `separator`.
std::string Words(const std::vector<std::string>& words, std::string_view separator = " ");
std::string LastWord(const std::string& name);

// Options of all commands that the program itself has: --help, --json, --config.file, ...
const DocCommand& TheProgram(const DocModel& model);

// What the shell can offer for an option's value or an argument.
enum class Offer { kValues, kFiles, kKeys, kNothing };
Offer OfferOf(const DocOption& option);
// The keys of settings, for `config explain`.
std::vector<std::string> SettingKeys(const DocModel& model);

}  // namespace breakwatch::commands
