#include "breakwatch/report/issue.h"

#include <algorithm>
#include <map>
#include <set>

#include "breakwatch/core/text.h"
#include "document.h"
#include "escape.h"
#include "issue_parts.h"
#include "table_json.h"

namespace breakwatch::report {
namespace {

using namespace issue_parts;

constexpr std::size_t kLeastIdDigits = 8;
constexpr std::size_t kMaxBytes = 65'536;  // GitHub's limit on the characters of an issue

// What a report lists; the first that fits is used.
struct Extent {
  std::size_t models, sites;
  bool repro;
};
constexpr Extent kExtents[] = {{20, 20, true}, {5, 5, true}, {5, 5, false}};

bool Names(const std::string& target, const BreakSite& site) {
  const bool by_id = site.site_id == target || (target.size() >= kLeastIdDigits && site.site_id.starts_with(target));
  return !target.empty() && (by_id || (!site.gb_id.empty() && site.gb_id == target) || site.reason == target);
}

bool Has(const ModelResult& result, const std::string& site_id) {
  return std::any_of(result.capture.sites.begin(), result.capture.sites.end(),
                     [&](const BreakSite& site) { return site.site_id == site_id; });
}

// Why there is nothing to report, and what to do.
std::string WhyNone(const std::string& target, bool is_known_model) {
  if (is_known_model) return "no break is known of model \"" + target + "\": see `breakwatch show " + target + "`";
  const std::string unknown = "\"" + target + "\" is no model, reason or site of this sweep: ";
  if (target.find('/') != std::string::npos)
    return unknown + "capture it with `breakwatch sweep --model " + target + "`, or name its sweep with --sweep";
  return unknown + "see `breakwatch reasons --sites`";
}

std::string Part(const std::string& title, const std::string& text) { return "\n### " + title + "\n\n" + text; }

Json JsonOf(const ReproSource& source) {
  if (source.model.empty()) return {};
  return {{"model", source.model},
          {"revision", source.commit},
          {"made_at", FormatTime(source.made_at)},
          {"sweep_id", source.sweep_id}};
}

Json JsonOf(const IssueDraft& draft, const FirstSeen& first, const ReproSource& source, const std::string& title,
            const std::string& body) {
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
          {"repro", JsonOf(source)},
          {"first_seen", first.at == SystemTime{} ? Json() : Json(FormatTime(first.at))}};
}

std::string BodyOf(const IssueDraft& draft, const SiteEvidence& evidence, const FirstSeen& first,
                   std::string_view repro, const ReproSource& source, const Extent& extent) {
  Sites sites;
  for (const ModelResult* model : draft.models) {
    for (const BreakSite& site : model->capture.sites) sites.try_emplace(site.site_id, &site, model);
  }
  const std::string about = DescriptionOf(draft) + CallersOf(draft, extent.sites) + SitesOf(draft, sites, extent.sites);
  const std::string script = ReproText(draft, repro, source, extent.repro);
  const std::string more = Part("Models affected", ModelsOf(draft, extent.models) + FirstText(first)) +
                           Part("Changes tried", FixesOf(draft, evidence));
  const std::string versions = VersionsOf(*draft.example, draft.tracker),
                    logs = MessageOf(*draft.site) + StackOf(*draft.site);
  if (draft.tracker == Tracker::kTorch) {
    return Part("🐛 Describe the bug", about + "\n**Minimal reproduction**\n\n" + script) + Part("Error logs", logs) +
           more + Part("Versions", versions);
  }
  return Part("System Info", versions) + Part("Who can help?", "") +
         Part("Information", "- [ ] The official example scripts\n- [x] My own modified scripts\n") +
         Part("Tasks",
              "- [ ] An officially supported task in the `examples` folder (such as GLUE/SQuAD, ...)\n"
              "- [x] My own task or dataset (give details below)\n") +
         Part("Reproduction", about + "\n" + script + "\n" + logs) +
         Part("Expected behavior", "The model compiles to one graph: `torch.compile(model, fullgraph=True)` works.\n") +
         more;
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
  if (sites.empty()) return Error{ErrorCode::kNotFound, WhyNone(target, is_known_model)};
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
                        std::string_view repro, const ReproSource& source, Format format) {
  const std::string title = TitleOf(draft), heading = "# " + MarkdownText(title) + "\n";
  std::string body;
  for (const Extent& extent : kExtents) {
    body = BodyOf(draft, evidence, first, repro, source, extent);
    if (heading.size() + body.size() <= kMaxBytes) break;
  }
  if (format == Format::kJson) return Dump(JsonOf(draft, first, source, title, body));
  return heading + body;
}

}  // namespace breakwatch::report
