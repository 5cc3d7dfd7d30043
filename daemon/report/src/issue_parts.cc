#include "issue_parts.h"

#include <algorithm>
#include <set>
#include <span>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/fixability.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/model_line.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "document.h"
#include "escape.h"

namespace breakwatch::report::issue_parts {
namespace {

// A line of a fenced block: without line ends and control characters.
std::string CodeLine(const std::string& text) { return OneLine(text) + "\n"; }

// Fenced by more backticks than the code has.
std::string Fenced(const std::string& code, const std::string& language) {
  std::size_t longest = 2, run = 0;
  for (const char c : code) longest = std::max(longest, run = c == '`' ? run + 1 : 0);
  const std::string fence(longest + 1, '`');
  return fence + language + "\n" + code + (code.ends_with('\n') ? "" : "\n") + fence + "\n";
}

// The fixes that were tried on one of the draft's models, or null.
const ModelResult* TriedOn(const IssueDraft& draft, const SiteEvidence& evidence) {
  const auto is_of = [&](const ModelResult* model) {
    return std::find_if(evidence.tried.begin(), evidence.tried.end(), [&](const ModelResult& tried) {
      return tried.capture.mode == kFixMode && tried.info.id == model->info.id && tried.info.sha == model->info.sha &&
             HasNumbers(tried.capture.status);
    });
  };
  if (const auto own = is_of(draft.example); own != evidence.tried.end()) return &*own;
  for (const ModelResult* model : draft.models) {
    if (const auto found = is_of(model); found != evidence.tried.end()) return &*found;
  }
  return nullptr;
}

// "13.2" of "2.15.0+cu132"; "None" of "2.15.0+cpu"; empty if the version does not have it.
std::string CudaOf(const std::string& torch) {
  const std::size_t plus = torch.find('+');
  const std::string build = plus == std::string::npos ? "" : torch.substr(plus + 1);
  if (build == "cpu") return "None";
  if (!build.starts_with("cu") || build.size() < 4) return {};
  return build.substr(2, build.size() - 3) + "." + build.back();
}

std::string CaptureOf(const ModelResult& example) {
  const CaptureResult& c = example.capture;
  return "Captured on " + OneLine(c.toolchain.device) + ", " + OneLine(c.dtype) + ", mode " + OneLine(c.mode);
}

std::string CommandOf(const IssueDraft& draft) {
  return "breakwatch repro " + OneLine(draft.example->info.id) + " --site " + OneLine(draft.site->site_id) +
         " --minimal --output repro.py";
}

// Which file it is.
std::string SourceText(const ReproSource& source) {
  if (source.model.empty()) return {};
  return "From " + MarkdownText(source.model) +
         (source.commit.empty() ? "" : " at commit " + OneLine(source.commit.substr(0, 12))) + ", made on " +
         FormatTime(source.made_at).substr(0, 10) + ":\n\n";
}

}  // namespace

std::int64_t DownloadsOf(const ModelResult& result) {
  return std::max<std::int64_t>(0, result.info.downloads.value_or(0));
}

std::string TitleOf(const IssueDraft& draft) {
  const BreakSite& site = *draft.site;
  const std::string of = draft.models.size() == 1 ? draft.example->capture.architecture
                                                  : Counted(static_cast<std::int64_t>(draft.models.size()), "model");
  return (draft.tracker == Tracker::kTorch ? "[Dynamo] " : "torch.compile: ") + std::string("graph break in ") + of +
         ": " + OneLine(site.reason) + (site.gb_id.empty() ? "" : " (" + OneLine(site.gb_id) + ")") + " at " +
         OneLine(site.file) + ":" + std::to_string(site.line);
}

std::string DescriptionOf(const IssueDraft& draft) {
  const BreakSite& site = *draft.site;
  std::string text = "`torch.compile` breaks the graph of " + MarkdownText(draft.example->capture.architecture) + " (" +
                     MarkdownText(draft.example->info.id) + ") at " + MarkdownText(PlaceOf(site)) + ", in `" +
                     OneLine(site.function) + "`:\n\n" + Fenced(CodeLine(site.source_line), "python");
  text += "\nReason: " + MarkdownText(site.reason);
  if (const std::string url = ReasonUrl(site.gb_id); !url.empty())
    text += " ([" + OneLine(site.gb_id) + "](" + url + "))";
  text += ".";
  if (!site.explanation.empty()) text += " Dynamo explains: " + MarkdownText(OneLine(site.explanation));
  text += "\n";
  for (const std::string& hint : site.hints) text += "\n- Dynamo's hint: " + MarkdownText(OneLine(hint));
  return text + (site.hints.empty() ? "" : "\n");
}

std::string StackOf(const BreakSite& site) {
  std::string lines;
  for (std::size_t i = 0; i < site.stack.size(); ++i) {
    lines += CodeLine(site.stack[i]);
    if (i < site.stack_source.size()) lines += "    " + CodeLine(site.stack_source[i]);
  }
  if (lines.empty()) lines = CodeLine(PlaceOf(site) + " in " + site.function);
  return "The calls of user code, from the model's forward down:\n\n" + Fenced(lines, "text");
}

std::string MessageOf(const BreakSite& site) {
  std::string lines = CodeLine("Graph Break Reason: " + OneLine(site.reason));
  if (!site.explanation.empty()) lines += CodeLine("  Explanation: " + OneLine(site.explanation));
  for (const std::string& hint : site.hints) lines += CodeLine("  Hint: " + OneLine(hint));
  if (!site.context.empty()) lines += CodeLine("  Developer debug context: " + OneLine(site.context));
  return "What Dynamo says:\n\n" + Fenced(lines, "text") + "\n";
}

std::string CallersOf(const IssueDraft& draft, std::size_t most) {
  std::set<std::string> lines;
  for (const ModelResult* model : draft.models) {
    for (const BreakSite& site : model->capture.sites) {
      if (site.site_id != draft.site->site_id) continue;
      if (std::string line = ModelLine(site); !line.empty()) lines.insert(std::move(line));
    }
  }
  if (lines.empty()) return {};
  std::string text = "\nThe models call it from:\n\n";
  std::size_t shown = 0;
  for (const std::string& line : lines) {
    if (shown++ == most) return text + "- and " + std::to_string(lines.size() - most) + " more lines\n";
    text += "- " + MarkdownText(line) + "\n";
  }
  return text;
}

std::string SitesOf(const IssueDraft& draft, const Sites& sites, std::size_t most) {
  if (draft.site_ids.size() < 2) return {};
  std::string text = "\nOther lines of it:\n\n";
  std::size_t shown = 0;
  for (const std::string& id : draft.site_ids) {
    if (id == draft.site->site_id) continue;
    if (shown++ == most) return text + "- and " + std::to_string(draft.site_ids.size() - 1 - most) + " more\n";
    const BreakSite& site = *sites.at(id).first;
    text += "- " + MarkdownText(PlaceOf(site)) + ", " + MarkdownText(site.reason) + "\n";
  }
  return text;
}

std::string ModelsOf(const IssueDraft& draft, std::size_t most) {
  Table table{.title = {},
              .columns = {{"model", "model"},
                          {"commit", "commit"},
                          {"class", "class"},
                          {"downloads", "downloads in 30 days", true}},
              .rows = {}};
  std::int64_t downloads = 0;
  for (const ModelResult* model : draft.models) downloads += DownloadsOf(*model);
  for (const ModelResult* model : std::span(draft.models).first(std::min(most, draft.models.size())))
    table.rows.push_back({model->info.id, model->info.sha.substr(0, 12), model->capture.architecture,
                          model->info.downloads ? Cell(*model->info.downloads) : Cell()});
  const auto count = static_cast<std::int64_t>(draft.models.size());
  std::string text = Counted(count, "model") + " of those captured, with " + std::to_string(downloads) +
                     " downloads in 30 days" + (draft.models.size() > most ? "; the most downloaded:" : ":") + "\n\n";
  return text + Render(table, Format::kMarkdown);
}

std::string FirstText(const FirstSeen& first) {
  if (first.at == SystemTime{}) return {};
  return "\nOldest stored capture with it: " + FormatTime(first.at).substr(0, 10) + ", " + MarkdownText(first.model) +
         (first.commit.empty() ? "" : " at " + OneLine(first.commit.substr(0, 12))) + ", torch " +
         MarkdownText(first.torch) + ", transformers " + MarkdownText(first.transformers) + ".\n";
}

std::string FixesOf(const IssueDraft& draft, const SiteEvidence& evidence) {
  const ModelResult* result = TriedOn(draft, evidence);
  if (result == nullptr) return "None were tried.\n";
  const auto tried = ReadTriedFixes(result->capture.mode_detail_json);
  if (!tried) return "None were tried.\n";
  Table table{.title = {},
              .columns = {{"fix", "change"},
                          {"outcome", "outcome"},
                          {"site", "this site"},
                          {"breaks", "breaks", true},
                          {"graphs", "graphs", true}},
              .rows = {},
              .when_empty = "no change applies"};
  for (const FixAttempt& attempt : tried->attempts) {
    const bool removed =
        std::find(attempt.removed.begin(), attempt.removed.end(), draft.site->site_id) != attempt.removed.end();
    table.rows.push_back({attempt.Name(), attempt.outcome.empty() ? attempt.status : attempt.outcome,
                          attempt.status != "ok" ? Cell() : Cell(std::string(removed ? "gone" : "there")),
                          attempt.after ? Cell(attempt.after->breaks) : Cell(),
                          attempt.after ? Cell(attempt.after->graphs) : Cell()});
  }
  return "On " + MarkdownText(result->info.id) + ", without a change " + Counted(tried->before.breaks, "break") +
         " and " + Counted(tried->before.graphs, "graph") + ":\n\n" + Render(table, Format::kMarkdown);
}

std::string VersionsOf(const ModelResult& example, Tracker tracker) {
  const Toolchain& t = example.capture.toolchain;
  const std::string torch = OneLine(t.torch), transformers = OneLine(t.transformers), python = OneLine(t.python);
  if (tracker == Tracker::kTransformers) {
    return "- `transformers` version: " + transformers + "\n- Platform: Linux\n- Python version: " + python +
           "\n- PyTorch version: " + torch + "\n- " + CaptureOf(example) + "\n";
  }
  std::string lines = "PyTorch version: " + torch + "\n";
  if (const std::string cuda = CudaOf(torch); !cuda.empty()) lines += "CUDA used to build PyTorch: " + cuda + "\n";
  lines += "OS: Linux\nPython version: " + python + "\n" + CaptureOf(example) +
           "\n\nVersions of relevant libraries:\n" + "[pip3] torch==" + torch +
           "\n[pip3] transformers==" + transformers + "\n";
  return Fenced(lines, "text");
}

std::string ReproText(const IssueDraft& draft, std::string_view repro, const ReproSource& source, bool fits) {
  if (repro.empty())
    return "Put the file here that `" + CommandOf(draft) + "` writes; or repeat this command with `--with-repro`.\n";
  if (fits) return SourceText(source) + Fenced(std::string(repro), "python");
  return "Attach the file that `" + CommandOf(draft) + "` writes: it is too long for the text of an issue.\n";
}

}  // namespace breakwatch::report::issue_parts
