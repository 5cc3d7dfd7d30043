// Results whose sites and events are given in a line.
#pragma once

#include <map>
#include <string>

#include "breakwatch/core/sweep.h"

namespace breakwatch::compare {

using Events = std::map<std::string, std::int64_t>;

inline ModelResult Failed(const std::string& model, Status status, const std::string& detail) {
  ModelResult result;
  result.info.id = model;
  result.capture.status = status;
  result.capture.detail = detail;
  return result;
}

// A good capture with these sites; a site's reason is the first letter of its name.
inline ModelResult Captured(const std::string& model, const Events& events) {
  ModelResult result = Failed(model, events.empty() ? Status::kFullGraph : Status::kGraphBreaks, "as asked");
  CaptureResult& c = result.capture;
  c.mode = "eval", c.architecture = "AlphaModel", c.device = "cpu", c.dtype = "float32", c.depth = "full";
  c.toolchain = {"default", "2.15.0", "5.23.0", "3.11.2", "1", "cpu"};
  c.breaks = 0, c.break_sites = static_cast<std::int64_t>(events.size());
  for (const auto& [site_id, count] : events) {
    BreakSite site;
    site.site_id = site_id, site.reason = site_id.substr(0, 1), site.occurrences = count;
    c.sites.push_back(site);
    *c.breaks += count;
  }
  return result;
}

}  // namespace breakwatch::compare
