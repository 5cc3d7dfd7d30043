#include "files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "line_reader.h"
#include "record_reader.h"

namespace breakwatch::trace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "dedicated_log_torch_trace_", kRank = "rank_";
constexpr std::size_t kMaxFiles = 100'000;
constexpr std::uint64_t kLookBytes = 4u << 20;  // read from a file that has no rank in its name

std::optional<std::int64_t> RankOfName(std::string_view name) {
  const std::size_t at = name.find(kRank);
  if (at == std::string_view::npos) return std::nullopt;
  std::int64_t rank = 0;
  const char* begin = name.data() + at + kRank.size();
  const auto parsed = std::from_chars(begin, name.data() + name.size(), rank);
  return parsed.ec == std::errc() && rank >= 0 ? std::optional(rank) : std::nullopt;
}

std::optional<std::int64_t> RankInside(const std::string& path, std::size_t max_line_bytes) {
  auto lines = LineReader::Open(path, std::min<std::size_t>(max_line_bytes, kLookBytes));
  if (!lines) return std::nullopt;
  Digest unused("SHA256");
  RecordReader reader(*lines, unused);
  Record record;
  while (lines->BytesRead() <= kLookBytes && reader.Next(record)) {
    if (record.rank) return record.rank;
  }
  return std::nullopt;
}

bool IsTraceName(const std::string& name) { return name.starts_with(kPrefix) && name.ends_with(".log"); }

}  // namespace

Result<std::vector<TraceFile>> TraceFiles(const std::string& path, std::size_t max_line_bytes) {
  std::vector<TraceFile> files;
  std::error_code error;
  const auto add = [&](const fs::path& file) {
    std::error_code ignored;
    const auto bytes = fs::file_size(file, ignored);
    files.push_back({file.string(), RankOfName(file.filename().string()), ignored ? 0 : bytes});
  };
  if (fs::is_regular_file(path, error)) {
    add(path);
  } else {
    for (fs::directory_iterator it(path, error), end; !error && it != end && files.size() < kMaxFiles;
         it.increment(error)) {
      std::error_code ignored;
      if (IsTraceName(it->path().filename().string()) && it->is_regular_file(ignored)) add(it->path());
    }
    if (error) return Error{ErrorCode::kUsage, "cannot read " + path + ": " + error.message()};
  }
  if (files.empty()) {
    return Error{ErrorCode::kUsage, "no " + std::string(kPrefix) + "*.log in " + path +
                                        "; run the job with TORCH_TRACE=DIR to write them"};
  }
  for (TraceFile& file : files) {
    if (!file.rank) file.rank = RankInside(file.path, max_line_bytes);
  }
  std::sort(files.begin(), files.end(), [](const TraceFile& a, const TraceFile& b) {
    return std::tuple(!a.rank, a.rank, a.path) < std::tuple(!b.rank, b.rank, b.path);
  });
  return files;
}

}  // namespace breakwatch::trace
