// Writes the Prometheus text format: escaping, numbers, one header per family, chunks.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "breakwatch/core/exposition.h"

namespace breakwatch {

struct SeriesFamily {
  std::string_view name, type, help;
};

// Appends `value` with the three escapes of the format.
inline void AppendEscaped(std::string& out, std::string_view value) {
  constexpr std::string_view kSpecial = "\\\"\n";
  for (auto at = value.find_first_of(kSpecial); at != value.npos; at = value.find_first_of(kSpecial)) {
    out.append(value.substr(0, at));
    out += '\\';
    out += value[at] == '\n' ? 'n' : value[at];
    value.remove_prefix(at + 1);
  }
  out.append(value);
}

// `name="value"`, with a comma before it unless it is the first. The value must be UTF-8.
inline void AppendLabel(std::string& out, std::string_view name, std::string_view value) {
  if (!out.empty()) out += ',';
  out.append(name).append("=\"");
  AppendEscaped(out, value);
  out += '"';
}

// Writes families one after the other. A family without samples is omitted.
class ExpositionWriter {
 public:
  explicit ExpositionWriter(const TextSink& sink) : sink_(sink) { buffer_.reserve(kChunk + 4096); }

  // Names of families that are omitted. Outlives this.
  void Drop(const std::vector<std::string>& names) { dropped_ = names; }

  void Begin(const SeriesFamily& family) {
    family_ = &family;
    header_due_ = true;
    is_dropped_ = std::find(dropped_.begin(), dropped_.end(), family.name) != dropped_.end();
  }

  // `labels` is finished text, `a="1",b="2"`. `more` is appended to it and begins with a comma.
  void Sample(std::string_view labels, std::string_view more, std::int64_t value) {
    if (is_dropped_) return;
    Open(labels, more);
    AppendChars(value);
    Close();
  }
  void Sample(std::string_view labels, std::string_view more, double value) {
    if (is_dropped_) return;
    Open(labels, more);
    AppendValue(value);
    Close();
  }
  // With the labels of a model before `commit`, which is finished text too.
  template <class Number>
  void SampleOf(std::string_view labels, std::string_view commit, std::string_view more, Number value) {
    if (is_dropped_) return;
    if (header_due_) Header();
    buffer_.append(family_->name).append("{").append(labels).append(",commit=\"").append(commit).append("\"");
    buffer_.append(more).append("} ");
    if constexpr (std::is_integral_v<Number>)
      AppendChars(value);
    else
      AppendValue(value);
    Close();
  }
  // With a timestamp in seconds, as OpenMetrics has it.
  void SampleAt(std::string_view labels, double value, std::int64_t at) {
    Open(labels, "");
    AppendValue(value);
    buffer_ += ' ';
    AppendChars(at);
    Close();
  }
  void Finish() {
    if (!buffer_.empty()) sink_(buffer_);
    buffer_.clear();
  }

 private:
  static constexpr std::size_t kChunk = 64 * 1024;

  void Open(std::string_view labels, std::string_view more) {
    if (header_due_) Header();
    buffer_.append(family_->name);
    if (!labels.empty() || !more.empty()) {
      buffer_ += '{';
      buffer_.append(labels).append(more);
      buffer_ += '}';
    }
    buffer_ += ' ';
  }
  void Header() {
    header_due_ = false;
    buffer_.append("# HELP ").append(family_->name).append(" ").append(family_->help);
    buffer_.append("\n# TYPE ").append(family_->name).append(" ").append(family_->type).append("\n");
  }
  void AppendValue(double value) {
    if (std::isfinite(value)) {
      AppendChars(value, std::chars_format::fixed);  // the shortest form may be "1.7e+09", which is hard to read
    } else {
      buffer_.append(std::isnan(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf");
    }
  }
  template <class... Args>
  void AppendChars(Args... args) {
    char digits[400];  // a fixed double has at most 309 digits and its sign
    const auto end = std::to_chars(digits, digits + sizeof digits, args...).ptr;
    buffer_.append(digits, end);
  }
  void Close() {
    buffer_ += '\n';
    if (buffer_.size() >= kChunk) Finish();
  }

  const TextSink& sink_;
  std::string buffer_;
  const SeriesFamily* family_ = nullptr;
  bool header_due_ = false, is_dropped_ = false;
  std::span<const std::string> dropped_;
};

}  // namespace breakwatch
