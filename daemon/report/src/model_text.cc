// Everything known of one model.
#include <cstdio>

#include "breakwatch/core/json.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/sweep.h"
#include "escape.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

using Fact = std::pair<std::string, std::string>;

void AddNumber(std::string& text, const char* name, const std::optional<std::int64_t>& value) {
  if (value) text += (text.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(*value);
}

std::string Seconds(double seconds) {
  char text[64];
  std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string Numbers(const CaptureResult& c) {
  std::string text;
  AddNumber(text, "graphs", c.graphs);
  AddNumber(text, "breaks", c.breaks);
  AddNumber(text, "sites", c.break_sites);
  AddNumber(text, "reasons", c.unique_reasons);
  AddNumber(text, "ops", c.ops_captured);
  AddNumber(text, "frames", c.frames_total);
  AddNumber(text, "frames fallen back", c.frames_fallback);
  AddNumber(text, "recompiles", c.recompiles);
  return text;
}

std::string OtherCounts(const CaptureResult& c) {
  std::string text;
  AddNumber(text, "Dynamo's counter", c.dynamo_counter_breaks);
  AddNumber(text, "explain's", c.explain_breaks);
  AddNumber(text, "unexplained events", c.unexplained_events);
  return text;
}

std::string Times(const CaptureResult& c) {
  std::string text;
  for (const char* phase : {"create", "inputs", "eager", "capture"}) {
    const auto found = c.phase_s.find(phase);
    if (found != c.phase_s.end()) text += (text.empty() ? "" : ", ") + found->first + " " + Seconds(found->second);
  }
  if (text.empty()) return text;
  char memory[64];
  std::snprintf(memory, sizeof memory, "; %.0f MiB at most", c.peak_rss_mb);
  return text + memory;
}

std::string ConfigOf(const ModelInfo& info) {
  if (info.config_source != "class_default") return info.config_source;
  return "class_default: the defaults of the class, not this repository's config.json";
}

std::string Captured(const ModelResult& r) {
  if (r.capture_id.empty()) return {};
  std::string text = r.capture_id;
  if (!r.shared_from.empty()) text += ", shared from " + r.shared_from;
  if (r.reused) text += ", of an earlier sweep";
  return r.rebuild_reason.empty() ? text : text + " (" + r.rebuild_reason + ")";
}

std::string DepthOf(const CaptureResult& c) {
  std::string text = c.depth;
  if (c.params) text += (text.empty() ? "" : ", ") + std::to_string(*c.params) + " parameters as captured";
  if (c.depth_mismatch.value_or(false)) text += "; reduced and full depth disagree";
  return text;
}

// Facts with a value, in order.
std::vector<Fact> FactsOf(const ModelResult& r) {
  const CaptureResult& c = r.capture;
  const auto& info = r.info;
  std::vector<Fact> facts{
      {"status", std::string(StatusName(c.status)) + (c.flaky ? " (flaky)" : "")},
      {"detail", c.detail},
      {"commit", info.sha},
      {"asked for as", info.requested_id},
      {"rank", info.rank == 0 ? "" : std::to_string(info.rank)},
      {"downloads", info.downloads ? std::to_string(*info.downloads) : ""},
      {"family", std::string(FamilyName(info.family))},
      {"task", info.task},
      {"library", info.library},
      {"model type", info.model_type.empty() ? c.model_type : info.model_type},
      {"class", c.architecture.empty() && !info.architectures.empty() ? info.architectures.front() : c.architecture},
      {"config", ConfigOf(info)},
      {"numbers", Numbers(c)},
      {"other counts", OtherCounts(c)},
      {"depth", DepthOf(c)},
      {"mode", c.mode},
      {"dtype", c.dtype.empty() ? c.device : c.dtype + " on " + c.device},
      {"inputs", c.inputs_json},
      {"phase", HasNumbers(c.status) ? "" : c.phase},
      {"times", Times(c)},
      {"toolchain", c.toolchain.torch.empty() ? "" : c.toolchain.Key() + ", worker " + c.toolchain.worker},
      {"capture", Captured(r)},
      {"structure", r.structure},
      {"sweep", r.sweep_id},
      {"finished", r.finished_at == SystemTime{} ? "" : FormatTime(r.finished_at)},
  };
  std::erase_if(facts, [](const Fact& fact) { return fact.second.empty(); });
  return facts;
}

std::string PlaceOf(const BreakSite& site) {
  std::string text = site.file.empty() ? "(unknown file)" : site.file;
  if (site.line > 0) text += ":" + std::to_string(site.line);
  if (!site.function.empty()) text += " in " + site.function;
  return site.frame.empty() ? text : text + " (" + site.frame + " code)";
}

std::string HeadOf(const BreakSite& site) {
  std::string text = site.reason + (site.gb_id.empty() ? "" : " [" + site.gb_id + "]");
  text += ", " + std::to_string(site.occurrences) + (site.occurrences == 1 ? " break" : " breaks");
  return site.fixability.empty() || site.fixability == "none" ? text : text + ", " + site.fixability;
}

std::vector<Fact> FactsOf(const BreakSite& site) {
  std::vector<Fact> facts{{"at", PlaceOf(site)}, {"code", site.source_line}, {"why", site.explanation}};
  for (const std::string& hint : site.hints) facts.emplace_back("hint", hint);
  facts.emplace_back("context", site.context);
  facts.emplace_back("wrapped in", site.wrapped_in);
  facts.emplace_back("page", ReasonUrl(site.gb_id));
  std::erase_if(facts, [](const Fact& fact) { return fact.second.empty(); });
  return facts;
}

// Texts of several lines stay so, each line made harmless and indented.
std::string Block(const std::string& text, const std::string& indent) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += indent + OneLine(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string FactLines(const std::vector<Fact>& facts, const std::string& indent, std::size_t width) {
  std::string out;
  for (const auto& [name, value] : facts) out += indent + Pad(name, width, false) + "  " + OneLine(value) + "\n";
  return out;
}

std::string ModelText(const ModelResult& r, Style style) {
  const bool bold = style.color;
  std::string out = (bold ? "\x1b[1m" : "") + OneLine(r.info.id) + (bold ? "\x1b[0m\n" : "\n");
  out += FactLines(FactsOf(r), "  ", 12);
  std::size_t number = 0;
  for (const BreakSite& site : r.capture.sites) {
    out += "\n  " + std::to_string(++number) + ". " + OneLine(HeadOf(site)) + "\n";
    out += FactLines(FactsOf(site), "     ", 10);
  }
  if (!r.capture.error.empty()) out += "\n  error\n" + Block(r.capture.error, "    ");
  if (!r.capture.output_tail.empty()) out += "\n  the end of what it printed\n" + Block(r.capture.output_tail, "    ");
  return out;
}

Table FactTable(const std::vector<Fact>& facts) {
  Table table{.title = {}, .columns = {{"fact", "Fact"}, {"value", "Value"}}, .rows = {}};
  for (const auto& [name, value] : facts) table.rows.push_back({name, value});
  return table;
}

// Indented by four: a code block that no text inside can end.
std::string CodeBlock(const std::string& title, const std::string& text) {
  return text.empty() ? "" : "\n## " + title + "\n\n" + Block(text, "    ");
}

std::string ModelMarkdown(const ModelResult& r) {
  std::string out = "# " + MarkdownText(r.info.id) + "\n\n" + Render(FactTable(FactsOf(r)), Format::kMarkdown);
  for (const BreakSite& site : r.capture.sites) {
    out += "\n## " + MarkdownText(HeadOf(site)) + "\n\n" + Render(FactTable(FactsOf(site)), Format::kMarkdown);
  }
  return out + CodeBlock("Error", r.capture.error) + CodeBlock("The end of what it printed", r.capture.output_tail);
}

Table SiteTable(const ModelResult& r) {
  Table table{.title = {},
              .columns = {{"model", "MODEL"},
                          {"revision", "COMMIT"},
                          {"site_id", ""},
                          {"reason", "REASON"},
                          {"gb_id", "ID"},
                          {"fixability", ""},
                          {"occurrences", "BREAKS"},
                          {"file", "FILE"},
                          {"line", "LINE"},
                          {"function", ""},
                          {"source_line", "CODE"},
                          {"explanation", ""},
                          {"hints", ""},
                          {"context", ""},
                          {"url", ""}},
              .rows = {}};
  for (const BreakSite& s : r.capture.sites) {
    std::string hints;
    for (const std::string& hint : s.hints) hints += (hints.empty() ? "" : "\n") + hint;
    table.rows.push_back({r.info.id, r.info.sha, s.site_id, s.reason, s.gb_id, s.fixability, s.occurrences, s.file,
                          s.line > 0 ? Cell(std::int64_t{s.line}) : Cell(), s.function, s.source_line, s.explanation,
                          hints, s.context, ReasonUrl(s.gb_id)});
  }
  return table;
}

}  // namespace

std::string RenderModel(const ModelResult& result, Format format, Style style) {
  switch (format) {
    case Format::kText:
      return ModelText(result, style);
    case Format::kJson:
      return Dump(Json::parse(ToJson(result), nullptr, false));
    case Format::kMarkdown:
      return ModelMarkdown(result);
    case Format::kCsv:
      return Render(SiteTable(result), Format::kCsv);
  }
  return {};
}

}  // namespace breakwatch::report
