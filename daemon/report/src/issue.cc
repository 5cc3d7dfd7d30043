#include "breakwatch/report/issue.h"

#include <algorithm>
#include <map>
#include <set>

#include "breakwatch/core/fix.h"
#include "breakwatch/core/fixability.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/reason_url.h"
#include "breakwatch/core/text.h"
#include "document.h"
#include "escape.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

constexpr std::size_t kMaxModels = 20, kMaxSites = 20, kLeastIdDigits = 8;

using Sites = std::map<std::string, std::pair<const BreakSite*, const ModelResult*>>;  // by id; the first with it

bool Names(const std::string& target, const BreakSite& site) {
  const bool by_id = site.site_id == target || (target.size() >= kLeastIdDigits && site.site_id.starts_with(target));
  return !target.empty() && (by_id || (!site.gb_id.empty() && site.gb_id == target) || site.reason == target);
}

std::int64_t DownloadsOf(const ModelResult& result) {
  return std::max<std::int64_t>(0, result.info.downloads.value_or(0));
}

bool Has(const ModelResult& result, const std::string& site_id) {
  return std::any_of(result.capture.sites.begin(), result.capture.sites.end(),
                     [&](const BreakSite& site) { return site.site_id == site_id; });
}

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

std::string SitesOf(const IssueDraft& draft, const Sites& sites) {
  if (draft.site_ids.size() < 2) return {};
  std::string text = "\nOther lines of it:\n\n";
  std::size_t shown = 0;
  for (const std::string& id : draft.site_ids) {
    if (id == draft.site->site_id) continue;
    if (shown++ == kMaxSites)
      return text + "- and " + std::to_string(draft.site_ids.size() - 1 - kMaxSites) + " more\n";
    const BreakSite& site = *sites.at(id).first;
    text += "- " + MarkdownText(PlaceOf(site)) + ", " + MarkdownText(site.reason) + "\n";
  }
  return text;
}

std::string ModelsOf(const IssueDraft& draft) {
  Table table{.title = {},
              .columns = {{"model", "model"},
                          {"commit", "commit"},
                          {"class", "class"},
                          {"downloads", "downloads in 30 days", true}},
              .rows = {}};
  std::int64_t downloads = 0;
  for (const ModelResult* model : draft.models) downloads += DownloadsOf(*model);
  for (const ModelResult* model : std::span(draft.models).first(std::min(kMaxModels, draft.models.size())))
    table.rows.push_back({model->info.id, model->info.sha.substr(0, 12), model->capture.architecture,
                          model->info.downloads ? Cell(*model->info.downloads) : Cell()});
  const auto count = static_cast<std::int64_t>(draft.models.size());
  std::string text = Counted(count, "model") + " of those captured, with " + std::to_string(downloads) +
                     " downloads in 30 days" + (draft.models.size() > kMaxModels ? "; the most downloaded:" : ":") +
                     "\n\n";
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

std::string VersionsOf(const ModelResult& example) {
  const Toolchain& t = example.capture.toolchain;
  return Fenced("torch " + OneLine(t.torch) + "\ntransformers " + OneLine(t.transformers) + "\nPython " +
                    OneLine(t.python) + "\ndevice " + OneLine(t.device) + ", mode " + OneLine(example.capture.mode) +
                    ", " + OneLine(example.capture.dtype) + "\n",
                "text");
}

std::string ReproText(const IssueDraft& draft, std::string_view repro) {
  if (!repro.empty()) return Fenced(std::string(repro), "python");
  return "Put the file here that `breakwatch repro " + OneLine(draft.example->info.id) +
         " --output repro.py` writes; or repeat this command with `--repro repro.py`.\n";
}

std::string Part(const std::string& title, const std::string& text) { return "\n### " + title + "\n\n" + text; }

Json JsonOf(const IssueDraft& draft, const FirstSeen& first, const std::string& title, const std::string& body) {
  Json models = Json::array();
  for (const ModelResult* model : draft.models)
    models.push_back({{"model", model->info.id},
                      {"revision", model->info.sha},
                      {"downloads", model->info.downloads ? Json(*model->info.downloads) : Json()}});
  return {{"schema", 1},
          {"target", draft.target},
          {"tracker", draft.tracker == Tracker::kTorch ? "torch" : "transformers"},
          {"title", title},
          {"body", body},
          {"site_id", draft.site->site_id},
          {"site_ids", draft.site_ids},
          {"models", std::move(models)},
          {"first_seen", first.at == SystemTime{} ? Json() : Json(FormatTime(first.at))}};
}

}  // namespace

Result<IssueDraft> DraftIssue(const SiteEvidence& evidence, const std::string& target, Tracker tracker) {
  IssueDraft draft{
      .target = target, .tracker = tracker, .models = {}, .site = nullptr, .example = nullptr, .site_ids = {}};
  Sites sites;
  std::map<std::string, std::set<const ModelResult*>> models;
  bool is_known_model = false;
  for (const ModelResult& result : evidence.results) {
    is_known_model = is_known_model || result.info.id == target;
    if (!HasNumbers(result.capture.status)) continue;
    for (const BreakSite& site : result.capture.sites) {
      if (result.info.id != target && !Names(target, site)) continue;
      sites.try_emplace(site.site_id, &site, &result);
      models[site.site_id].insert(&result);
    }
  }
  if (sites.empty()) {
    return Error{ErrorCode::kNotFound,
                 is_known_model ? "no break is known of model \"" + target + "\": see `breakwatch show " + target + "`"
                                : "\"" + target +
                                      "\" is no model, reason or site of this sweep: see `breakwatch reasons --sites`"};
  }
  const auto most = std::max_element(models.begin(), models.end(),
                                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  std::set<const ModelResult*> all;
  for (const auto& [id, of] : models) all.insert(of.begin(), of.end());
  draft.models.assign(all.begin(), all.end());
  std::sort(draft.models.begin(), draft.models.end(), [](const ModelResult* a, const ModelResult* b) {
    return std::pair(-DownloadsOf(*a), a->info.id) < std::pair(-DownloadsOf(*b), b->info.id);
  });
  for (const auto& [id, place] : sites) draft.site_ids.push_back(id);
  draft.site = sites.at(most->first).first;
  draft.example = *std::find_if(draft.models.begin(), draft.models.end(),
                                [&](const ModelResult* model) { return Has(*model, most->first); });
  if (tracker == Tracker::kAuto)
    draft.tracker = draft.site->frame == "torch" ? Tracker::kTorch : Tracker::kTransformers;
  return draft;
}

std::string RenderIssue(const IssueDraft& draft, const SiteEvidence& evidence, const FirstSeen& first,
                        std::string_view repro, Format format) {
  Sites sites;
  for (const ModelResult* model : draft.models) {
    for (const BreakSite& site : model->capture.sites) sites.try_emplace(site.site_id, &site, model);
  }
  const std::string title = TitleOf(draft);
  const std::string about = DescriptionOf(draft) + SitesOf(draft, sites);
  const std::string affected = ModelsOf(draft) + FirstText(first);
  std::string body;
  if (draft.tracker == Tracker::kTorch) {
    body = Part("🐛 Describe the bug", about) + Part("Minimal reproduction", ReproText(draft, repro)) +
           Part("Error logs", StackOf(*draft.site)) + Part("Models affected", affected) +
           Part("Changes tried", FixesOf(draft, evidence)) + Part("Versions", VersionsOf(*draft.example));
  } else {
    body =
        Part("System Info", VersionsOf(*draft.example)) + Part("Reproduction", about + "\n" + ReproText(draft, repro)) +
        Part("User stack", StackOf(*draft.site)) +
        Part("Expected behavior", "The model compiles to one graph: `torch.compile(model, fullgraph=True)` works.\n") +
        Part("Models affected", affected) + Part("Changes tried", FixesOf(draft, evidence));
  }
  if (format == Format::kJson) return Dump(JsonOf(draft, first, title, body));
  return "# " + MarkdownText(title) + "\n" + body;
}

}  // namespace breakwatch::report
