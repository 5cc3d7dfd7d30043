#include <deque>
#include <protozero/pbf_writer.hpp>
#include <utility>

#include "message_writer.h"

namespace breakwatch::exporters::otlp {
namespace {

class ProtobufWriter : public MessageWriter {
 public:
  ProtobufWriter() { open_.emplace_back(text_); }
  ~ProtobufWriter() override { Close(); }
  ProtobufWriter(const ProtobufWriter&) = delete;
  ProtobufWriter& operator=(const ProtobufWriter&) = delete;

  void Begin(Field field) override { open_.emplace_back(open_.back(), field.number); }
  void Item(Field field) override { Begin(field); }
  void End() override { open_.pop_back(); }
  void Text(Field field, std::string_view value) override {
    open_.back().add_string(field.number, value.data(), value.size());
  }
  void Fixed64(Field field, std::uint64_t value) override { open_.back().add_fixed64(field.number, value); }
  void Int64(Field field, std::int64_t value) override { open_.back().add_int64(field.number, value); }
  void Double(Field field, double value) override { open_.back().add_double(field.number, value); }
  void Enum(Field field, int value) override { open_.back().add_enum(field.number, value); }
  void Bool(Field field, bool value) override { open_.back().add_bool(field.number, value); }

  std::size_t bytes() const override { return text_.size(); }
  std::string Take() override {
    Close();
    std::string text = std::exchange(text_, {});
    open_.emplace_back(text_);
    return text;
  }

 private:
  // A message gets its length when its writer ends: the inner ones first.
  void Close() {
    while (!open_.empty()) open_.pop_back();
  }

  std::string text_;
  std::deque<protozero::pbf_writer> open_;  // deque: a writer points to the one around it
};

}  // namespace

std::unique_ptr<MessageWriter> MakeProtobufWriter() { return std::make_unique<ProtobufWriter>(); }

std::unique_ptr<MessageWriter> MakeMessageWriter(OtlpEncoding encoding) {
  return encoding == OtlpEncoding::kJson ? MakeJsonWriter() : MakeProtobufWriter();
}

}  // namespace breakwatch::exporters::otlp
