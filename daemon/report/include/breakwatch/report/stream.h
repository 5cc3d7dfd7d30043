// Reports of a sweep that is read one result at a time: none of its documents is held longer than it is written.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

#include "breakwatch/core/exposition.h"
#include "breakwatch/core/result.h"
#include "breakwatch/core/sweep.h"
#include "breakwatch/report/sweep.h"
#include "breakwatch/report/table.h"

namespace breakwatch::report {

// Calls `use` for each result in plan order; an error of `use` ends it and is returned.
using UseResult = std::function<Result<void>(const ModelResult& result)>;
using EachResult = std::function<Result<void>(const UseResult& use)>;
EachResult EachOf(std::span<const ModelResult> results);

// Owner: the caller; it outlives the call.
struct StreamedSweep {
  const Sweep& sweep;
  EachResult each;
  SystemTime made_at{};       // as in SweepReport
  std::string_view filter{};  // as in SweepReport: `each` has the selected results only
};

// Results of one mode are not compared with each other. The modes of a sweep are known when it has finished.
bool ComparesNoResults(const Sweep& sweep);
// Whether a report without a gate can be made in this format.
bool CanStream(Format format, const Sweep& sweep);
// The text that RenderSweep makes, in pieces. Error: that of `each`.
Result<void> StreamSweep(const StreamedSweep& sweep, Format format, Style style, const TextSink& sink);

// The ReasonTable of results of which only model, commit, downloads, family, mode, status and sites need to be known.
Result<Table> ReasonTable(const EachResult& each, ReasonOrder order, std::size_t limit,
                          std::span<const ModelResult> tried = {});

}  // namespace breakwatch::report
