// `breakwatch issue`: a bug report about a model, a reason or a line, as text. Nothing is sent anywhere.
#include "breakwatch/report/issue.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

#include "commands.h"
#include "remote_history.h"
#include "site_evidence.h"

namespace breakwatch::commands {
namespace {

constexpr std::size_t kMaxReproBytes = 60'000;  // GitHub refuses an issue of more than 65,536 characters
constexpr std::size_t kMaxSearched = 20;        // models whose history is searched for the oldest result

Result<std::string> ReadRepro(const std::string& path) {
  if (path.empty()) return std::string();
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxReproBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || file.gcount() == 0)
    return Error{ErrorCode::kUsage,
                 "--repro: cannot read " + path + (errno != 0 ? std::string(": ") + std::strerror(errno) : "")};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kMaxReproBytes)
    return Error{ErrorCode::kUsage, "--repro: " + path + " has more than 60000 bytes, too long for an issue"};
  return text;
}

// Among the newest results of each commit and toolchain that the store has.
Result<report::FirstSeen> FirstSeenOf(store::SweepStore& store, const report::IssueDraft& draft) {
  report::FirstSeen first;
  const auto has = [&](const ModelResult& result) {
    return std::any_of(result.capture.sites.begin(), result.capture.sites.end(), [&](const BreakSite& site) {
      return std::binary_search(draft.site_ids.begin(), draft.site_ids.end(), site.site_id);
    });
  };
  for (const ModelResult* model : std::span(draft.models).first(std::min(kMaxSearched, draft.models.size()))) {
    const auto results = store.NewestResults(
        {.model = model->info.id, .mode = model->capture.mode, .toolchain = {}, .revision = {}, .each_commit = true});
    if (!results) return results.error();
    for (const ModelResult& result : *results) {
      const SystemTime at = result.capture.started_at == SystemTime{} ? result.finished_at : result.capture.started_at;
      if (!has(result) || (first.at != SystemTime{} && first.at <= at)) continue;
      first = {at, result.info.id, result.info.sha, result.capture.toolchain.torch,
               result.capture.toolchain.transformers};
    }
  }
  return first;
}

}  // namespace

int RunIssue(App& app, const IssueOptions& options) {
  const auto tracker = options.tracker == "torch"          ? report::Tracker::kTorch
                       : options.tracker == "transformers" ? report::Tracker::kTransformers
                                                           : report::Tracker::kAuto;
  const auto repro = ReadRepro(options.repro);
  if (!repro) return Fail(app, repro.error());
  auto store = OpenHistory(app);
  if (!store) return Fail(app, store.error());
  const auto evidence = LoadEvidence(app, **store, options.sweep, options.mode, {});
  if (!evidence) return Fail(app, evidence.error());
  const auto draft = report::DraftIssue(evidence->View(), options.target, tracker);
  if (!draft) return Fail(app, draft.error());
  const auto first = FirstSeenOf(**store, *draft);
  if (!first) return Fail(app, first.error());
  return Write(app, options.output, report::RenderIssue(*draft, evidence->View(), *first, *repro, FormatOf(app)));
}

}  // namespace breakwatch::commands
