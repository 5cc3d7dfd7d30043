#include "breakwatch/trace/read_traces.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"
#include "files.h"
#include "findings.h"
#include "line_reader.h"
#include "process_fold.h"
#include "record_reader.h"

namespace breakwatch::trace {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kProgressBytes = 8u << 20;
constexpr std::size_t kMaxRanksListed = 128, kMaxListed = 16;

// A rank that is not published: its numbers, without its sites.
struct Rank {
  Findings numbers;
  bool same = true;  // equal to the published rank
};

class Reading {
 public:
  Reading(const ReadOptions& options, std::vector<TraceFile> files) : options_(options), files_(std::move(files)) {
    for (const TraceFile& file : files_) total_bytes_ += file.bytes;
  }

  Result<Import> Run() {
    for (std::size_t begin = 0; begin < files_.size();) {
      std::size_t end = begin;
      while (end < files_.size() && files_[end].rank == files_[begin].rank) ++end;
      auto found = ReadRank(begin, end);
      if (!found) return found.error();
      Take(*std::move(found));
      begin = end;
    }
    return Conclude();
  }

 private:
  Result<Findings> ReadRank(std::size_t begin, std::size_t end);
  Result<void> ReadFile(const TraceFile& file, Findings& found);
  void Take(Findings found);
  void Unite(const Findings& found);
  Result<Import> Conclude();
  std::string ModeDetail(const Import& import) const;
  void AddWarnings(Import& import) const;
  std::string Disagreement() const;
  std::string DetailOfRanks() const;

  const ReadOptions& options_;
  const std::vector<TraceFile> files_;
  std::uint64_t total_bytes_ = 0, done_bytes_ = 0, reported_bytes_ = 0;
  Digest digest_{"SHA256"};
  ReadCounts counts_;
  Findings published_;  // of the lowest rank
  Findings union_;      // the same, plus sites that only other ranks have
  bool has_published_ = false;
  std::vector<Rank> ranks_;  // all ranks, in order
};

Result<void> Reading::ReadFile(const TraceFile& file, Findings& found) {
  auto lines = LineReader::Open(file.path, options_.max_line_bytes);
  if (!lines) return lines.error();
  RecordReader reader(*lines, digest_);
  ProcessFold fold(found);
  Record record;
  while (reader.Next(record)) {
    fold.Add(record);
    const std::uint64_t now = done_bytes_ + lines->BytesRead();
    if (now - reported_bytes_ < kProgressBytes) continue;
    reported_bytes_ = now;
    if (options_.stop.stop_requested()) return Error{ErrorCode::kInterrupted, "stopped while reading " + file.path};
    if (options_.progress) options_.progress(now, std::max(now, total_bytes_));
  }
  if (lines->Failed()) return Error{ErrorCode::kUsage, "cannot read the rest of " + file.path};
  fold.Finish();
  done_bytes_ += lines->BytesRead();
  found.read += reader.counts();
  return {};
}

Result<Findings> Reading::ReadRank(std::size_t begin, std::size_t end) {
  Findings found;
  found.rank = files_[begin].rank;
  for (std::size_t i = begin; i < end; ++i) {
    if (auto read = ReadFile(files_[i], found); !read) return read.error();
    ++found.processes;
  }
  counts_ += found.read;
  return found;
}

void Reading::Take(Findings found) {
  Rank rank;
  if (!has_published_ && found.compiles > 0) {
    has_published_ = true;
    union_ = published_ = found;
  } else {
    // Processes without a rank, such as compile workers, are not compared with ranks.
    const bool comparable = found.rank.has_value() || !published_.rank.has_value();
    rank.same = !comparable || !has_published_ || published_.SameNumbers(found);
    if (has_published_ && found.rank && published_.rank) Unite(found);
  }
  found.DropSites();
  rank.numbers = std::move(found);
  ranks_.push_back(std::move(rank));
}

// A break site of any rank is a break site of the job.
void Reading::Unite(const Findings& found) {
  for (const BreakSite& site : found.sites) union_.AddSiteOf(site, *found.rank);
  if (found.hard_failures == 0 || union_.hard_failures > 0) return;
  // If one rank failed, the job failed, even if other ranks succeeded.
  Failure failure = found.failures.front();
  failure.compile_id += (failure.compile_id.empty() ? "rank " : " of rank ") + std::to_string(*found.rank);
  union_.AddFailure(std::move(failure), /*hard=*/true, found.error);
}

std::string NameOf(const Findings& found) {
  return found.rank ? "rank " + std::to_string(*found.rank) : "processes without a rank";
}

// Summarizes the published rank, and the sites that only other ranks have.
std::string Reading::DetailOfRanks() const {
  std::string text = NameOf(published_) + ": " + ToCapture(published_).detail;
  if (!union_.other_ranks.empty()) text += "; " + Counted(union_.other_ranks.size(), "more site") + " on other ranks";
  if (union_.hard_failures == published_.hard_failures) return text;
  return FailureText(union_.failures.front()) + "; " + text;
}

// Describes the differences between ranks, for the result's detail.
std::string Reading::Disagreement() const {
  std::string text;
  std::size_t differing = 0;
  for (const Rank& rank : ranks_) {
    if (rank.same || ++differing > 4) continue;
    text += (text.empty() ? "" : "; ") + NameOf(rank.numbers) + ": " + Summary(rank.numbers);
    if (rank.numbers.hard_failures > 0) text += ", " + rank.numbers.failures.front().type;
  }
  if (differing > 4) text += "; " + std::to_string(differing - 4) + " more";
  if (text.empty()) return text;
  return std::to_string(differing) + " of " + std::to_string(ranks_.size()) + " ranks differ: " + text;
}

void Reading::AddWarnings(Import& import) const {
  const auto warn = [&](std::int64_t count, const char* one, const char* many) {
    if (count > 0) import.warnings.push_back(count == 1 ? one : std::to_string(count) + many);
  };
  warn(counts_.unreadable, "1 line could not be read and was skipped", " lines could not be read and were skipped");
  warn(counts_.mismatches, "1 payload differs from its digest", " payloads differ from their digests");
  warn(counts_.torn, "1 record is cut by the end of its file and was skipped",
       " records are cut by the ends of their files and were skipped");
  warn(published_.unexplained, "1 compilation was restarted by a break that the trace does not show",
       " compilations were restarted by breaks that the trace does not show");
  const auto attributed = static_cast<std::int64_t>(union_.sites.size());
  if (attributed >= 4096) import.warnings.push_back("more than 4096 break sites: later ones are only counted");
  if (const std::string text = Disagreement(); !text.empty()) import.warnings.push_back(text);
}

Json OfRank(const Rank& rank) {
  const Findings& f = rank.numbers;
  Json out = {{"rank", f.rank ? Json(*f.rank) : Json(nullptr)},
              {"processes", f.processes},
              {"breaks", f.breaks},
              {"break_sites", f.sites_total},
              {"graphs", f.graphs},
              {"compiles", f.compiles},
              {"recompiles", f.recompiles},
              {"compile_s", f.compile_s}};
  if (f.hard_failures > 0) out["failures"] = f.hard_failures;
  if (f.ended < f.compiles) out["unfinished"] = f.compiles - f.ended;
  if (!rank.same) out["differs"] = true;
  return out;
}

std::string Reading::ModeDetail(const Import& import) const {
  const Findings& f = union_;
  Json detail = {{"files", import.files},
                 {"bytes", import.bytes},
                 {"records", import.records},
                 {"unreadable_lines", counts_.unreadable},
                 {"payload_mismatches", counts_.mismatches},
                 {"torn_records", counts_.torn}};
  if (f.rank) detail["rank"] = *f.rank;
  detail["compiles"] = f.compiles;
  detail["compile_s"] = f.compile_s;
  if (f.backend_s > 0) detail["backend_compile_s"] = f.backend_s;
  if (f.inductor_s > 0) detail["inductor_compile_s"] = f.inductor_s;
  detail["skipped_frames"] = f.skips;
  if (f.ended < f.compiles) detail["unfinished_compiles"] = f.compiles - f.ended;
  std::vector<std::pair<std::string, std::int64_t>> reasons(f.recompile_reasons.begin(), f.recompile_reasons.end());
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  reasons.resize(std::min(reasons.size(), kMaxListed));
  for (const auto& [reason, count] : reasons) {
    detail["recompile_reasons"].push_back({{"reason", reason}, {"count", count}});
  }
  if (f.failures_total > 0) detail["failures_total"] = f.failures_total;
  for (const Failure& failure : f.failures) {
    detail["failures"].push_back(
        {{"compile_id", failure.compile_id}, {"type", failure.type}, {"reason", failure.reason}});
  }
  for (const auto& [site, ranks] : union_.other_ranks) {
    if (detail["sites_of_other_ranks"].size() < kMaxRanksListed) detail["sites_of_other_ranks"][site] = ranks;
  }
  if (ranks_.size() > 1) {
    detail["ranks_total"] = ranks_.size();
    for (const Rank& rank : ranks_) {
      if (detail["ranks"].size() < kMaxRanksListed) detail["ranks"].push_back(OfRank(rank));
    }
  }
  return JsonText(detail);
}

Result<Import> Reading::Conclude() {
  if (options_.progress) options_.progress(done_bytes_, done_bytes_);
  if (!has_published_) {
    return Error{ErrorCode::kInvalid,
                 counts_.records > 0 ? "nothing was compiled in this trace" : "no record of the trace could be read"};
  }
  Import import;
  import.capture = ToCapture(union_);
  import.bytes = done_bytes_;
  import.files = static_cast<std::int64_t>(files_.size());
  import.records = counts_.records;
  import.digest = digest_.Take();
  AddWarnings(import);
  import.capture.mode_detail_json = ModeDetail(import);
  if (published_.rank && ranks_.size() > 1) import.capture.detail = DetailOfRanks();
  if (const std::string text = Disagreement(); !text.empty()) import.capture.detail += "; " + text;
  if (counts_.unreadable > 0) {
    import.capture.detail += "; " + Counted(counts_.unreadable, "unreadable line");
  }
  return import;
}

}  // namespace

Result<Import> ReadTraces(const std::string& path, const ReadOptions& options) {
  auto files = TraceFiles(path, options.max_line_bytes);
  if (!files) return files.error();
  auto import = Reading(options, *std::move(files)).Run();
  return import ? std::move(import) : import.error().Within(path);
}

}  // namespace breakwatch::trace
