#include "breakwatch/core/event.h"

#include <chrono>
#include <nlohmann/json.hpp>

#include "breakwatch/core/json_text.h"
#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

using nlohmann::ordered_json;

constexpr int kEventSchema = 1;
constexpr std::size_t kMaxNameBytes = 1024;
constexpr std::size_t kMinTextBytes = 64;  // shorter texts are not truncated
constexpr std::string_view kEllipsis = "…";

// Truncates texts longer than `max_bytes`, also in lists. False if there were none.
bool CutTexts(ordered_json& fields, std::size_t max_bytes) {
  bool found = false;
  const auto cut = [&](ordered_json& value) {
    if (!value.is_string() || value.get_ref<const std::string&>().size() <= max_bytes) return;
    found = true;
    value = Truncate(value.get_ref<const std::string&>(), max_bytes - kEllipsis.size()) + std::string(kEllipsis);
  };
  for (ordered_json& value : fields) {
    cut(value);
    if (!value.is_array()) continue;
    for (ordered_json& element : value) cut(element);
  }
  return found;
}

ordered_json HeadOf(const Event& event, std::int64_t id, std::int64_t ts_ns) {
  ordered_json head = ordered_json::object();
  head["ts"] = FormatTime(SystemTime{std::chrono::nanoseconds(ts_ns)});
  head["level"] = std::string(LevelName(event.level));
  head["msg"] = event.name;
  head["schema"] = kEventSchema;
  head["event_id"] = id;
  head["sweep_id"] = event.sweep_id;
  if (!event.model.empty()) head["model"] = Truncate(ToUtf8(event.model), kMaxNameBytes);
  if (!event.commit.empty()) head["commit"] = Truncate(ToUtf8(event.commit), kMaxNameBytes);
  return head;
}

// Joins them as text: ordered objects search their keys linearly, which is slow for many fields.
std::string Join(const ordered_json& head, const ordered_json& fields) {
  std::string line = JsonText(head);
  if (fields.empty()) return line;
  line.back() = ',';
  return line.append(JsonText(fields), 1);
}

}  // namespace

std::string ComposeLine(const Event& event, std::int64_t id, std::int64_t ts_ns) {
  ordered_json head = HeadOf(event, id, ts_ns);
  ordered_json fields = event.fields_json.empty()
                            ? ordered_json::object()
                            : ordered_json::parse(event.fields_json, nullptr, /*allow_exceptions=*/false);
  if (!fields.is_object()) fields = ordered_json::object();
  for (const auto& [key, value] : head.items()) fields.erase(key);
  std::string line = Join(head, fields);
  // Truncates the longest texts first, with a limit that halves. Truncating one text at a time would take minutes for
  // long lists.
  for (std::size_t max = kMaxLineBytes / 2; line.size() > kMaxLineBytes; max /= 2) {
    head["truncated"] = true;
    if (max < kMinTextBytes) return JsonText(head);  // too many fields: keep only the event's head
    if (CutTexts(fields, max)) line = Join(head, fields);
  }
  return line;
}

std::string NameOf(const StoredEvent& event) {
  const auto line = ordered_json::parse(event.line, nullptr, /*allow_exceptions=*/false);
  if (!line.is_object()) return {};
  const auto name = line.find("msg");
  return name != line.end() && name->is_string() ? name->get<std::string>() : std::string();
}

}  // namespace breakwatch
