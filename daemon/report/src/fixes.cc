#include "breakwatch/report/fixes.h"

#include <algorithm>

#include "breakwatch/core/mode.h"
#include "breakwatch/core/printable.h"
#include "breakwatch/core/text.h"
#include "document.h"
#include "escape.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxStackShown = 12;

std::optional<TriedFixes> TriedIn(const ModelResult& result) {
  if (result.capture.mode != kFixMode) return std::nullopt;
  auto tried = ReadTriedFixes(result.capture.mode_detail_json);
  return tried ? std::optional(*std::move(tried)) : std::nullopt;
}

std::string Change(std::int64_t before, std::int64_t after) {
  return std::to_string(before) + " -> " + std::to_string(after);
}

// "3 breaks at 2 sites, 4 graphs".
std::string CountsText(const FixCounts& counts) {
  std::string text = Counted(counts.breaks, "break");
  if (counts.breaks > 0) text += " at " + Counted(counts.sites, "site");
  return text + ", " + Counted(counts.graphs, "graph");
}

// For people: before and after in one column.
Table AttemptTable(const TriedFixes& tried) {
  Table table{.title = {},
              .columns = {{"fix", "FIX"},
                          {"outcome", "OUTCOME"},
                          {"breaks", "BREAKS"},
                          {"sites", "SITES"},
                          {"graphs", "GRAPHS"},
                          {"ops", "OPS"},
                          {"detail", "DETAIL", false, 60}},
              .rows = {},
              .when_empty = "no fix was tried"};
  for (const FixAttempt& attempt : tried.attempts) {
    const auto change = [&](std::int64_t FixCounts::*field) {
      return attempt.after ? Cell(Change(tried.before.*field, *attempt.after.*field)) : Cell();
    };
    table.rows.push_back({attempt.Name(), attempt.outcome.empty() ? attempt.status : attempt.outcome,
                          change(&FixCounts::breaks), change(&FixCounts::sites), change(&FixCounts::graphs),
                          change(&FixCounts::ops), attempt.detail});
  }
  return table;
}

// A block of code in Markdown, too.
std::string SiteText(const UnfixedSite& left) {
  const BreakSite& site = left.site;
  std::string text =
      "    " + OneLine(site.reason) + (site.gb_id.empty() ? "" : " (" + OneLine(site.gb_id) + ")") + "\n";
  const auto add = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) text += "      " + Pad(name, 9, false) + OneLine(value) + "\n";
  };
  add("at", site.file + ":" + std::to_string(site.line) + " in " + site.function);
  add("code of", left.owner);
  const std::size_t shown = std::min(site.stack.size(), kMaxStackShown);
  for (std::size_t i = 0; i < shown; ++i) add(i == 0 ? "stack" : "", site.stack[i]);
  add("Dynamo", site.explanation);
  for (const std::string& hint : site.hints) add("hint", hint);
  return text;
}

std::string Heading(const std::string& text, Format format) {
  return format == Format::kMarkdown ? "\n### " + MarkdownText(text) + "\n\n" : "\n" + OneLine(text) + "\n";
}

std::string Recommended(const TriedFixes& tried, Format format) {
  const FixAttempt* best = tried.Best();
  if (best == nullptr || !best->after) return Heading("No fix removes a break", format);
  std::string text = Heading(
      "Write this: " + best->Name() + ", " + CountsText(tried.before) + " -> " + CountsText(*best->after), format);
  for (const std::string& line : best->python) text += "    " + Printable(line) + "\n";
  if (!best->caution.empty())
    text += "\n" + (format == Format::kMarkdown ? MarkdownText(best->caution) : "caution: " + OneLine(best->caution)) +
            "\n";
  return text;
}

std::string TriedText(const TriedFixes& tried, Format format, Style style) {
  std::string text = Render(AttemptTable(tried), format, style);
  if (!tried.stopped.empty()) text += "\nNot all were tried: the time for this model was over (capture.fix_budget)\n";
  text += Recommended(tried, format);
  if (!tried.left.empty()) text += Heading("Sites that no fix removes", format);
  for (const UnfixedSite& left : tried.left) text += SiteText(left) + "\n";
  return text;
}

std::string Pages(std::span<const ModelResult> results, Format format, Style style) {
  std::string out;
  for (const ModelResult& result : results) {
    const auto tried = TriedIn(result);
    const bool markdown = format == Format::kMarkdown;
    out += (out.empty() ? "" : "\n") + (markdown ? "## " + MarkdownText(result.info.id) : OneLine(result.info.id));
    const std::string status = std::string(StatusName(result.capture.status)) + ": " + result.capture.detail;
    const std::string plain = tried ? "without a fix: " + CountsText(tried->before) : status;
    out += "\n" + (markdown ? "\n" + MarkdownText(plain) + "\n\n" : "  " + OneLine(plain) + "\n\n");
    if (tried && tried->before.breaks == 0) {
      out += "Nothing to fix: the model is one graph already\n";
    } else if (tried) {
      out += TriedText(*tried, format, style);
    }
  }
  return out.empty() ? "no models\n" : out;
}

Json ModelJson(const ModelResult& result) {
  const CaptureResult& c = result.capture;
  const auto tried = TriedIn(result);
  const FixAttempt* best = tried ? tried->Best() : nullptr;
  return {{"model", result.info.id},
          {"revision", result.info.sha},
          {"status", StatusName(c.status)},
          {"status_detail", c.detail},
          {"sweep_id", result.sweep_id},
          {"toolchain", c.toolchain.Key()},
          {"reused", result.reused},
          {"best", best ? Json(best->names) : Json::array()},
          {"outcome", best ? Json(best->outcome) : Json()},
          {"fixes", tried ? Json::parse(c.mode_detail_json, nullptr, /*allow_exceptions=*/false) : Json()}};
}

Table AllAttempts(std::span<const ModelResult> results) {
  Table table = FixTable({});
  table.columns.insert(table.columns.begin(), {{"model", "MODEL"}, {"revision", "COMMIT"}});
  for (const ModelResult& result : results) {
    const auto tried = TriedIn(result);
    std::vector<std::vector<Cell>> rows = FixTable(tried.value_or(TriedFixes())).rows;
    if (rows.empty()) {
      rows.emplace_back(table.columns.size() - 2);
      rows.back()[2] = std::string(StatusName(result.capture.status));
      rows.back().back() = result.capture.detail;
    }
    for (auto& row : rows) {
      row.insert(row.begin(), {result.info.id, result.info.sha});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

Table FixTable(const TriedFixes& tried) {
  Table table{.title = {},
              .columns = {{"fix", "FIX"},
                          {"outcome", "OUTCOME"},
                          {"status", "STATUS"},
                          {"breaks_before", "BREAKS BEFORE"},
                          {"breaks", "BREAKS"},
                          {"sites_before", "SITES BEFORE"},
                          {"sites", "SITES"},
                          {"graphs_before", "GRAPHS BEFORE"},
                          {"graphs", "GRAPHS"},
                          {"ops_before", "OPS BEFORE"},
                          {"ops", "OPS"},
                          {"max_abs", "MAX ABS"},
                          {"seconds", "SECONDS"},
                          {"detail", "DETAIL"}},
              .rows = {}};
  for (const FixAttempt& attempt : tried.attempts) {
    const auto after = [&](std::int64_t FixCounts::*field) {
      return attempt.after ? Cell(*attempt.after.*field) : Cell();
    };
    const auto number = [](const std::optional<double>& value) { return value ? Cell(*value) : Cell(); };
    const FixCounts& before = tried.before;
    table.rows.push_back({attempt.Name(), attempt.outcome.empty() ? Cell() : Cell(attempt.outcome), attempt.status,
                          before.breaks, after(&FixCounts::breaks), before.sites, after(&FixCounts::sites),
                          before.graphs, after(&FixCounts::graphs), before.ops, after(&FixCounts::ops),
                          number(attempt.max_abs), number(attempt.seconds), attempt.detail});
  }
  return table;
}

Table FixSummaryTable(std::span<const ModelResult> results) {
  Table table{.title = "Fixes",
              .columns = {{"model", "MODEL"},
                          {"outcome", "OUTCOME"},
                          {"fix", "FIX"},
                          {"breaks_before", "BREAKS", true},
                          {"breaks", "WITH FIX", true},
                          {"sites_left", "SITES LEFT", true},
                          {"status", ""},
                          {"detail", ""}},
              .rows = {},
              .when_empty = "no model breaks"};
  for (const ModelResult& result : results) {
    const auto tried = TriedIn(result);
    const FixAttempt* best = tried ? tried->Best() : nullptr;
    const bool shown = best != nullptr && best->after;
    const std::string status(StatusName(result.capture.status));
    table.rows.push_back({result.info.id,
                          shown   ? best->outcome
                          : tried ? "none helped"
                                  : status,
                          shown ? Cell(best->Name()) : Cell(), tried ? Cell(tried->before.breaks) : Cell(),
                          shown ? Cell(best->after->breaks) : Cell(),
                          tried ? Cell(static_cast<std::int64_t>(tried->left.size())) : Cell(), status,
                          result.capture.detail});
  }
  return table;
}

std::string RenderFixes(std::span<const ModelResult> results, Format format, Style style) {
  if (format == Format::kCsv) return Render(AllAttempts(results), format, style);
  if (format != Format::kJson) return Pages(results, format, style);
  Json document = {{"schema", 1}, {"models", Json::array()}};
  for (const ModelResult& result : results) document["models"].push_back(ModelJson(result));
  return Dump(document);
}

std::string FixesText(const ModelResult& result, Format format, Style style) {
  const auto tried = TriedIn(result);
  return tried ? TriedText(*tried, format, style) : std::string();
}

std::string FixesLine(const ModelResult& result) {
  const auto tried = TriedIn(result);
  if (!tried) return {};
  const FixAttempt* best = tried->Best();
  if (best == nullptr || !best->after) {
    return Counted(static_cast<std::int64_t>(tried->attempts.size()), "attempt") +
           (tried->chosen.empty() ? "" : " with chosen fixes") + ", none helped";
  }
  return best->outcome + " with " + best->Name() + " (" + CountsText(tried->before) + " -> " +
         CountsText(*best->after) + ")";
}

}  // namespace breakwatch::report
