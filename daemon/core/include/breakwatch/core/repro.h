// Mode `repro`: a Python file that repeats a capture. Its options, and what a worker found in it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"

namespace breakwatch {

struct ReproOptions {
  std::string site{};     // a BreakSite::site_id or its beginning: the file shows this site only; empty: all sites
  bool minimal = false;   // make the model and its arguments as small as the break allows
  double budget_s = 120;  // seconds for that

  bool operator==(const ReproOptions&) const = default;
};

// The shortest beginning of a site's id that names it.
inline constexpr std::size_t kLeastSiteDigits = 8;

// Error: kUsage, naming the option and the values that it accepts.
Result<void> CheckRepro(const ReproOptions& options);
// The protocol's `repro` object: equal options give equal bytes.
std::string ReproJson(const ReproOptions& options);
// Missing fields keep their defaults. Error: kUsage for an unknown field or a wrong value.
Result<ReproOptions> ReproOptionsFromJson(std::string_view text, ReproOptions defaults = {});

struct Repro {
  std::string script;                // the file; empty if there is none
  std::string why_not;               // why there is none
  std::string differs;               // what went wrong when it was run in another process; empty: it found the same
  std::string site_id;               // the site that it shows; empty: all
  bool minimal = false;              // it was made smaller
  std::string why_full;              // why not, if that was wanted
  std::vector<std::string> reduced;  // what was left out of the captured model and call
};

// Reads CaptureResult::mode_detail_json of mode `repro`. Error: kInvalid, naming the field.
Result<Repro> ReadRepro(std::string_view mode_detail_json);

}  // namespace breakwatch
