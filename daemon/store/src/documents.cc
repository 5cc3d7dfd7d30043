#include "documents.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <system_error>

#include "breakwatch/core/family.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"

namespace breakwatch::store {
namespace {

using nlohmann::json;

// Parses our own documents. Never throws; is_discarded() if the text is not JSON.
json Parse(const std::string& text) { return json::parse(text, nullptr, /*allow_exceptions=*/false); }

Error Unreadable(const std::string& what) { return {ErrorCode::kStore, "unreadable document of " + what, false, {}}; }

ModelResult WithoutCapture(const ModelResult& result) {
  ModelResult stripped;
  stripped.sweep_id = result.sweep_id, stripped.info = result.info, stripped.structure = result.structure;
  stripped.capture_id = result.capture_id, stripped.shared_from = result.shared_from;
  stripped.rebuild_reason = result.rebuild_reason, stripped.reused = result.reused;
  stripped.finished_at = result.finished_at;
  // Kept for events that are composed from the row, and for other tools that read the table.
  stripped.capture.status = result.capture.status;
  stripped.capture.mode = result.capture.mode;
  stripped.capture.detail = result.capture.detail;
  stripped.capture.suggestion = result.capture.suggestion;
  return stripped;
}

// Finds family, revision and downloads in {"result": {...}}, which is behind the capture, and stops at the last of
// them.
class OutlineReader final : public nlohmann::json_sax<json> {
 public:
  const ResultOutline& outline() const { return outline_; }

  bool start_object(std::size_t) override { return ++depth_, Next(); }
  bool end_object() override { return --depth_, true; }
  bool start_array(std::size_t) override { return ++depth_, Next(); }
  bool end_array() override { return --depth_, true; }
  bool key(string_t& name) override {
    if (depth_ == 1) {
      in_result_ = name == "result";
      outline_.has_own_capture = outline_.has_own_capture || name == "capture" || name == "capture_patch";
    }
    field_ = in_result_ && depth_ == 2 ? name : "";
    if (field_ == "family" || field_ == "revision" || field_ == "downloads") ++found_;
    return true;
  }
  bool string(string_t& value) override {
    if (field_ == "family") outline_.family = ParseFamily(value).value_or(Family::kUnknown);
    if (field_ == "revision") outline_.revision = value;
    return Next();
  }
  bool null() override { return Next(); }
  bool boolean(bool) override { return Next(); }
  bool number_integer(number_integer_t value) override { return Take(value); }
  bool number_unsigned(number_unsigned_t value) override {
    return Take(static_cast<std::int64_t>(std::min<number_unsigned_t>(value, INT64_MAX)));
  }
  bool number_float(number_float_t, const string_t&) override { return Next(); }
  bool binary(binary_t&) override { return Next(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  bool Take(std::int64_t value) {
    if (field_ == "downloads") outline_.downloads = value;
    return Next();
  }
  // False after the last field of the outline.
  bool Next() const { return found_ < 3; }

  int depth_ = 0, found_ = 0;
  bool in_result_ = false;
  std::string field_;  // of the result; empty elsewhere
  ResultOutline outline_;
};

}  // namespace

namespace {

constexpr std::string_view kOnlyResult = "{\"result\":";

// The text of a value in a document that has nothing but a result. A quote within a text is escaped, so a name between
// a comma and a colon is that of a field, and such a result has no fields in its fields. Empty: there is no such field.
std::string_view ValueIn(std::string_view document, std::string_view name) {
  const std::size_t at = document.find(name);
  if (at == std::string_view::npos) return {};
  document.remove_prefix(at + name.size());
  return document.substr(0, document.find_first_of(",}"));
}

// Without its quotes; nullopt if it is no text or has an escaped character.
std::optional<std::string_view> PlainText(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"' || value.find('\\') != std::string_view::npos)
    return std::nullopt;
  return value.substr(1, value.size() - 2);
}

// The same as OutlineReader's, ten times as fast; nullopt if the document is not as almost all are.
std::optional<ResultOutline> ReadOutline(std::string_view document) {
  if (!document.starts_with(kOnlyResult)) return std::nullopt;
  const auto family = PlainText(ValueIn(document, ",\"family\":")),
             revision = PlainText(ValueIn(document, ",\"revision\":"));
  const std::string_view downloads = ValueIn(document, ",\"downloads\":");
  if (!family || !revision) return std::nullopt;
  ResultOutline outline;
  outline.family = ParseFamily(*family).value_or(Family::kUnknown);
  outline.revision = *revision;
  if (downloads == "null") return outline;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(downloads.data(), downloads.data() + downloads.size(), number);
  if (error != std::errc() || end != downloads.data() + downloads.size()) return std::nullopt;
  outline.downloads = number;
  return outline;
}

}  // namespace

ResultOutline OutlineOf(const std::string& document) {
  if (auto outline = ReadOutline(document)) return *std::move(outline);
  OutlineReader reader;
  json::sax_parse(document, &reader);
  return reader.outline();
}

Result<std::string> EncodeCapture(const ModelResult& result) {
  std::string document = ToJson(result.capture);
  // The inputs should be JSON text, so they are checked first.
  if (!json::accept(document))
    return Error{ErrorCode::kInvalid, "result of " + result.info.id + ": its capture is not JSON"};
  return document;
}

std::string EncodeWithCapture(const ModelResult& result) {
  return EncodeWithCapture(result, result.sweep_id, result.finished_at);
}

std::string EncodeWithCapture(const ModelResult& result, const std::string& sweep_id, SystemTime finished_at) {
  ModelResult stripped = WithoutCapture(result);
  stripped.sweep_id = sweep_id, stripped.finished_at = finished_at;
  return std::string(kOnlyResult) + ToJson(stripped) + "}";
}

Result<std::string> EncodeResult(const ModelResult& result, const std::string& capture_document) {
  const std::string own = ToJson(result.capture);
  if (own == capture_document) return EncodeWithCapture(result);
  const Error invalid{ErrorCode::kInvalid, "result of " + result.info.id + ": its capture is not JSON"};
  std::string document;
  if (const json stored = Parse(capture_document); stored.is_discarded()) {  // there is none, or it is damaged
    if (!json::accept(own)) return invalid;
    document = R"({"capture":)" + own;
  } else {
    const json capture = Parse(own);
    if (capture.is_discarded()) return invalid;
    document = R"({"capture_patch":)" + JsonText(json::diff(stored, capture));
  }
  return document + "," + EncodeWithCapture(result).substr(1);
}

namespace {

// The text of the result in a document that has nothing else, as almost all have; empty if it may have more. It is not
// parsed here: with more, it is no JSON text.
std::string_view OnlyResult(std::string_view document) {
  if (!document.starts_with(kOnlyResult) || !document.ends_with("}}")) return {};
  document.remove_prefix(kOnlyResult.size()), document.remove_suffix(1);
  return document;
}

Result<ModelResult> WithCapture(ModelResult result, const std::string& capture) {
  auto read = CaptureResultFromJson(capture);
  if (!read) return read.error().Within("capture of " + result.info.id);
  result.capture = std::move(*read);
  return result;
}

}  // namespace

Result<ModelResult> DecodeOutcome(const std::string& document) {
  if (const std::string_view text = OnlyResult(document); !text.empty()) {
    if (auto result = ModelResultFromJson(text)) return result;
  }
  const json stored = Parse(document);
  if (!stored.is_object() || !stored.contains("result")) return Unreadable("a result");
  return ModelResultFromJson(JsonText(stored["result"]));
}

Result<ModelResult> DecodeResult(const std::string& document, const std::string& capture_document,
                                 const CaptureResult* known) {
  if (const std::string_view text = OnlyResult(document); !text.empty()) {
    if (auto result = ModelResultFromJson(text)) {
      if (known == nullptr) return WithCapture(*std::move(result), capture_document);
      result->capture = *known;
      return result;
    }
  }
  const json stored = Parse(document);
  if (!stored.is_object() || !stored.contains("result")) return Unreadable("a result");
  auto result = ModelResultFromJson(JsonText(stored["result"]));
  if (!result) return result;
  if (stored.contains("capture")) return WithCapture(*std::move(result), JsonText(stored["capture"]));
  if (!stored.contains("capture_patch")) return WithCapture(*std::move(result), capture_document);
  try {
    const std::string capture = JsonText(Parse(capture_document).patch(stored["capture_patch"]));
    return WithCapture(*std::move(result), capture);
  } catch (const json::exception&) {
    return Unreadable("the capture of " + result->info.id);
  }
}

bool HasOwnCapture(const std::string& document) { return !document.starts_with(kOnlyResult); }

std::string EncodePlanHead(const Plan& plan) {
  Plan head;
  head.sweep_id = plan.sweep_id, head.source = plan.source;
  head.ranked = plan.ranked, head.track = plan.track;
  head.rebuild = plan.rebuild, head.toolchain = plan.toolchain, head.primary = plan.primary;
  return ToJson(head);
}

Result<std::string> EncodePlanned(const PlannedModel& planned) {
  static const std::size_t kHead = ToJson(Plan{}).size() - 2;  // without the end of its list, "]}"
  Plan one;
  one.models = {planned};
  const std::string text = ToJson(one);
  std::string document = text.substr(kHead, text.size() - kHead - 2);
  if (json::accept(document)) return document;
  return Error{ErrorCode::kInvalid, "plan: the configuration of " + planned.info.id + " is not JSON"};
}

bool IsEventLine(const std::string& line) {
  return line.size() <= kMaxLineBytes && line.starts_with('{') && line.find('\n') == line.npos && json::accept(line);
}

std::string LostEventLine(std::int64_t id, std::int64_t ts_ns) {
  Event lost;
  lost.name = "event_lost";
  lost.level = Level::kWarn;
  lost.fields_json = R"({"detail":"the event with this id is damaged"})";
  return ComposeLine(lost, id, ts_ns);
}

Result<void> DecodePlanned(const std::vector<std::string>& documents, Plan& plan) {
  std::string text = "{\"models\":[";
  for (const auto& document : documents) text.append(text.back() == '[' ? "" : ",").append(document);
  auto read = PlanFromJson(text + "]}");
  if (!read) return read.error();
  for (auto& model : read->models) plan.models.push_back(std::move(model));
  return {};
}

}  // namespace breakwatch::store
