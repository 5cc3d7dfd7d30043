#include "breakwatch/report/compare.h"
#include "escape.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

using compare::Attribution;
using compare::Bisection;
using compare::ChangedSite;
using compare::CombinationResult;

std::string Age(unsigned combination, unsigned factor, unsigned factors) {
  return (factors & factor) == 0 ? "" : (combination & factor) ? "new" : "old";
}

Cell Versioned(const std::string& version, const std::string& age) {
  if (version.empty()) return age.empty() ? Cell() : Cell(age);
  return version + (age.empty() ? "" : " (" + age + ")");
}

Table CombinationTable(const Bisection& b) {
  Table table{.title = {},
              .columns = {{"torch", "TORCH"},
                          {"transformers", "TRANSFORMERS"},
                          {"commit", "COMMIT", false, 18},
                          {"status", "STATUS"},
                          {"breaks", "BREAKS", true},
                          {"break_sites", "SITES", true},
                          {"toolchain", "TOOLCHAIN", false, 40},
                          {"sweep_id", ""},
                          {"note", "NOTE", false, 80}},
              .rows = {}};
  for (const CombinationResult& c : b.combinations) {
    const CaptureResult* capture = c.result ? &c.result->capture : nullptr;
    const bool numbers = capture != nullptr && HasNumbers(capture->status);
    const auto number = [&](const std::optional<std::int64_t>& n) { return numbers && n ? Cell(*n) : Cell(); };
    table.rows.push_back({Versioned(c.torch, Age(c.combination, compare::kTorch, b.factors)),
                          Versioned(c.transformers, Age(c.combination, compare::kTransformers, b.factors)),
                          Versioned(c.commit.substr(0, 12), Age(c.combination, compare::kCommit, b.factors)),
                          capture ? Cell(std::string(StatusName(capture->status))) : Cell(std::string("not captured")),
                          number(capture ? capture->breaks : std::nullopt),
                          number(capture ? capture->break_sites : std::nullopt), c.toolchain,
                          c.result ? Cell(c.result->sweep_id) : Cell(),
                          numbers   ? std::string()
                          : capture ? capture->detail
                                    : c.why});
  }
  return table;
}

std::string CauseText(const Attribution& by) {
  const std::string text = compare::FactorNames(by.factors);
  const std::string sure = by.certain || by.cause == compare::Cause::kUnknown ? "" : ", as far as known";
  switch (by.cause) {
    case compare::Cause::kUnknown:
      return "unknown";
    case compare::Cause::kTogether:
      return text + " together" + sure;
    case compare::Cause::kAny:
      return "any of " + text + sure;
    case compare::Cause::kInteraction:
      return text + " by interaction" + sure;
    default:
      return text + sure;
  }
}

Table ChangedTable(const Bisection& b) {
  Table table{.title = "Changed sites",
              .columns = {{"changed_by", "BY"},
                          {"change", "CHANGE"},
                          {"breaks_old", "BREAKS OLD", true},
                          {"breaks_new", "BREAKS NEW", true},
                          {"reason", "REASON", false, 48},
                          {"gb_id", "ID"},
                          {"place", "AT", false, 72},
                          {"function", ""},
                          {"source_line", "", false, 60},
                          {"site_id", ""}},
              .rows = {},
              .when_empty = "no site changed"};
  for (const ChangedSite& s : b.sites) {
    const char* change = s.before == 0 ? "new" : s.after == 0 ? "gone" : "changed";
    std::string place = s.site.file;
    if (s.site.line > 0) place += ":" + std::to_string(s.site.line);
    table.rows.push_back({CauseText(s.by), std::string(change), s.before, s.after, s.site.reason, s.site.gb_id, place,
                          s.site.function, s.site.source_line, s.site.site_id});
  }
  return table;
}

Json FactorsJson(unsigned factors) {
  Json list = Json::array();
  if (factors & compare::kTorch) list.push_back("torch");
  if (factors & compare::kTransformers) list.push_back("transformers");
  if (factors & compare::kCommit) list.push_back("commit");
  return list;
}

Json AttributionJson(const Attribution& by) {
  return {{"cause", compare::CauseName(by.cause)}, {"factors", FactorsJson(by.factors)}, {"certain", by.certain}};
}

Json BisectionJson(const Bisection& b) {
  Json combinations = RowsAsJson(CombinationTable(b));
  for (std::size_t i = 0; i < b.combinations.size(); ++i) {
    const CombinationResult& c = b.combinations[i];
    combinations[i]["torch"] = c.torch, combinations[i]["transformers"] = c.transformers,
    combinations[i]["commit"] = c.commit;
    combinations[i]["new"] = FactorsJson(c.combination);
    combinations[i]["status"] = c.result ? Json(StatusName(c.result->capture.status)) : Json();
  }
  Json sites = RowsAsJson(ChangedTable(b));
  for (std::size_t i = 0; i < b.sites.size(); ++i) sites[i]["changed_by"] = AttributionJson(b.sites[i].by);
  return {{"model", b.model}, {"differ", FactorsJson(b.factors)},        {"verdict", AttributionJson(b.verdict)},
          {"text", b.text},   {"combinations", std::move(combinations)}, {"sites", std::move(sites)}};
}

}  // namespace

std::string RenderBisection(const Bisection& b, Format format, Style style) {
  if (format == Format::kJson) return Dump(BisectionJson(b));
  if (format == Format::kCsv) return Render(CombinationTable(b), format);
  const bool markdown = format == Format::kMarkdown;
  const auto line = [&](const std::string& text) { return (markdown ? MarkdownText(text) : OneLine(text)) + "\n"; };
  std::string out = (markdown ? "# " : "") + line(b.model) + (markdown ? "\n" : "");
  out += Render(CombinationTable(b), format, style) + "\n";
  if (!b.sites.empty()) out += Render(ChangedTable(b), format, style) + "\n";
  return out + line(b.text);
}

}  // namespace breakwatch::report
