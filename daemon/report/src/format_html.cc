// One HTML file that loads nothing. The body is a tree, so that the library escapes every text.
#include <algorithm>
#include <map>

#include "base64.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/status.h"
#include "breakwatch/core/text.h"
#include "escape.h"
#include "formats.h"
#include "html_style.h"
#include "table_rows.h"
#include "xml.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxSites = 300, kMaxModelsOfSite = 20, kMaxCell = 500;
constexpr unsigned kFlags = pugi::format_raw | pugi::format_no_declaration | pugi::format_no_empty_element_tags;

void EndLine(pugi::xml_node parent) { parent.append_child(pugi::node_pcdata).set_value("\n"); }

// Only addresses of ours become links.
void AddLink(pugi::xml_node parent, const std::string& url, std::string_view text) {
  pugi::xml_node link = AddElement(parent, "a", text);
  AddAttribute(link, "href", url), AddAttribute(link, "rel", "noreferrer");
}

const char* ClassOf(const std::string& text) {
  static const std::map<std::string, const char*, std::less<>> kVerdicts = {
      {"better", "good"}, {"worse", "bad"}, {"mixed", "bad"}, {"gone", "bad"}, {"new", "warn"}, {"flaky", "warn"}};
  if (const auto verdict = kVerdicts.find(text); verdict != kVerdicts.end()) return verdict->second;
  const auto status = ParseStatus(text);
  if (!status) return nullptr;
  if (*status == Status::kFullGraph) return "good";
  if (*status == Status::kGraphBreaks) return "warn";
  return IsSkipped(*status) ? "soft" : "bad";
}

bool HasColor(const std::string& column) {
  return column == "verdict" || (column.starts_with("status") && column != "status_detail");
}

void AddCell(pugi::xml_node row, const Table& table, const std::vector<Cell>& cells, std::size_t i) {
  const Column& column = table.columns[i];
  const std::string text = Fit(Shown(table, cells, i), kMaxCell);
  pugi::xml_node cell = row.append_child("td");
  const std::string url = column.name == "gb_id" ? ReasonUrl(text) : "";
  if (!url.empty())
    AddLink(cell, url, text);
  else if (!text.empty())
    cell.append_child(pugi::node_pcdata).set_value(XmlText(text).c_str());
  const char* color = HasColor(column.name) ? ClassOf(text) : nullptr;
  if (column.right) AddAttribute(cell, "class", "n");
  if (color != nullptr) AddAttribute(cell, "class", color);
}

// A region that scrolls by keyboard too.
pugi::xml_node AddScroll(pugi::xml_node parent, const std::string& section) {
  pugi::xml_node scroll = parent.append_child("div");
  AddAttribute(scroll, "class", "scroll"), AddAttribute(scroll, "tabindex", "0");
  AddAttribute(scroll, "role", "region"), AddAttribute(scroll, "aria-labelledby", section + "-title");
  return scroll;
}

void AddHeads(pugi::xml_node element, const Table& table) {
  pugi::xml_node heads = element.append_child("thead").append_child("tr");
  for (const std::size_t i : VisibleColumns(table)) {
    pugi::xml_node head = AddElement(heads, "th", table.columns[i].title);
    AddAttribute(head, "scope", "col");
    if (table.columns[i].right) AddAttribute(head, "class", "n");
  }
}

void AddNotShown(pugi::xml_node parent, std::size_t shown, std::size_t all, const std::string& what) {
  if (shown == all) return;
  AddElement(parent, "p", "Not shown: " + std::to_string(all - shown) + " of " + std::to_string(all) + " " + what);
}

void AddTable(pugi::xml_node parent, const Section& section, std::size_t max_rows) {
  const Table& table = section.table;
  if (table.rows.empty()) {
    AddElement(parent, "p", table.when_empty);
    return;
  }
  pugi::xml_node element = AddScroll(parent, section.id).append_child("table");
  AddHeads(element, table);
  pugi::xml_node body = element.append_child("tbody");
  const auto visible = VisibleColumns(table);
  const std::size_t shown = std::min(max_rows, table.rows.size());
  for (std::size_t r = 0; r < shown; ++r) {
    EndLine(body);
    pugi::xml_node row = body.append_child("tr");
    for (const std::size_t i : visible) AddCell(row, table, table.rows[r], i);
  }
  AddNotShown(parent, shown, table.rows.size(), "rows. The formats csv and json have all.");
}

pugi::xml_node AddSection(pugi::xml_node parent, const std::string& id, const std::string& title, bool open) {
  EndLine(parent);
  pugi::xml_node section = parent.append_child(open ? "section" : "details");
  AddAttribute(section, "id", id);
  pugi::xml_node head = AddElement(open ? section : section.append_child("summary"), "h2", title);
  AddAttribute(head, "id", id + "-title");
  return section;
}

std::string ModelsOf(const SiteGroup& group) {
  std::string models;
  for (std::size_t i = 0; i < std::min(group.issues.size(), kMaxModelsOfSite); ++i) {
    models += (i == 0 ? "" : ", ") + ModelAndMode(group.issues[i]->model, group.issues[i]->mode);
  }
  if (group.issues.size() <= kMaxModelsOfSite) return models;
  return models + " and " + std::to_string(group.issues.size() - kMaxModelsOfSite) + " more";
}

void AddReason(pugi::xml_node box, const BreakSite& site) {
  pugi::xml_node head = AddElement(box, "p");
  AddElement(head, "strong", ReasonText(site));
  if (const std::string url = ReasonUrl(site.gb_id); !url.empty())
    EndLine(head), AddLink(head, url, "about this reason");
}

void AddSite(pugi::xml_node parent, const SiteGroup& group) {
  const BreakSite& site = *group.site;
  EndLine(parent);
  pugi::xml_node box = parent.append_child("article");
  AddAttribute(box, "class", "site");
  AddReason(box, site);
  AddElement(box, "p", (group.state == "new" ? "New: " : "") + OccurrencesText(group));
  pugi::xml_node place = AddElement(box, "p", PlaceOf(site) + (site.function.empty() ? "" : " in " + site.function));
  if (!site.source_line.empty()) EndLine(place), AddElement(place, "code", Fit(OneLine(site.source_line), kMaxCell));
  if (!site.explanation.empty()) AddElement(box, "p", site.explanation);
  if (!group.allowed_by.empty()) AddElement(box, "p", "Allowed by " + group.allowed_by);
  if (!site.hints.empty()) {
    pugi::xml_node hints = box.append_child("ul");
    for (const std::string& hint : site.hints) AddElement(hints, "li", hint);
  }
  if (group.issues.size() > 1) AddElement(box, "p", "Models: " + ModelsOf(group));
}

void AddSites(pugi::xml_node parent, const Document& document, std::size_t max_sites) {
  const std::vector<SiteGroup> groups = GroupSites(document.issues);
  if (groups.empty()) return;
  pugi::xml_node section = AddSection(parent, "details", "Break sites in detail", /*open=*/false);
  const std::size_t shown = std::min(groups.size(), max_sites);
  for (std::size_t i = 0; i < shown; ++i) AddSite(section, groups[i]);
  AddNotShown(section, shown, groups.size(), "sites. The format json has all.");
}

void AddHead(pugi::xml_node main, const Document& document) {
  AddElement(main, "h1", document.title);
  AddElement(main, "p", document.summary);
  if (!document.gate_summary.empty()) {
    pugi::xml_node verdict = AddElement(main, "p", document.gate_summary);
    AddAttribute(verdict, "class", document.gate == GateState::kFailed ? "verdict failed" : "verdict passed");
    if (!document.gate_lines.empty()) {
      pugi::xml_node list = main.append_child("ul");
      for (const std::string& line : document.gate_lines) AddElement(list, "li", line);
    }
  }
  pugi::xml_node facts = main.append_child("dl");
  for (const auto& [name, value] : document.facts) AddElement(facts, "dt", name), AddElement(facts, "dd", value);
}

std::string BodyOf(const Document& document, std::size_t max_rows) {
  pugi::xml_document xml;
  pugi::xml_node main = xml.append_child("body").append_child("main");
  AddHead(main, document);
  for (const Section& section : document.sections) {
    const std::string title = section.table.title + " (" + std::to_string(section.count) + ")";
    AddTable(AddSection(main, section.id, title, section.open), section, max_rows);
  }
  AddSites(main, document, std::min(max_rows, kMaxSites));
  for (const std::string& note : document.notes) AddElement(main, "p", note);
  return XmlString(xml, kFlags);
}

}  // namespace

std::string Html(const Document& document, std::size_t max_rows) {
  const std::string style = HtmlStyle(document);
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-" +
         Sha256Base64(style) +
         "'; base-uri 'none'; form-action 'none'\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<meta name=\"color-scheme\" content=\"light dark\">\n<title>" +
         document.title + "</title>\n<style>" + style + "</style>\n</head>\n" + BodyOf(document, max_rows) +
         "\n</html>\n";
}

}  // namespace breakwatch::report
