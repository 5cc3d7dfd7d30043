// The parts of a bug report, as Markdown. Pure. Text from a worker or a model is escaped, or fenced as code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "breakwatch/report/issue.h"

namespace breakwatch::report::issue_parts {

using Sites = std::map<std::string, std::pair<const BreakSite*, const ModelResult*>>;  // by id; the first with it

std::int64_t DownloadsOf(const ModelResult& result);  // 0 if unknown

std::string TitleOf(const IssueDraft& draft);
std::string DescriptionOf(const IssueDraft& draft);
std::string StackOf(const BreakSite& site);
// The parts of Dynamo's message, with its own labels: what a search for the message finds, and the values in it.
std::string MessageOf(const BreakSite& site);
// Where models lead to the line, if it is in a helper that they call: at most `most` lines.
std::string CallersOf(const IssueDraft& draft, std::size_t most);
// The target's other sites. `sites` has all of them.
std::string SitesOf(const IssueDraft& draft, const Sites& sites, std::size_t most);
std::string ModelsOf(const IssueDraft& draft, std::size_t most);
std::string FirstText(const FirstSeen& first);
std::string FixesOf(const IssueDraft& draft, const SiteEvidence& evidence);
// The fields that torch.utils.collect_env and `transformers env` print, as far as a capture depends on them.
std::string VersionsOf(const ModelResult& example, Tracker tracker);
// `fits`: whether the file is short enough to be included.
std::string ReproText(const IssueDraft& draft, std::string_view repro, const ReproSource& source, bool fits);

}  // namespace breakwatch::report::issue_parts
