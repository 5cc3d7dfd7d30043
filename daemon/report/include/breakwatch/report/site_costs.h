// Which lines of code cost most over all models, and which few of them, changed, make the most models whole. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "breakwatch/core/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

enum class SiteOrder { kModels, kDownloads, kEvents, kLeverage };
std::optional<SiteOrder> ParseSiteOrder(std::string_view name);  // "models", "downloads", "events", "leverage"

// What is known of the models of a sweep. Owner: the caller; all outlive the call.
struct SiteEvidence {
  std::span<const ModelResult> results{};           // of one mode and toolchain: their sites are counted
  std::span<const ModelResult> other_toolchains{};  // the same mode by others, of any model
  std::span<const ModelResult> tried{};             // of mode `fix`, of any model
  std::string_view sweep_id{};
};

struct SiteOptions {
  SiteOrder order = SiteOrder::kModels;  // kDownloads: the choice of lines weighs models by downloads, too
  std::size_t limit = 0;                 // rows of the table of sites; 0: all
  std::size_t lines = 10;                // the largest choice
};

// A row per site id. Fields: site_id, reason, gb_id, models, downloads, leverage (models that have no other site),
// events, owner (user, library, torch), place, function, source_line, model_line (where one model's own code leads to
// it, if it is inside a helper), callers (how many such lines), caller_lines (at most 64 of them), fix (a single fix
// that removes it, and on how many of the models tried), not_with (toolchains by which its models do not have it),
// example_model.
Table SiteCostTable(const SiteEvidence& evidence, const SiteOptions& options);

// A row per number of lines at which more models become whole. Fields: lines, models, share (of the models that break,
// 0 to 1), downloads (of models that become whole), exact (false: there may be a better choice), site_ids.
Table UnblockTable(const SiteEvidence& evidence, const SiteOptions& options);

// Both tables, and between them the lines of the largest choice. JSON: {"schema", "sweep_id", "broken_models", "sites",
// "unblock"}. CSV: the sites.
std::string RenderSiteCosts(const SiteEvidence& evidence, const SiteOptions& options, Format format, Style style = {});

}  // namespace breakwatch::report
