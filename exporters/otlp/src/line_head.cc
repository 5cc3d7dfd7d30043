#include "line_head.h"

#include <nlohmann/json.hpp>

namespace breakwatch::exporters::otlp {
namespace {

// Every event of the parser returns whether to go on.
class HeadReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  LineHead head;

  bool key(string_t& name) override {
    wanted_ = depth_ != 1 ? nullptr : name == "level" ? &head.level : name == "msg" ? &head.name : nullptr;
    return true;
  }
  bool string(string_t& value) override {
    if (wanted_ != nullptr) *wanted_ = std::move(value);
    wanted_ = nullptr;
    return head.level.empty() || head.name.empty();
  }
  bool start_object(std::size_t) override { return ++depth_, true; }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return ++depth_, true; }
  bool end_array() override { return --depth_, true; }
  bool null() override { return Other(); }
  bool boolean(bool) override { return Other(); }
  bool number_integer(number_integer_t) override { return Other(); }
  bool number_unsigned(number_unsigned_t) override { return Other(); }
  bool number_float(number_float_t, const string_t&) override { return Other(); }
  bool binary(binary_t&) override { return Other(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool Other() {
    wanted_ = nullptr;
    return true;
  }

  int depth_ = 0;
  std::string* wanted_ = nullptr;
};

}  // namespace

LineHead ReadLineHead(std::string_view line) {
  HeadReader reader;
  nlohmann::json::sax_parse(line, &reader);
  return std::move(reader.head);
}

}  // namespace breakwatch::exporters::otlp
