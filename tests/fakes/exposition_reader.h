// Parses the Prometheus text format strictly, to test our writer's output independently.
#pragma once

#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

namespace breakwatch::fakes {

using SeriesLabels = std::map<std::string, std::string>;
// name -> labels -> value
using SeriesByName = std::map<std::string, std::map<SeriesLabels, double>>;

class ExpositionReader {
 public:
  // Throws std::runtime_error on everything that a strict reader rejects: a missing final newline, a family that occurs
  // twice, a sample without its TYPE, a series twice, a timestamp.
  static SeriesByName Read(std::string_view text) {
    if (!text.empty() && text.back() != '\n') throw std::runtime_error("no final newline");
    ExpositionReader reader;
    while (!text.empty()) {
      const auto end = text.find('\n');
      reader.Line(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    return reader.series_;
  }

 private:
  void Line(std::string_view line) {
    line_ = line;
    if (line.starts_with("# HELP ")) return BeginFamily(line.substr(7));
    if (line.starts_with("# TYPE ")) {
      const std::string_view rest = line.substr(7);
      if (rest.substr(0, rest.find(' ')) != family_) Fail("TYPE of another family");
      return;
    }
    Sample();
  }
  void BeginFamily(std::string_view rest) {
    family_ = std::string(rest.substr(0, rest.find(' ')));
    if (!families_.insert(family_).second) Fail("family comes twice");
  }
  void Sample() {
    const auto name_end = line_.find_first_of("{ ");
    if (line_.substr(0, name_end) != family_) Fail("sample outside its family");
    line_.remove_prefix(name_end);
    SeriesLabels labels;
    if (line_.front() == '{') ReadLabels(labels);
    if (line_.empty() || line_.front() != ' ') Fail("no space before the value");
    const std::string value(line_.substr(1));
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != '\0') Fail("value is not one number");
    if (!series_[family_].emplace(labels, number).second) Fail("series comes twice");
  }
  void ReadLabels(SeriesLabels& labels) {
    do {
      line_.remove_prefix(1);
      const auto equals = line_.find("=\"");
      if (equals == line_.npos) Fail("label without value");
      const std::string name(line_.substr(0, equals));
      line_.remove_prefix(equals + 2);
      if (!labels.emplace(name, Value()).second) Fail("label comes twice");
    } while (!line_.empty() && line_.front() == ',');
    if (line_.empty() || line_.front() != '}') Fail("labels do not end");
    line_.remove_prefix(1);
  }
  std::string Value() {
    std::string value;
    for (; !line_.empty() && line_.front() != '"'; line_.remove_prefix(1)) {
      if (line_.front() == '\\') {
        line_.remove_prefix(1);
        if (line_.empty() || std::string_view("\\\"n").find(line_.front()) == std::string_view::npos)
          Fail("bad escape");
        value += line_.front() == 'n' ? '\n' : line_.front();
      } else {
        value += line_.front();
      }
    }
    if (line_.empty()) Fail("value does not end");
    line_.remove_prefix(1);
    return value;
  }
  [[noreturn]] void Fail(const char* why) const {
    throw std::runtime_error(std::string(why) + ": " + std::string(line_));
  }

  std::string_view line_;
  std::string family_;
  std::set<std::string> families_;
  SeriesByName series_;
};

}  // namespace breakwatch::fakes
