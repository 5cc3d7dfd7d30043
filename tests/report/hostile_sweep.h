// A sweep whose names and texts do harm in one format or another if they are not escaped.
#pragma once

#include <string>
#include <vector>

#include "sample_sweep.h"

namespace breakwatch::report {

inline const std::vector<std::string>& HostileTexts() {
  static const std::vector<std::string> kTexts = {
      "=HYPERLINK(\"http://evil.test\",\"x\")",
      "+cmd|' /C calc'!A0",
      "<script>alert(1)</script>",
      "\"><img src=http://evil.test/a onerror=alert(1)>",
      "</style></title></textarea><svg onload=alert(1)>",
      "]]> &amp; <!-- -->",
      "a | b\n\n# heading\n- [ ] @team [x](http://evil.test) `code` ~~~",
      "</details>\n</summary>",
      "\x1b]0;title\x07\x1b[31mred",
      "bidi \xE2\x80\xAE override and \xC2\x9B",
      "not UTF-8 \xff\xfe, no character \xEF\xBF\xBE",
      "line\r\nBcc: everyone@example.org\r\n\r\nbody",
      "::error file=a,line=1::forged\n::stop-commands::x",
      "100%0A::error::forged",
  };
  return kTexts;
}

// A model for each text, with the text in every field that a model, the Hub or a compiler fills in.
inline std::vector<ModelResult> HostileResults() {
  std::vector<ModelResult> results;
  int line = 0;
  for (const std::string& text : HostileTexts()) {
    BreakSite site = Site(text, "", 1, ++line);
    site.explanation = site.context = site.file = site.function = site.source_line = text;
    site.hints = {text};
    results.push_back(Captured(text, {site}));
    results.push_back(Ended(text + " failed", Status::kFailedEager, text));
    results.back().capture.error = results.back().capture.suggestion = text;
  }
  return results;
}

inline Sweep HostileSweep() {
  Sweep sweep = SampleSweep();
  for (const std::string& text : HostileTexts()) sweep.source += text;
  return sweep;
}

}  // namespace breakwatch::report
