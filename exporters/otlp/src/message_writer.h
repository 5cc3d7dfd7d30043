// Writes OTLP's messages field by field in one of their two encodings, so that each message is described once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "breakwatch/exporters/otlp.h"

namespace breakwatch::exporters::otlp {

// Its number in protobuf and its name in JSON. `name` is a literal.
struct Field {
  std::uint32_t number;
  std::string_view name;
};

// Owner and thread: its exporter. Texts must be UTF-8. The outermost message is open from the start.
class MessageWriter {
 public:
  virtual ~MessageWriter() = default;
  virtual void Begin(Field field) = 0;  // a message; the next End closes it
  virtual void Item(Field field) = 0;   // the next message of a repeated field; all of them follow each other
  virtual void End() = 0;
  virtual void Text(Field field, std::string_view value) = 0;
  virtual void Fixed64(Field field, std::uint64_t value) = 0;
  virtual void Int64(Field field, std::int64_t value) = 0;
  virtual void Double(Field field, double value) = 0;
  virtual void Enum(Field field, int value) = 0;
  virtual void Bool(Field field, bool value) = 0;

  virtual std::size_t bytes() const = 0;  // so far
  // Closes all messages and returns the text. The writer is then empty, with a new outermost message.
  virtual std::string Take() = 0;
};

std::unique_ptr<MessageWriter> MakeMessageWriter(OtlpEncoding encoding);
std::unique_ptr<MessageWriter> MakeProtobufWriter();
std::unique_ptr<MessageWriter> MakeJsonWriter();

}  // namespace breakwatch::exporters::otlp
