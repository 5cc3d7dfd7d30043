#include "pip_words.h"

#include <array>
#include <charconv>
#include <optional>

#include "breakwatch/core/durable_files.h"
#include "breakwatch/core/text.h"

namespace breakwatch::capture {
namespace {

constexpr std::size_t kKeptLines = 60, kLongestWord = 200, kLongestCause = 400;

// "915.7 MB" at the end of "Downloading torch.whl (915.7 MB)"; 0: no such text.
std::int64_t BytesIn(std::string_view line) {
  const std::size_t open = line.rfind('(');
  if (open == std::string_view::npos) return 0;
  const std::string_view text = line.substr(open + 1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number >= 0 && number < 1e9)) return 0;
  const std::string_view unit = Trim(text.substr(static_cast<std::size_t>(end - text.data())));
  const double factor = unit.starts_with("GB") ? 1e9 : unit.starts_with("MB") ? 1e6 : unit.starts_with("kB") ? 1e3 : 1;
  return static_cast<std::int64_t>(number * factor);
}

// The last part of a path or URL.
std::string_view FileIn(std::string_view word) { return word.substr(word.rfind('/') + 1); }

std::string_view WordAfter(std::string_view line, std::string_view start) {
  const std::string_view rest = Trim(line.substr(start.size()));
  return rest.substr(0, rest.find_first_of(" \t"));
}

// A cause, recognized by one of the texts.
struct Cause {
  std::array<std::string_view, 8> texts;  // empty ones at the end
  ErrorCode code;
  std::string_view advice;
};

constexpr Cause kCauses[] = {
    {{"DO NOT MATCH THE HASHES", "HashMismatch", "hash mismatch"},
     ErrorCode::kInvalid,
     "a package is not the one in the lock file: the download was damaged, or the index serves another file; nothing "
     "was installed, run `breakwatch setup` again"},
    {{"Temporary failure in name resolution", "Name or service not known", "Network is unreachable",
      "Connection refused", "Failed to establish a new connection", "Read timed out", "ConnectTimeoutError",
      "Max retries exceeded"},
     ErrorCode::kUnavailable,
     "the package index cannot be reached: check the network, the proxy (HTTPS_PROXY) and PIP_INDEX_URL, then run "
     "`breakwatch setup` again; pip's cache keeps what is complete"},
    {{"CERTIFICATE_VERIFY_FAILED", "SSLError"},
     ErrorCode::kUnavailable,
     "the certificate of the package index is not trusted: set PIP_CERT to a file with its authority"},
    {{"No matching distribution found", "Could not find a version that satisfies"},
     ErrorCode::kInvalid,
     "the package index has no such version for this Python and machine: check the versions, --python and "
     "--torch-index"},
    {{"Requires-Python", "requires a different Python"},
     ErrorCode::kInvalid,
     "this Python is too old or too new for a package: choose another one by --python"},
    {{"Permission denied"}, ErrorCode::kStore, "choose a folder that you can write to by --dir, or run it as root"},
};

bool Contains(std::string_view line, const Cause& cause) {
  for (const std::string_view text : cause.texts) {
    if (!text.empty() && line.find(text) != std::string_view::npos) return true;
  }
  return false;
}

Error ErrorOf(const std::string& line, const Cause& cause) {
  return {cause.code, std::string(cause.advice) + ": " + ShortLine(Trim(line), kLongestCause)};
}

}  // namespace

void PipWords::Read(std::string_view line) {
  const std::string_view text = Trim(line);
  if (text.starts_with("Collecting ") || text.starts_with("Requirement already satisfied: ")) {
    ++collected_;
    const std::string_view word = text.substr(text.find(text[0] == 'C' ? ' ' : ':') + 1);
    package_ = ShortLine(Trim(word).substr(0, Trim(word).find_first_of("=<>!~ ;[")), kLongestWord);
    file_bytes_ = 0;
  } else if (text.starts_with("Downloading ")) {
    package_ = ShortLine(FileIn(WordAfter(text, "Downloading ")), kLongestWord);
    file_bytes_ = BytesIn(text);
  } else if (text.starts_with("Installing collected packages")) {
    installs_ = true;
    package_.clear();
    file_bytes_ = 0;
    return;  // a long line, which explains nothing
  }
  newest_.emplace_back(text.substr(0, 4 * kLongestCause));
  if (newest_.size() > kKeptLines) newest_.pop_front();
}

Error PipWords::Failure() const {
  for (const std::string& line : newest_) {
    if (IsAboutSpace(line)) {
      return {ErrorCode::kStore, "the disk is full: free some space, or choose another folder by --dir: " +
                                     ShortLine(line, kLongestCause)};
    }
  }
  for (const Cause& cause : kCauses) {
    for (const std::string& line : newest_) {
      if (Contains(line, cause)) return ErrorOf(line, cause);
    }
  }
  std::string last;
  for (const std::string& line : newest_) {
    if (line.starts_with("ERROR:") || last.empty()) last = line;
  }
  return {ErrorCode::kInternal, "pip failed" + (last.empty() ? "" : ": " + ShortLine(last, kLongestCause))};
}

}  // namespace breakwatch::capture
