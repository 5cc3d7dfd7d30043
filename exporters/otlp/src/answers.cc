#include "answers.h"

#include <algorithm>
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <protozero/pbf_reader.hpp>

#include "breakwatch/core/json.h"
#include "breakwatch/core/text.h"
#include "breakwatch/net/answer.h"

namespace breakwatch::exporters::otlp {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxMessageBytes = 500;
constexpr std::size_t kMaxBodyBytes = 1u << 20;
constexpr int kMaxDepth = 32;

constexpr net::AnswerMeaning kMeanings[] = {
    {200, 299, Delivery::kTryAgain, true, "not an answer of an OTLP receiver: check the endpoint"},
    {300, 399, Delivery::kTryAgain, true, "a redirect: set its target as the endpoint"},
    {400, 400, Delivery::kRefused, false, "the receiver refused the data"},
    {401, 401, Delivery::kTryAgain, true, "the receiver rejects the credentials: check headers, username, password"},
    {403, 403, Delivery::kTryAgain, true, "the receiver denies the request: check headers, username, password"},
    {408, 408, Delivery::kTryAgain, false, "the receiver timed out"},
    {413, 413, Delivery::kRefused, false, "the request is too large for the receiver or a proxy before it"},
    {415, 415, Delivery::kTryAgain, true, "the receiver does not read this encoding: set the other protocol"},
    {422, 422, Delivery::kRefused, false, "the receiver refused the data"},
    {429, 429, Delivery::kTryAgain, false, "the receiver limits the rate"},
    {400, 499, Delivery::kTryAgain, true, "not an answer of an OTLP receiver: check the endpoint"},
    {502, 504, Delivery::kTryAgain, false, "the receiver is not available"},
    {500, 599, Delivery::kRefused, false, "the receiver could not process the data"},
};

enum class Format { kNone, kProtobuf, kJson };

Format FormatOf(std::string_view content_type) {
  const std::string type = Lower(Trim(content_type.substr(0, content_type.find(';'))));
  if (type == "application/x-protobuf" || type == "application/protobuf") return Format::kProtobuf;
  return type == "application/json" ? Format::kJson : Format::kNone;
}

std::string Line(std::string_view text) { return ShortLine(Trim(text), kMaxMessageBytes); }

// --- protobuf. The reader throws for what is not protobuf.

using protozero::pbf_reader;
using protozero::pbf_wire_type;

PartialSuccess PartialOf(pbf_reader message) {
  PartialSuccess partial;
  while (message.next()) {
    if (message.tag_and_type() == protozero::tag_and_type(1, pbf_wire_type::varint)) {
      partial.rejected = std::max<std::int64_t>(0, message.get_int64());
    } else if (message.tag_and_type() == protozero::tag_and_type(2, pbf_wire_type::length_delimited)) {
      partial.message = Line(message.get_string());
    } else {
      message.skip();
    }
  }
  return partial;
}

std::optional<PartialSuccess> SuccessOfProtobuf(std::string_view body) {
  PartialSuccess partial;
  pbf_reader message(body.data(), body.size());
  while (message.next()) {
    if (message.tag() != 1) {
      message.skip();
    } else if (message.wire_type() == pbf_wire_type::length_delimited) {
      partial = PartialOf(message.get_message());
    } else {
      return std::nullopt;  // the code of a google.rpc.Status: an error with the status of a success
    }
  }
  return partial;
}

std::optional<std::string> StatusOfProtobuf(std::string_view body) {
  std::optional<std::string> text;
  pbf_reader message(body.data(), body.size());
  while (message.next()) {
    if (message.tag_and_type() == protozero::tag_and_type(2, pbf_wire_type::length_delimited))
      text = Line(message.get_string());
    else
      message.skip();
  }
  return text;
}

// --- JSON

json ParseObject(std::string_view body) {
  if (!CheckJson(body, kMaxBodyBytes, kMaxDepth)) return {};
  json document = json::parse(body, nullptr, /*allow_exceptions=*/false);
  return document.is_object() ? document : json();
}

// A member by its name in JSON or in protobuf: readers take both.
const json* Member(const json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto found = object.find(name); found != object.end()) return &*found;
  }
  return nullptr;
}

std::int64_t CountOf(const json* value) {
  if (value == nullptr) return 0;
  if (value->is_number_integer()) return std::max<std::int64_t>(0, value->get<std::int64_t>());
  if (!value->is_string()) return 0;
  const auto& text = value->get_ref<const std::string&>();
  std::int64_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return std::max<std::int64_t>(0, count);
}

std::string TextOf(const json* value) {
  return value != nullptr && value->is_string() ? Line(value->get_ref<const std::string&>()) : std::string();
}

std::optional<PartialSuccess> SuccessOfJson(std::string_view body) {
  const json document = ParseObject(body);
  if (!document.is_object()) return std::nullopt;
  const json* partial = Member(document, {"partialSuccess", "partial_success"});
  // Any other object is that of another server, such as an error with the status of a success.
  if (partial == nullptr) return document.empty() ? std::optional<PartialSuccess>(PartialSuccess{}) : std::nullopt;
  if (partial->is_null()) return PartialSuccess{};
  if (!partial->is_object()) return std::nullopt;
  return PartialSuccess{CountOf(Member(*partial, {"rejectedDataPoints", "rejected_data_points", "rejectedLogRecords",
                                                  "rejected_log_records"})),
                        TextOf(Member(*partial, {"errorMessage", "error_message"}))};
}

std::optional<std::string> StatusOfJson(std::string_view body) {
  const json document = ParseObject(body);
  if (!document.is_object()) return std::nullopt;
  std::string text = TextOf(Member(document, {"message"}));
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

// Go's servers, the OpenTelemetry collector's among them, answer so where the protocol has 413.
bool IsTooLarge(const net::HttpResponse& shown) {
  return shown.status == 413 || (shown.status == 400 && shown.body.find("request body too large") != std::string::npos);
}

}  // namespace

std::optional<PartialSuccess> ReadSuccess(std::string_view content_type, std::string_view body) try {
  if (body.empty()) return PartialSuccess{};  // a message without fields
  switch (FormatOf(content_type)) {
    case Format::kProtobuf:
      return SuccessOfProtobuf(body);
    case Format::kJson:
      return SuccessOfJson(body);
    case Format::kNone:
      break;
  }
  return std::nullopt;
} catch (const std::exception&) {
  return std::nullopt;
}

std::optional<std::string> ReadStatus(std::string_view content_type, std::string_view body) try {
  const Format format = FormatOf(content_type);
  if (format == Format::kNone) return std::nullopt;
  return format == Format::kJson ? StatusOfJson(body) : StatusOfProtobuf(body);
} catch (const std::exception&) {
  return std::nullopt;
}

Answer ReadAnswer(const Result<net::HttpResponse>& response, const std::string& what) {
  if (!response) return {net::OutcomeOf(response, what, kMeanings), {}, false, net::IsTimeout(response.error())};
  const std::string type = response->Header("content-type").value_or("");
  const bool success = response->status >= 200 && response->status < 300;
  if (success) {
    if (auto partial = ReadSuccess(type, response->body)) return {{}, *std::move(partial)};
  }
  net::HttpResponse shown = *response;
  if (auto message = success ? std::nullopt : ReadStatus(type, response->body)) shown.body = *std::move(message);
  const int status = response->status;
  return {
      net::OutcomeOf(shown, what, kMeanings), {}, IsTooLarge(shown), status == 408 || status == 429 || status == 504};
}

}  // namespace breakwatch::exporters::otlp
