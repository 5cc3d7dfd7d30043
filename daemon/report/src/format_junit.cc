// JUnit XML, as Jenkins' junit-10.xsd describes it: a suite for each family, a case for each model and mode.
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

#include "breakwatch/core/text.h"
#include "formats.h"
#include "xml.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxOutput = 8'000, kMaxSites = 50, kMaxMessage = 1'000;

std::string Seconds(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", std::clamp(seconds, 0.0, 1e9));
  return text;
}

double SecondsOf(const Case& c) {
  if (c.result == nullptr || c.result->reused || !c.result->shared_from.empty()) return 0;  // nothing was captured
  return c.result->capture.capture_s;
}

// Jenkins shows what precedes the last dot as the package.
std::string ClassOf(const Case& c) {
  std::string model;
  for (const char byte : c.model) model += byte == '/' ? std::string("__") : std::string(1, byte == '.' ? '_' : byte);
  return c.family + "." + model;
}

std::string OutputOf(const Case& c) {
  if (c.result == nullptr) return {};
  const CaptureResult& capture = c.result->capture;
  std::string text = "model " + c.model + "\nstatus " + std::string(StatusName(capture.status)) + ": " + capture.detail;
  if (!c.result->info.sha.empty()) text += "\ncommit " + c.result->info.sha;
  if (!capture.suggestion.empty()) text += "\nsuggestion " + capture.suggestion;
  if (capture.breaks) {
    text += "\n" + Counted(*capture.breaks, "break") + " at " + Counted(capture.break_sites.value_or(0), "site");
  }
  for (std::size_t i = 0; i < capture.sites.size(); ++i) {
    if (i == kMaxSites) {
      text += "\n" + std::to_string(capture.sites.size() - i) + " more sites";
      break;
    }
    const BreakSite& site = capture.sites[i];
    text += "\n" + std::to_string(site.occurrences) + " x " + ReasonText(site) + " at " + PlaceOf(site);
  }
  return text;
}

// The element of each outcome; a case that passed has none.
const char* ElementOf(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFailed:
      return "failure";
    case Outcome::kError:
      return "error";
    case Outcome::kSkipped:
      return "skipped";
    case Outcome::kPassed:
      break;
  }
  return nullptr;
}

void AddCase(pugi::xml_node suite, const Case& c) {
  pugi::xml_node node = suite.append_child("testcase");
  AddAttribute(node, "classname", ClassOf(c));
  AddAttribute(node, "name", c.mode.empty() ? "eval" : c.mode);
  AddAttribute(node, "time", Seconds(SecondsOf(c)));
  if (const char* element = ElementOf(c.outcome)) {
    pugi::xml_node end = AddElement(node, element);
    AddAttribute(end, "type", c.type);
    AddAttribute(end, "message", Truncate(ToUtf8(c.message), kMaxMessage));
    if (c.result != nullptr && !c.result->capture.error.empty() && c.outcome != Outcome::kSkipped) {
      end.append_child(pugi::node_pcdata)
          .set_value(XmlText(Truncate(ToUtf8(c.result->capture.error), kMaxOutput)).c_str());
    }
  }
  if (const std::string output = OutputOf(c); !output.empty()) {
    node.append_child("system-out")
        .append_child(pugi::node_pcdata)
        .set_value(XmlText(Truncate(ToUtf8(output), kMaxOutput)).c_str());
  }
}

void AddCounts(pugi::xml_node node, const std::vector<const Case*>& cases, bool is_suite) {
  const auto count = [&](Outcome outcome) {
    return std::to_string(
        std::count_if(cases.begin(), cases.end(), [&](const Case* c) { return c->outcome == outcome; }));
  };
  double seconds = 0;
  for (const Case* c : cases) seconds += SecondsOf(*c);
  AddAttribute(node, "tests", std::to_string(cases.size()));
  AddAttribute(node, "failures", count(Outcome::kFailed));
  AddAttribute(node, "errors", count(Outcome::kError));
  if (is_suite) AddAttribute(node, "skipped", count(Outcome::kSkipped));
  AddAttribute(node, "time", Seconds(seconds));
}

void AddProperties(pugi::xml_node suite, const Document& document) {
  pugi::xml_node properties = suite.append_child("properties");
  const auto add = [&](const std::string& name, const std::string& value) {
    pugi::xml_node property = properties.append_child("property");
    AddAttribute(property, "name", name), AddAttribute(property, "value", value);
  };
  for (const auto& [name, value] : document.facts) add(name, value);
  if (!document.gate_summary.empty()) add("gate", document.gate_summary);
}

}  // namespace

std::string JUnit(const Document& document) {
  std::vector<std::string> families;  // in the order of their first cases
  std::map<std::string, std::vector<const Case*>> by_family;
  std::vector<const Case*> all;
  for (const Case& c : document.cases) {
    if (by_family[c.family].empty()) families.push_back(c.family);
    by_family[c.family].push_back(&c), all.push_back(&c);
  }
  pugi::xml_document xml;
  pugi::xml_node declaration = xml.append_child(pugi::node_declaration);
  AddAttribute(declaration, "version", "1.0"), AddAttribute(declaration, "encoding", "UTF-8");
  pugi::xml_node suites = xml.append_child("testsuites");
  AddAttribute(suites, "name", "breakwatch");
  AddCounts(suites, all, /*is_suite=*/false);
  for (const std::string& family : families) {
    pugi::xml_node suite = suites.append_child("testsuite");
    AddAttribute(suite, "name", family);
    AddCounts(suite, by_family[family], /*is_suite=*/true);
    if (document.started_at != SystemTime{}) {
      AddAttribute(suite, "timestamp", FormatTime(document.started_at).substr(0, 19));
    }
    AddProperties(suite, document);
    for (const Case* c : by_family[family]) AddCase(suite, *c);
  }
  return XmlString(xml, pugi::format_indent);
}

}  // namespace breakwatch::report
