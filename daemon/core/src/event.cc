#include "breakwatch/core/event.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "breakwatch/core/text.h"

namespace breakwatch {
namespace {

using nlohmann::ordered_json;

constexpr int kEventSchema = 1;
constexpr std::string_view kEllipsis = "…";

std::string Dump(const ordered_json& line) {
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

// The longest text of the line, or null when none is worth cutting.
ordered_json* LongestText(ordered_json& line) {
  ordered_json* longest = nullptr;
  std::size_t length = 64;
  for (auto& [key, value] : line.items()) {
    std::vector<ordered_json*> texts{&value};
    if (value.is_array()) {
      texts.clear();
      for (ordered_json& element : value) texts.push_back(&element);
    }
    for (ordered_json* text : texts) {
      if (!text->is_string()) continue;
      const std::size_t size = text->get_ref<const std::string&>().size();
      if (size > length) length = size, longest = text;
    }
  }
  return longest;
}

}  // namespace

std::string ComposeLine(const Event& event, std::int64_t id, std::int64_t ts_ns) {
  ordered_json line = ordered_json::object();
  line["ts"] = FormatTime(SystemTime{std::chrono::nanoseconds(ts_ns)});
  line["level"] = std::string(LevelName(event.level));
  line["msg"] = event.name;
  line["schema"] = kEventSchema;
  line["event_id"] = id;
  line["sweep_id"] = event.sweep_id;
  if (!event.model.empty()) line["model"] = ToUtf8(event.model);
  if (!event.commit.empty()) line["commit"] = ToUtf8(event.commit);
  const ordered_json fields = event.fields_json.empty()
                                  ? ordered_json::object()
                                  : ordered_json::parse(event.fields_json, nullptr, /*allow_exceptions=*/false);
  if (fields.is_object()) {
    for (const auto& [key, value] : fields.items()) {
      if (!line.contains(key)) line[key] = value;
    }
  }
  std::string text = Dump(line);
  while (text.size() > kMaxLineBytes) {
    line["truncated"] = true;
    ordered_json* longest = LongestText(line);
    if (longest == nullptr) {
      // Not text but sheer number of fields: keep what names the event.
      ordered_json head = ordered_json::object();
      for (const char* key : {"ts", "level", "msg", "schema", "event_id", "sweep_id", "model", "commit", "truncated"}) {
        if (line.contains(key)) head[key] = line[key];
      }
      return Dump(head);
    }
    const std::string& whole = longest->get_ref<const std::string&>();
    *longest = Truncate(whole, whole.size() / 2) + std::string(kEllipsis);
    text = Dump(line);
  }
  return text;
}

}  // namespace breakwatch
