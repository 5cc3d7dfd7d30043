// A bug report about break sites in Markdown, in the shape that the trackers of PyTorch and of transformers ask for.
// Pure.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/site_costs.h"

namespace breakwatch::report {

enum class Tracker { kAuto, kTorch, kTransformers };  // kAuto: of the project whose code has the site

// The oldest stored result that has one of the sites.
struct FirstSeen {
  SystemTime at{};  // epoch: unknown
  std::string model, commit, torch, transformers;
};

// The stored result that a file comes from. An empty model: the user gave the file.
struct ReproSource {
  std::string model{}, commit{};
  SystemTime made_at{};
  std::string sweep_id{};
};

struct IssueDraft {
  std::string target;                      // as the user named it
  Tracker tracker = Tracker::kAuto;        // never kAuto in an answer
  std::vector<const ModelResult*> models;  // most downloads first
  const BreakSite* site = nullptr;         // of the target's sites the one that most models have
  const ModelResult* example = nullptr;    // a model that has it
  std::vector<std::string> site_ids;       // all sites of the target
};

// What `target` names: a model's id, a site's id (at least its first 8 digits), a reason's id, or its text. Points into
// `evidence`. Error: kNotFound, also for a model without breaks.
Result<IssueDraft> DraftIssue(const SiteEvidence& evidence, const std::string& target,
                              Tracker tracker = Tracker::kAuto);

// `repro`: a Python file that shows the break, or empty: the text names the command that makes one. `source` is named
// above it. At most the 65,536 characters that GitHub accepts: lists of models and sites become shorter first, then the
// file is left out.
std::string RenderIssue(const IssueDraft& draft, const SiteEvidence& evidence, const FirstSeen& first,
                        std::string_view repro, const ReproSource& source, Format format);

}  // namespace breakwatch::report
