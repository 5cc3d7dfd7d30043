#include "documents.h"

#include <nlohmann/json.hpp>

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
  ModelResult stripped = result;
  stripped.capture = CaptureResult{};
  // Kept for other tools that read the table.
  stripped.capture.status = result.capture.status;
  stripped.capture.mode = result.capture.mode;
  stripped.capture.detail = result.capture.detail;
  return stripped;
}

// Finds family, revision and downloads in {"result": {...}}, which is behind the capture. The names are in alphabetical
// order, so it stops at the revision.
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
  bool Next() const { return field_ != "revision"; }

  int depth_ = 0;
  bool in_result_ = false;
  std::string field_;  // of the result; empty elsewhere
  ResultOutline outline_;
};

}  // namespace

ResultOutline OutlineOf(const std::string& document) {
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

Result<std::string> EncodeResult(const ModelResult& result, const std::string& capture_document) {
  json document{{"result", Parse(ToJson(WithoutCapture(result)))}};
  const std::string own = ToJson(result.capture);
  if (capture_document.empty())
    document["capture"] = Parse(own);
  else if (const json stored = Parse(capture_document); stored.is_discarded())
    document["capture"] = Parse(own);  // the stored one is damaged
  else if (own != capture_document)
    document["capture_patch"] = json::diff(stored, Parse(own));
  for (const auto& [key, value] : document.items())
    if (value.is_discarded())
      return Error{ErrorCode::kInvalid, "result of " + result.info.id + ": its " + key + " is not JSON"};
  return JsonText(document);
}

Result<ModelResult> DecodeResult(const std::string& document, const std::string& capture_document) {
  const json stored = Parse(document);
  if (!stored.is_object() || !stored.contains("result")) return Unreadable("a result");
  auto result = ModelResultFromJson(JsonText(stored["result"]));
  if (!result) return result;
  std::string capture = capture_document;
  if (stored.contains("capture")) {
    capture = JsonText(stored["capture"]);
  } else if (stored.contains("capture_patch")) {
    try {
      capture = JsonText(Parse(capture_document).patch(stored["capture_patch"]));
    } catch (const json::exception&) {
      return Unreadable("the capture of " + result->info.id);
    }
  }
  auto read = CaptureResultFromJson(capture);
  if (!read) return read.error().Within("capture of " + result->info.id);
  result->capture = std::move(*read);
  return result;
}

std::string EncodePlanHead(const Plan& plan) {
  Plan head;
  head.sweep_id = plan.sweep_id, head.source = plan.source;
  head.ranked = plan.ranked, head.track = plan.track;
  head.rebuild = plan.rebuild, head.toolchain = plan.toolchain, head.primary = plan.primary;
  return ToJson(head);
}

Result<std::string> EncodePlanned(const PlannedModel& planned) {
  Plan one;
  one.models = {planned};
  const json document = Parse(ToJson(one));
  if (document.is_discarded())
    return Error{ErrorCode::kInvalid, "plan: the configuration of " + planned.info.id + " is not JSON"};
  return JsonText(document["models"][0]);
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
