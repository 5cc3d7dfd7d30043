#include "breakwatch/core/series.h"

#include <charconv>
#include <limits>
#include <string>
#include <vector>

namespace breakwatch {
namespace {

// Reads lines as ExpositionWriter writes them, and nothing else: one space before the value, no timestamp.
class LineReader {
 public:
  explicit LineReader(const SeriesSink& sink) : sink_(sink) {}

  // `chunk` has whole lines.
  void Read(std::string_view chunk) {
    while (!chunk.empty()) {
      const std::size_t end = std::min(chunk.find('\n'), chunk.size() - 1);
      ReadLine(chunk.substr(0, end));
      chunk.remove_prefix(end + 1);
    }
  }

 private:
  static constexpr std::string_view kHelp = "# HELP ", kType = "# TYPE ";

  void ReadLine(std::string_view line) {
    if (line.starts_with(kHelp)) {
      const std::string_view text = line.substr(kHelp.size());
      help_ = text.substr(text.find(' ') + 1);
    } else if (line.starts_with(kType)) {
      type_ = line.ends_with(" counter") ? SeriesType::kCounter : SeriesType::kGauge;
    } else {
      ReadSample(line);
    }
  }

  void ReadSample(std::string_view line) {
    const std::size_t name_end = line.find_first_of("{ ");
    const std::size_t value = line.rfind(' ') + 1;
    labels_.clear();
    unescaped_.clear();
    if (line[name_end] == '{') ReadLabels(line.substr(name_end + 1, value - name_end - 3));
    sink_({line.substr(0, name_end), help_, type_, labels_, Number(line.substr(value))});
  }

  // `a="1",b="2"`.
  void ReadLabels(std::string_view text) {
    unescaped_.reserve(text.size());  // no view into it may move
    while (!text.empty()) {
      const std::size_t equals = text.find('=');
      const std::string_view name = text.substr(0, equals);
      text.remove_prefix(equals + 2);
      const std::size_t end = ClosingQuote(text);
      labels_.push_back({name, Unescaped(text.substr(0, end))});
      text.remove_prefix(std::min(text.size(), end + 2));
    }
  }

  static std::size_t ClosingQuote(std::string_view text) {
    std::size_t at = 0;
    while (text[at] != '"') at += text[at] == '\\' ? 2 : 1;
    return at;
  }

  std::string_view Unescaped(std::string_view text) {
    if (text.find('\\') == text.npos) return text;
    const std::size_t begin = unescaped_.size();
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool escape = text[at] == '\\';
      if (escape) ++at;
      unescaped_ += escape && text[at] == 'n' ? '\n' : text[at];
    }
    return std::string_view(unescaped_).substr(begin);
  }

  static double Number(std::string_view text) {
    using Limits = std::numeric_limits<double>;
    if (text == "+Inf") return Limits::infinity();
    if (text == "-Inf") return -Limits::infinity();
    double value = Limits::quiet_NaN();
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }

  const SeriesSink& sink_;
  std::string help_, unescaped_;  // help_ is a copy: its samples may be in later chunks
  SeriesType type_ = SeriesType::kGauge;
  std::vector<SeriesLabel> labels_;
};

}  // namespace

void EachSeries(const Snapshot& snapshot, Shard shard, const SeriesSink& sink) {
  LineReader reader(sink);
  WriteExposition(snapshot, shard, [&reader](std::string_view chunk) { reader.Read(chunk); });
}

}  // namespace breakwatch
