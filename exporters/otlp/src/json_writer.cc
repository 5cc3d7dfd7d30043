#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "breakwatch/core/json_text.h"
#include "message_writer.h"

namespace breakwatch::exporters::otlp {
namespace {

// The JSON mapping of protobuf with OTLP's rules: names in lowerCamelCase, 64-bit integers as texts, enums as numbers.
class JsonWriter : public MessageWriter {
 public:
  JsonWriter() { Open(); }

  void Begin(Field field) override {
    Name(field);
    Open();
  }
  void Item(Field field) override {
    if (open_.back().list == field.name) {
      text_ += ',';
    } else {
      Name(field);
      text_ += '[';
      open_.back().list = field.name;
    }
    Open();
  }
  void End() override {
    CloseList();
    text_ += '}';
    open_.pop_back();
  }
  void Text(Field field, std::string_view value) override {
    Name(field);
    text_ += JsonText(nlohmann::json(value));
  }
  void Fixed64(Field field, std::uint64_t value) override { Quoted(field, std::to_string(value)); }
  void Int64(Field field, std::int64_t value) override { Quoted(field, std::to_string(value)); }
  void Double(Field field, double value) override {
    if (!std::isfinite(value)) return Quoted(field, std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
    Name(field);
    text_ += JsonText(nlohmann::json(value));
  }
  void Enum(Field field, int value) override {
    Name(field);
    text_ += std::to_string(value);
  }
  void Bool(Field field, bool value) override {
    Name(field);
    text_ += value ? "true" : "false";
  }

  std::size_t bytes() const override { return text_.size(); }
  std::string Take() override {
    while (!open_.empty()) End();
    std::string text = std::exchange(text_, {});
    Open();
    return text;
  }

 private:
  struct Message {
    bool any = false;       // has a field
    std::string_view list;  // the repeated field that is open; empty: none
  };

  void Open() {
    open_.emplace_back();
    text_ += '{';
  }
  void CloseList() {
    if (!open_.back().list.empty()) text_ += ']';
    open_.back().list = {};
  }
  void Name(Field field) {
    CloseList();
    if (std::exchange(open_.back().any, true)) text_ += ',';
    text_.append("\"").append(field.name).append("\":");
  }
  void Quoted(Field field, std::string_view value) {
    Name(field);
    text_.append("\"").append(value).append("\"");
  }

  std::string text_;
  std::vector<Message> open_;
};

}  // namespace

std::unique_ptr<MessageWriter> MakeJsonWriter() { return std::make_unique<JsonWriter>(); }

}  // namespace breakwatch::exporters::otlp
