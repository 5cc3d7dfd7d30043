// Break sites over all models.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/text.h"
#include "document.h"

namespace breakwatch::report {
namespace {

// A site without an id is told from others by its reason and place.
std::string KeyOf(const BreakSite& site) {
  if (!site.site_id.empty()) return site.site_id;
  return site.reason + '\n' + site.gb_id + '\n' + PlaceOf(site) + '\n' + site.function;
}

// New: no model had it before. Absent: no model has it now.
std::string StateOf(const SiteGroup& group) {
  std::set<std::string> states;
  for (const Issue* issue : group.issues) states.insert(issue->state);
  return states.size() == 1 ? *states.begin() : "updated";
}

// Where the site is still somewhere, the models that lost it only change the state.
void KeepPresent(SiteGroup& group) {
  if (group.state != "absent") std::erase_if(group.issues, [](const Issue* issue) { return issue->state == "absent"; });
}

std::string EntryOf(const SiteGroup& group) {
  const bool all =
      std::all_of(group.issues.begin(), group.issues.end(), [](const Issue* i) { return !i->allowed_by.empty(); });
  return all ? group.issues.front()->allowed_by : "";
}

}  // namespace

std::int64_t CountModels(const SiteGroup& group) {
  std::set<std::string_view> models;
  for (const Issue* issue : group.issues) models.insert(issue->model);
  return static_cast<std::int64_t>(models.size());
}

std::vector<SiteGroup> GroupSites(const std::vector<Issue>& issues) {
  std::map<std::string, SiteGroup> by_key;
  for (const Issue& issue : issues) {
    SiteGroup& group = by_key[KeyOf(*issue.site)];
    if (group.site == nullptr || group.issues.front()->result == nullptr) group.site = issue.site;
    group.events += issue.result == nullptr ? 0 : issue.events;
    group.severity = std::max(group.severity, issue.severity);
    group.issues.push_back(&issue);
  }
  std::vector<SiteGroup> groups;
  for (auto& [key, group] : by_key) {
    group.state = StateOf(group);
    KeepPresent(group);
    group.allowed_by = EntryOf(group);
    groups.push_back(std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const SiteGroup& a, const SiteGroup& b) {
    return std::tuple(a.severity, a.issues.size(), a.events) > std::tuple(b.severity, b.issues.size(), b.events);
  });
  return groups;
}

namespace {

Table SiteTableOf(std::vector<std::vector<Cell>> rows) {
  return {.title = {},
          .columns = {{"reason", "REASON", false, 56},
                      {"gb_id", "ID"},
                      {"fixability", ""},
                      {"events", "BREAKS", true},
                      {"models", "MODELS", true},
                      {.name = "place", .title = "AT", .widest = 64, .keep_end = true},
                      {"function", "IN"},
                      {"source_line", "CODE", false, 72},
                      {"example_model", "EXAMPLE", false, 40},
                      {"site_id", ""}},
          .rows = std::move(rows),
          .when_empty = "no graph breaks"};
}

std::vector<Cell> SiteRow(const BreakSite& site, std::int64_t events, std::int64_t models, std::string example) {
  return {site.reason,   site.gb_id,       site.fixability,    events,      models, PlaceOf(site),
          site.function, site.source_line, std::move(example), site.site_id};
}

}  // namespace

Table SiteTable(const std::vector<SiteGroup>& groups) {
  std::vector<std::vector<Cell>> rows;
  for (const SiteGroup& group : groups) {
    rows.push_back(SiteRow(*group.site, group.events, CountModels(group),
                           ModelAndMode(group.issues.front()->model, group.issues.front()->mode)));
  }
  return SiteTableOf(std::move(rows));
}

void SiteTotals::Add(const ModelResult& result) {
  for (const BreakSite& site : result.capture.sites) {
    Group& group = groups_[KeyOf(site)];
    if (group.results++ == 0) {
      group.site.site_id = site.site_id, group.site.reason = site.reason, group.site.gb_id = site.gb_id;
      group.site.fixability = site.fixability, group.site.file = site.file, group.site.line = site.line;
      group.site.function = site.function, group.site.source_line = site.source_line;
      group.example = ModelAndMode(result.info.id, result.capture.mode);
    }
    group.events += site.occurrences;
    group.models.insert(result.info.id);
  }
}

Table SiteTotals::Sites() const {
  std::vector<const Group*> groups;
  for (const auto& [key, group] : groups_) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(), [](const Group* a, const Group* b) {
    return std::pair(a->results, a->events) > std::pair(b->results, b->events);
  });
  std::vector<std::vector<Cell>> rows;
  for (const Group* group : groups) {
    rows.push_back(
        SiteRow(group->site, group->events, static_cast<std::int64_t>(group->models.size()), group->example));
  }
  return SiteTableOf(std::move(rows));
}

std::string ModelAndMode(const std::string& model, const std::string& mode) {
  return mode.empty() || mode == kMainMode ? model : model + " (" + mode + ")";
}

std::string PlaceOf(const BreakSite& site) {
  if (site.file.empty()) return {};
  return site.line > 0 ? site.file + ":" + std::to_string(site.line) : site.file;
}

std::string OccurrencesText(const SiteGroup& group) {
  const Issue& first = *group.issues.front();
  const std::string name = ModelAndMode(first.model, first.mode);
  const std::string breaks = group.state == "absent" ? "no breaks any more" : Counted(group.events, "break");
  if (group.issues.size() == 1) return breaks + " in " + name;
  return breaks + " in " + std::to_string(group.issues.size()) + " results, for example " + name;
}

std::string ReasonText(const BreakSite& site) {
  return site.gb_id.empty() ? site.reason : site.reason + " [" + site.gb_id + "]";
}

}  // namespace breakwatch::report
