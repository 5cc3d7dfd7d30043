// The full report of one model.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <span>

#include "breakwatch/core/fix_effects.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "breakwatch/report/fixes.h"
#include "breakwatch/report/measured.h"
#include "breakwatch/report/sweep.h"
#include "contrast.h"
#include "escape.h"
#include "prose.h"
#include "segments.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxGraphsShown = 40;
// The widths of wrapped text: the maximum if the terminal's width is unknown, and the minimum.
constexpr std::size_t kCallsShown = 3;  // of a stack
constexpr std::size_t kColumns = 100, kLeastColumns = 20;

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
  if (!HasOpsOfAnotherRun(c)) AddNumber(text, "ops", c.ops_captured);
  AddNumber(text, "frames", c.frames_total);
  AddNumber(text, "frame fallbacks", c.frames_fallback);
  AddNumber(text, "recompiles", c.recompiles);
  return text;
}

// Not on the line of the other counts, because it comes from another run than they do.
std::string OpsText(const CaptureResult& c) {
  if (!HasOpsOfAnotherRun(c)) return {};
  return std::to_string(*c.ops_captured) + " in the reduced run; all other numbers and the graphs below come from " +
         "the full-depth run";
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
  if (text.empty() || c.peak_rss_mb == 0) return text;  // a trace lacks these values
  char memory[64];
  std::snprintf(memory, sizeof memory, "; peak %.0f MiB", c.peak_rss_mb);
  return text + memory;
}

std::string ConfigOf(const ModelInfo& info) {
  if (info.config_source != "class_default") return info.config_source;
  return "class_default: defaults of the model class, not the repository's config.json";
}

std::string Captured(const ModelResult& r) {
  if (r.capture_id.empty()) return {};
  std::string text = r.capture_id;
  if (!r.shared_from.empty()) text += ", shared from " + r.shared_from;
  if (r.reused) text += ", from an earlier sweep";
  return r.rebuild_reason.empty() ? text : text + " (" + r.rebuild_reason + ")";
}

std::string DepthOf(const CaptureResult& c) {
  std::string text = c.depth;
  if (c.params) text += (text.empty() ? "" : ", ") + std::to_string(*c.params) + " parameters as captured";
  if (c.depth_mismatch.value_or(false)) text += "; reduced and full depth disagree";
  return text;
}

std::string Names(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

// The optional arguments of forward that were passed.
std::string OptionalText(const CaptureResult& c) {
  if (c.optional_passed.empty() && c.optional_left_out.empty()) return {};
  return "passed: " + Names(c.optional_passed) + "; not passed: " + Names(c.optional_left_out);
}

// Facts with a value, in order.
std::vector<Fact> FactsOf(const ModelResult& r) {
  const CaptureResult& c = r.capture;
  const auto& info = r.info;
  std::vector<Fact> facts{
      {"status", std::string(StatusName(c.status)) + (c.flaky ? " (flaky)" : "")},
      {"detail", c.detail},
      {"suggestion", c.suggestion},
      {"commit", info.sha},
      {"requested as", info.requested_id},
      {"rank", info.rank == 0 ? "" : std::to_string(info.rank)},
      {"downloads", info.downloads ? std::to_string(*info.downloads) : ""},
      {"family", std::string(FamilyName(info.family))},
      {"task", info.task},
      {"library", info.library},
      {"model type", info.model_type.empty() ? c.model_type : info.model_type},
      {"class", c.architecture.empty() && !info.architectures.empty() ? info.architectures.front() : c.architecture},
      {"config", ConfigOf(info)},
      {"numbers", Numbers(c)},
      {"ops", OpsText(c)},
      {"other counts", OtherCounts(c)},
      {"depth", DepthOf(c)},
      {"mode", ModeText(r)},
      {"dtype", c.dtype.empty() ? c.device : c.dtype + " on " + c.device},
      {"inputs", InputsText(c.inputs_json)},
      {"optional", OptionalText(c)},
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

// Fixability by site, as the fixes showed it that the same toolchain tried on the same code; empty without any.
std::map<std::string, std::string> MeasuredFixability(const ModelResult& shown, std::span<const ModelResult> all) {
  FixEffects found;
  for (const ModelResult& other : all) {
    if (other.info.id != shown.info.id || other.info.sha != shown.info.sha) continue;
    if (other.capture.toolchain.name != shown.capture.toolchain.name) continue;
    if (auto effects = FixEffectsOf(other); effects && Replaces(*effects, found)) found = *std::move(effects);
  }
  return found.sites;
}

std::string HeadOf(const BreakSite& site, const std::map<std::string, std::string>& fixability) {
  std::string text = site.reason + (site.gb_id.empty() ? "" : " [" + site.gb_id + "]");
  text += ", " + Counted(site.occurrences, "break");
  const auto measured = fixability.find(site.site_id);
  return measured == fixability.end() ? text : text + ", " + measured->second;
}

// From the model's forward down; the last frame is the place itself.
void AddStack(const BreakSite& site, const Style& style, std::vector<Fact>& facts) {
  const std::size_t calls = site.stack.empty() ? 0 : site.stack.size() - 1;
  const std::size_t left_out = style.whole_stacks || calls <= kCallsShown ? 0 : calls - kCallsShown;
  if (left_out > 0)
    facts.emplace_back("called by",
                       "(" + Counted(static_cast<std::int64_t>(left_out), "call") + ": --stack shows all)");
  for (std::size_t i = left_out; i < calls; ++i) {
    facts.emplace_back("called by", ShortPaths(site.stack[i], style));
    if (style.whole_stacks && i < site.stack_source.size()) facts.emplace_back("", "    " + site.stack_source[i]);
  }
}

std::vector<Fact> FactsOf(const BreakSite& site, const Style& style) {
  std::vector<Fact> facts{{"at", PlaceOf(site)}, {"code", site.source_line}};
  AddStack(site, style, facts);
  facts.emplace_back("module", site.module_path);
  facts.emplace_back("why", ShortPaths(site.explanation, style));
  for (const std::string& hint : site.hints) facts.emplace_back("hint", ShortPaths(hint, style));
  facts.emplace_back("context", ShortPaths(site.context, style));
  facts.emplace_back("wrapped in", ShortPaths(site.wrapped_in, style));
  facts.emplace_back("compile", site.compile_id);
  facts.emplace_back("site", site.site_id);
  facts.emplace_back("page", ReasonUrl(site.gb_id));
  std::erase_if(facts, [](const Fact& fact) { return fact.second.empty(); });
  return facts;
}

// Keeps line breaks. Escapes and indents each line.
std::string Block(const std::string& text, const std::string& indent) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += indent + OneLine(std::string_view(text).substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  return out;
}

// `columns`: the line width; 0: one line per fact.
std::string FactLines(const std::vector<Fact>& facts, const std::string& indent, std::size_t width,
                      std::size_t columns) {
  const std::size_t begin = indent.size() + width + 2;
  const std::size_t left = columns == 0       ? std::string::npos
                           : columns <= begin ? kLeastColumns
                                              : std::max(kLeastColumns, columns - begin);
  std::string out;
  for (const auto& [name, value] : facts) {
    std::string head = indent + Pad(name, width, false) + "  ";
    for (const std::string& line : columns == 0 ? std::vector{OneLine(value)} : Wrapped(OneLine(value), left)) {
      out += head + line + "\n";
      head.assign(begin, ' ');
    }
  }
  return out;
}

std::string ModeAndToolchain(const CaptureResult& c) { return c.mode + " by " + c.toolchain.name; }

// "train by default: graph_breaks, 3 breaks; ...": the modes and toolchains that have results of their own.
std::string OthersText(const ModelResult& shown, std::span<const ModelResult> all) {
  std::string text;
  std::set<std::string> listed{ModeAndToolchain(shown.capture)};
  for (const ModelResult& r : all) {
    const CaptureResult& c = r.capture;
    if (r.info.id != shown.info.id || !listed.insert(ModeAndToolchain(c)).second) continue;
    text += (text.empty() ? "" : "; ") + ModeAndToolchain(c) + ": " + std::string(StatusName(c.status));
    if (c.status == Status::kGraphBreaks && c.breaks) text += ", " + std::to_string(*c.breaks) + " breaks";
  }
  return text;
}

// The call variants of the model with another result than this one.
std::vector<Contrast> ContrastsWith(const ModelResult& shown, std::span<const ModelResult> all) {
  std::vector<const ModelResult*> results{&shown};
  for (const ModelResult& r : all) {
    if (r.info.id == shown.info.id) results.push_back(&r);
  }
  std::vector<Contrast> contrasts = ContrastsOf(results);
  std::erase_if(contrasts, [&](const Contrast& c) { return c.base != &shown && c.other != &shown; });
  return contrasts;
}

// What the mode of a result found, in one line; empty if it is one whose numbers are the result.
std::string ModeLine(const ModelResult& result) {
  const std::string measured = MeasuredLine(result);
  return measured.empty() ? FixesLine(result) : measured;
}
std::string ModeText(const ModelResult& result, Format format, Style style) {
  const std::string measured = MeasuredText(result, format, style);
  return measured.empty() ? FixesText(result, format, style) : measured;
}

// The facts around one result: differences to others, and the list of other results.
std::vector<Fact> FactsBeside(const ModelResult& shown, std::span<const ModelResult> all) {
  std::vector<Fact> facts;
  for (const Contrast& contrast : ContrastsWith(shown, all)) facts.emplace_back("differs", ContrastText(contrast));
  for (const ModelResult& r : all) {
    if (r.info.id != shown.info.id || &r == &shown || r.capture.toolchain.name != shown.capture.toolchain.name)
      continue;
    if (const std::string line = ModeLine(r); !line.empty()) facts.emplace_back(r.capture.mode, line);
  }
  if (const std::string others = OthersText(shown, all); !others.empty()) facts.emplace_back("others", others);
  return facts;
}

std::string MoreGraphs(const CaptureResult& c) {
  if (c.segments.size() <= kMaxGraphsShown) return {};
  return "and " + std::to_string(c.segments.size() - kMaxGraphsShown) + " more graphs: --json has all";
}

std::string Indented(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out += "  " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string GraphsText(const CaptureResult& c, Style style) {
  if (c.segments.empty()) return {};
  if (style.width > 2) style.width -= 2;
  const std::string more = MoreGraphs(c);
  return "\n" + Indented(Render(SegmentTable(c, kMaxGraphsShown), Format::kText, style)) +
         (more.empty() ? "" : "  " + more + "\n");
}

std::string ModelText(const ModelResult& r, Style style, std::span<const ModelResult> all) {
  const bool bold = style.color;
  std::string out = (bold ? "\x1b[1m" : "") + OneLine(r.info.id) + (bold ? "\x1b[0m\n" : "\n");
  out += FactLines(FactsOf(r), "  ", 12, style.width);
  out += FactLines(FactsBeside(r, all), "  ", 12, style.width);
  if (const std::string measured = ModeText(r, Format::kText, style); !measured.empty()) {
    out += "\n" + measured;
  } else if (const auto facts = ModeFacts(r.capture.mode_detail_json); !facts.empty()) {
    out += "\n  in mode " + OneLine(r.capture.mode) + "\n" + FactLines(facts, "    ", 16, style.width);
  }
  out += GraphsText(r.capture, style);
  const auto fixability = MeasuredFixability(r, all);
  std::size_t number = 0;
  for (const BreakSite& site : r.capture.sites) {
    out += "\n  " + std::to_string(++number) + ". " + OneLine(HeadOf(site, fixability)) + "\n";
    out += FactLines(FactsOf(site, style), "     ", 10, style.width == 0 ? kColumns : style.width);
  }
  if (!r.capture.error.empty()) out += "\n  error\n" + Block(r.capture.error, "    ");
  if (!r.capture.output_tail.empty()) out += "\n  end of its output\n" + Block(r.capture.output_tail, "    ");
  return out;
}

Table FactTable(const std::vector<Fact>& facts) {
  Table table{.title = {}, .columns = {{"fact", "Fact"}, {"value", "Value"}}, .rows = {}};
  for (const auto& [name, value] : facts) table.rows.push_back({name, value});
  return table;
}

// Indented by four spaces: the text cannot end such a code block.
std::string CodeBlock(const std::string& title, const std::string& text) {
  return text.empty() ? "" : "\n## " + title + "\n\n" + Block(text, "    ");
}

std::string GraphsMarkdown(const CaptureResult& c) {
  if (c.segments.empty()) return {};
  Table table = SegmentTable(c, kMaxGraphsShown);
  table.title = "Graphs";
  const std::string more = MoreGraphs(c);
  return "\n" + Render(table, Format::kMarkdown) + (more.empty() ? "" : "\n" + MarkdownText(more) + "\n");
}

std::string ModelMarkdown(const ModelResult& r, const Style& style, std::span<const ModelResult> all) {
  auto facts = FactsOf(r);
  for (Fact& fact : FactsBeside(r, all)) facts.push_back(std::move(fact));
  std::string out = "# " + MarkdownText(r.info.id) + "\n\n" + Render(FactTable(facts), Format::kMarkdown);
  if (const std::string measured = ModeText(r, Format::kMarkdown, style); !measured.empty()) {
    out += "\n## In mode " + MarkdownText(r.capture.mode) + "\n\n" + measured;
  } else if (const auto found = ModeFacts(r.capture.mode_detail_json); !found.empty()) {
    out += "\n## In mode " + MarkdownText(r.capture.mode) + "\n\n" + Render(FactTable(found), Format::kMarkdown);
  }
  out += GraphsMarkdown(r.capture);
  const auto fixability = MeasuredFixability(r, all);
  for (const BreakSite& site : r.capture.sites) {
    out += "\n## " + MarkdownText(HeadOf(site, fixability)) + "\n\n" +
           Render(FactTable(FactsOf(site, style)), Format::kMarkdown);
  }
  return out + CodeBlock("Error", r.capture.error) + CodeBlock("End of its output", r.capture.output_tail);
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
                          {"url", ""},
                          {"module_path", ""},
                          {"frame", ""},
                          {"compile_id", ""},
                          {"wrapped_in", ""}},
              .rows = {}};
  for (const BreakSite& s : r.capture.sites) {
    std::string hints;
    for (const std::string& hint : s.hints) hints += (hints.empty() ? "" : "\n") + hint;
    table.rows.push_back({r.info.id, r.info.sha, s.site_id, s.reason, s.gb_id, s.fixability, s.occurrences, s.file,
                          s.line > 0 ? Cell(std::int64_t{s.line}) : Cell(), s.function, s.source_line, s.explanation,
                          hints, s.context, ReasonUrl(s.gb_id), s.module_path, s.frame, s.compile_id, s.wrapped_in});
  }
  return table;
}

Json ModelJson(const ModelResult& r, std::span<const ModelResult> all) {
  Json document = Json::parse(ToJson(r), nullptr, /*allow_exceptions=*/false);
  Json others = Json::array();
  for (const ModelResult& other : all) {
    const CaptureResult& c = other.capture;
    if (other.info.id != r.info.id || ModeAndToolchain(c) == ModeAndToolchain(r.capture)) continue;
    others.push_back({{"mode", c.mode},
                      {"toolchain", c.toolchain.name},
                      {"status", StatusName(c.status)},
                      {"breaks", c.breaks ? Json(*c.breaks) : Json()},
                      {"break_sites", c.break_sites ? Json(*c.break_sites) : Json()},
                      {"sweep_id", other.sweep_id}});
    if (const std::string line = MeasuredLine(other); !line.empty()) others.back()["measured"] = line;
    if (const std::string line = FixesLine(other); !line.empty()) others.back()["fixes"] = line;
  }
  document["other_results"] = std::move(others);
  Json differences = Json::array();
  for (const Contrast& contrast : ContrastsWith(r, all)) {
    differences.push_back({{"mode", contrast.base->capture.mode},
                           {"other_mode", contrast.other->capture.mode},
                           {"text", ContrastText(contrast)}});
  }
  document["differences"] = std::move(differences);
  return document;
}

}  // namespace

const ModelResult* SelectResult(std::span<const ModelResult> results, std::string_view mode,
                                std::string_view toolchain) {
  const auto fits = [&](const ModelResult& r, std::string_view wanted_mode) {
    return (wanted_mode.empty() || r.capture.mode == wanted_mode) &&
           (toolchain.empty() || r.capture.toolchain.name == toolchain);
  };
  for (const std::string_view wanted : {mode.empty() ? std::string_view("eval") : mode, mode}) {
    for (const ModelResult& result : results) {
      if (fits(result, wanted)) return &result;
    }
  }
  return nullptr;
}

std::string RenderModel(const ModelResult& result, Format format, Style style, std::span<const ModelResult> all) {
  switch (format) {
    case Format::kJson:
      return Dump(ModelJson(result, all));
    case Format::kMarkdown:
      return ModelMarkdown(result, style, all);
    case Format::kCsv:
      return Render(SiteTable(result), Format::kCsv);
    default:
      return ModelText(result, style, all);
  }
}

}  // namespace breakwatch::report
