// SARIF 2.1.0: a rule for each reason, a result for each break site, a notification for each model without numbers.
#include <algorithm>
#include <map>

#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "escape.h"
#include "formats.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

// GitHub accepts 25,000 results of a run.
constexpr std::size_t kMaxResults = 25'000, kMaxModels = 100, kMaxNotifications = 1'000;
// Where torch and transformers are installed; GitHub's name for the root of a repository.
constexpr const char *kPackages = "SITE_PACKAGES", *kRepository = "%SRCROOT%";

std::string Line(const std::string& text) { return OneLine(Truncate(ToUtf8(text), 4'000)); }

std::string Quoted(std::string_view path) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    if (kPlain.find(c) != std::string_view::npos)
      out += c;
    else
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return out;
}

Json FileOf(const BreakSite& site) {
  const std::string path = ToUtf8(site.file);
  if (path.starts_with('/')) return {{"uri", "file:///" + Quoted(path.substr(path.find_first_not_of('/')))}};
  return {{"uri", Quoted(path)}, {"uriBaseId", site.frame == "user" ? kRepository : kPackages}};
}

Json LocationOf(const BreakSite& site) {
  Json location = Json::object();
  if (site.file.find_first_not_of('/') != std::string::npos) {
    location["physicalLocation"] = {{"artifactLocation", FileOf(site)}};
    if (site.line > 0) {
      Json region = {{"startLine", site.line}};
      if (!site.source_line.empty()) region["snippet"] = {{"text", Line(site.source_line)}};
      location["physicalLocation"]["region"] = std::move(region);
    }
  }
  if (!site.function.empty()) {
    location["logicalLocations"] = Json::array({{{"name", Line(site.function)},
                                                 {"fullyQualifiedName", Line(site.file + "::" + site.function)},
                                                 {"kind", "function"}}});
  }
  return location;
}

// A reason with an id keeps its rule when its wording changes.
std::string RuleOf(const BreakSite& site) {
  const std::string& id = site.gb_id.empty() ? site.reason : site.gb_id;
  return id.empty() ? "unknown" : Line(id);
}

std::string HelpOf(const BreakSite& site) {
  std::string text = Line(site.explanation);
  for (const std::string& hint : site.hints) text += (text.empty() ? "- " : "\n- ") + Line(hint);
  return text.empty() ? "A place where torch.compile ends a graph." : text;
}

Json RuleJson(const BreakSite& site) {
  const std::string reason = site.reason.empty() ? "unknown reason" : Line(site.reason);
  Json rule = {{"id", RuleOf(site)},
               {"shortDescription", {{"text", reason}}},
               {"fullDescription", {{"text", site.explanation.empty() ? reason : Line(site.explanation)}}},
               {"help", {{"text", HelpOf(site)}}},
               {"defaultConfiguration", {{"level", "warning"}}},
               {"properties", {{"fixability", site.fixability}, {"tags", {"torch.compile", "graph-break"}}}}};
  if (const std::string url = ReasonUrl(site.gb_id); !url.empty()) rule["helpUri"] = url;
  return rule;
}

const char* LevelOf(Severity severity) {
  return severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
}

Json ModelsOf(const SiteGroup& group) {
  Json models = Json::array();
  for (const Issue* issue : group.issues) {
    if (models.size() == kMaxModels) break;
    models.push_back(Line(ModelAndMode(issue->model, issue->mode)));
  }
  return models;
}

Json ResultJson(const SiteGroup& group, std::size_t rule_index) {
  const BreakSite& site = *group.site;
  const bool absent = group.state == "absent";
  Json result = {{"ruleId", RuleOf(site)},
                 {"ruleIndex", rule_index},
                 {"level", LevelOf(absent ? Severity::kNote : group.severity)},
                 {"message", {{"text", Line(ReasonText(site) + ": " + OccurrencesText(group))}}},
                 {"properties", {{"models", ModelsOf(group)}, {"modelCount", CountModels(group)}}}};
  if (Json location = LocationOf(site); !location.empty()) result["locations"] = Json::array({std::move(location)});
  if (!site.site_id.empty()) {
    // The first name is GitHub's own: it distinguishes alerts by it.
    result["partialFingerprints"] = {{"primaryLocationLineHash", Line(site.site_id)},
                                     {"siteId/v1", Line(site.site_id)}};
  }
  if (group.events > 0) result["occurrenceCount"] = group.events;
  if (!group.state.empty()) result["baselineState"] = group.state;
  if (!group.allowed_by.empty()) {
    result["suppressions"] =
        Json::array({{{"kind", "external"}, {"status", "accepted"}, {"justification", Line(group.allowed_by)}}});
  }
  return result;
}

// A model without numbers has no place in any file: it is a notification of the run.
Json NotificationsOf(const Document& document) {
  Json notifications = Json::array();
  std::size_t left_out = 0;
  for (const Case& c : document.cases) {
    if (c.outcome == Outcome::kPassed) continue;
    if (notifications.size() == kMaxNotifications) {
      ++left_out;
      continue;
    }
    const char* level = c.outcome == Outcome::kSkipped ? "note" : c.outcome == Outcome::kError ? "warning" : "error";
    notifications.push_back({{"descriptor", {{"id", c.type}}},
                             {"level", level},
                             {"message", {{"text", Line(ModelAndMode(c.model, c.mode) + ": " + c.message)}}}});
  }
  if (left_out > 0) {
    notifications.push_back(
        {{"level", "note"}, {"message", {{"text", std::to_string(left_out) + " further models are left out"}}}});
  }
  return notifications;
}

Json PropertiesOf(const Document& document, std::size_t left_out) {
  Json properties = Json::object();
  for (const auto& [name, value] : document.facts) properties[name] = Line(value);
  properties["summary"] = Line(document.summary);
  if (!document.gate_summary.empty()) properties["gate"] = Line(document.gate_summary);
  if (left_out > 0) properties["resultsLeftOut"] = left_out;
  return properties;
}

}  // namespace

std::string Sarif(const Document& document) {
  Json rules = Json::array(), results = Json::array();
  std::map<std::string, std::size_t> indices;
  const std::vector<SiteGroup> groups = GroupSites(document.issues);
  const std::size_t shown = std::min(groups.size(), kMaxResults);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto [index, is_new] = indices.try_emplace(RuleOf(*groups[i].site), rules.size());
    if (is_new) rules.push_back(RuleJson(*groups[i].site));
    results.push_back(ResultJson(groups[i], index->second));
  }
  const Json packages = {{"description", {{"text", "The folder where torch and transformers are installed"}}}};
  const Json repository = {{"description", {{"text", "The root of your own code"}}}};
  Json run = {
      {"tool", {{"driver", {{"name", "breakwatch"}, {"version", BREAKWATCH_VERSION}, {"rules", std::move(rules)}}}}},
      {"automationDetails", {{"id", document.is_comparison ? "breakwatch/compare/" : "breakwatch/sweep/"}}},
      {"columnKind", "utf16CodeUnits"},
      {"originalUriBaseIds", {{kPackages, packages}, {kRepository, repository}}},
      {"invocations",
       Json::array({{{"executionSuccessful", true}, {"toolExecutionNotifications", NotificationsOf(document)}}})},
      {"properties", PropertiesOf(document, groups.size() - shown)},
      {"results", std::move(results)}};
  return Dump(
      {{"$schema", "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"},
       {"version", "2.1.0"},
       {"runs", Json::array({std::move(run)})}});
}

}  // namespace breakwatch::report
