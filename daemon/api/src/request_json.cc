#include <algorithm>
#include <nlohmann/json.hpp>

#include "breakwatch/api/control_socket.h"
#include "breakwatch/core/choices.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/mode.h"
#include "breakwatch/core/saved_plan.h"
#include "breakwatch/core/text.h"

namespace breakwatch::api {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxRequestBytes = 64u << 20;  // it may contain a saved plan
constexpr int kMaxRequestDepth = 100;

Error Wrong(const std::string& field, const std::string& expected) {
  return {ErrorCode::kUsage, "field \"" + field + "\": expected " + expected};
}

// The fields of a request by name, with a function that reads each into a SweepRequest. It returns false for a wrong
// type or value.
struct Field {
  const char* name;
  std::string expected;
  bool (*read)(const json& in, SweepRequest& out);
};

bool Text(const json& in, std::string& out) {
  if (!in.is_string()) return false;
  out = ToUtf8(in.get_ref<const std::string&>());
  return true;
}
bool Flag(const json& in, bool& out) {
  if (!in.is_boolean()) return false;
  out = in.get<bool>();
  return true;
}
bool Whole(const json& in, std::optional<std::int64_t>& out) {
  if (in.is_null()) return out.reset(), true;
  if (!in.is_number_integer()) return false;
  out = in.get<std::int64_t>();
  return true;
}
bool Texts(const json& in, std::vector<std::string>& out) {
  out.clear();
  if (!in.is_array()) return false;
  return std::all_of(in.begin(), in.end(), [&](const json& element) { return Text(element, out.emplace_back()); });
}

// An artifact needs more than a mode, so no request names that one.
bool IsRequestable(std::string_view mode) { return IsMode(mode) && mode != kBuildMode; }

std::string RequestableModes() {
  std::vector<std::string_view> names(AllModes().begin(), AllModes().end());
  names.insert(names.end(), {kProfileMode, kBenchMode, kFixMode, kReproMode});
  return OneOf(names);
}

const Field kFields[] = {
    {"trigger", "a text",
     [](const json& in, SweepRequest& out) {
       if (in.is_string()) out.trigger = ParseSweepTrigger(in.get_ref<const std::string&>());
       return in.is_string();
     }},
    {"track", "true or false", [](const json& in, SweepRequest& out) { return Flag(in, out.track); }},
    {"resume", "true or false", [](const json& in, SweepRequest& out) { return Flag(in, out.resume); }},
    {"try_fixes", "true or false", [](const json& in, SweepRequest& out) { return Flag(in, out.try_fixes); }},
    {"rebuild", "if-needed, always or never",
     [](const json& in, SweepRequest& out) {
       const auto rebuild = in.is_string() ? ParseRebuild(in.get_ref<const std::string&>()) : std::nullopt;
       if (rebuild) out.rebuild = *rebuild;
       return rebuild.has_value();
     }},
    {"toolchain", "a text", [](const json& in, SweepRequest& out) { return Text(in, out.toolchain.name); }},
    {"modes", "a list of " + RequestableModes(),
     [](const json& in, SweepRequest& out) {
       return Texts(in, out.modes) && std::all_of(out.modes.begin(), out.modes.end(), IsRequestable);
     }},
    {"top", "a number of at least 1",
     [](const json& in, SweepRequest& out) {
       if (!in.is_number_integer() || in.get<std::int64_t>() < 1 || in.get<std::int64_t>() > 1'000'000) return false;
       out.list.top = in.get<int>();
       return true;
     }},
    {"per_family", "true or false", [](const json& in, SweepRequest& out) { return Flag(in, out.list.per_family); }},
    {"sort", OneOf(AllSorts()),
     [](const json& in, SweepRequest& out) {
       const auto sorts = AllSorts();
       return Text(in, out.list.sort) && std::find(sorts.begin(), sorts.end(), out.list.sort) != sorts.end();
     }},
    {"filters", "a list of texts", [](const json& in, SweepRequest& out) { return Texts(in, out.list.filters); }},
    {"author", "a text", [](const json& in, SweepRequest& out) { return Text(in, out.list.author); }},
    {"search", "a text", [](const json& in, SweepRequest& out) { return Text(in, out.list.search); }},
    {"task", "a text", [](const json& in, SweepRequest& out) { return Text(in, out.list.task); }},
    {"library", "a text", [](const json& in, SweepRequest& out) { return Text(in, out.list.library); }},
    {"gated", "true, false or null",
     [](const json& in, SweepRequest& out) {
       if (in.is_null()) return out.list.gated.reset(), true;
       bool gated = false;
       const bool read = Flag(in, gated);
       if (read) out.list.gated = gated;
       return read;
     }},
    {"min_params", "an integer or null",
     [](const json& in, SweepRequest& out) { return Whole(in, out.list.min_params); }},
    {"max_params", "an integer or null",
     [](const json& in, SweepRequest& out) { return Whole(in, out.list.max_params); }},
    {"select", "a filter of models", [](const json& in, SweepRequest& out) { return Text(in, out.list.select); }},
    {"models", "a list of ids", [](const json& in, SweepRequest& out) { return Texts(in, out.list.ids); }},
};

// Fields whose errors are more than a wrong type.
Result<void> ReadMeasure(const json& in, const SweepRequest& defaults, SweepRequest& out) {
  auto options = MeasureOptionsFromJson(JsonText(in), defaults.measure.value_or(MeasureOptions()));
  if (!options) return options.error().Within("field \"measure\"");
  out.measure = *std::move(options);
  return {};
}
Result<void> ReadFix(const json& in, const SweepRequest& defaults, SweepRequest& out) {
  auto options = FixOptionsFromJson(JsonText(in), defaults.fix.value_or(FixOptions()));
  if (!options) return options.error().Within("field \"fix\"");
  out.fix = *std::move(options);
  return {};
}
Result<void> ReadReproOptions(const json& in, const SweepRequest& defaults, SweepRequest& out) {
  auto options = ReproOptionsFromJson(JsonText(in), defaults.repro.value_or(ReproOptions()));
  if (!options) return options.error().Within("field \"repro\"");
  out.repro = *std::move(options);
  return {};
}
Result<void> ReadPlan(const json& in, const SweepRequest&, SweepRequest& out) {
  auto plan = SavedPlanFromJson(JsonText(in));
  if (!plan) return Error{ErrorCode::kUsage, "field \"plan\": " + plan.error().message};
  if (plan->models.empty()) return Error{ErrorCode::kUsage, "field \"plan\" contains no model"};
  out.saved_plan = *std::move(plan);
  return {};
}

struct Section {
  const char* name;
  Result<void> (*read)(const json& in, const SweepRequest& defaults, SweepRequest& out);
};
const Section kSections[] = {
    {"plan", ReadPlan}, {"measure", ReadMeasure}, {"fix", ReadFix}, {"repro", ReadReproOptions}};

// Error: kUsage, naming the field.
Result<void> ReadField(const std::string& name, const json& in, const SweepRequest& defaults, SweepRequest& out) {
  const auto is_it = [&](const auto& known) { return name == known.name; };
  if (const auto section = std::find_if(std::begin(kSections), std::end(kSections), is_it);
      section != std::end(kSections)) {
    return section->read(in, defaults, out);
  }
  const auto field = std::find_if(std::begin(kFields), std::end(kFields), is_it);
  if (field == std::end(kFields)) {
    std::vector<std::string> names;
    for (const Section& known : kSections) names.emplace_back(known.name);
    for (const Field& known : kFields) names.emplace_back(known.name);
    const auto nearest = NearestName(name, names);
    return Error{ErrorCode::kUsage,
                 "unknown field \"" + ToUtf8(name) + "\"" + (nearest ? "; did you mean \"" + *nearest + "\"?" : "")};
  }
  if (!field->read(in, out)) return Wrong(name, field->expected);
  return {};
}

template <class T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

}  // namespace

std::string ToJson(const SweepRequest& r) {
  const ListRequest& l = r.list;
  json out = {{"trigger", std::string(SweepTriggerName(r.trigger))},
              {"track", r.track},
              {"resume", r.resume},
              {"try_fixes", r.try_fixes},
              {"rebuild", std::string(RebuildName(r.rebuild))},
              {"toolchain", r.toolchain.name},
              {"modes", r.modes},
              {"top", l.top},
              {"per_family", l.per_family},
              {"sort", l.sort},
              {"filters", l.filters},
              {"author", l.author},
              {"search", l.search},
              {"task", l.task},
              {"library", l.library},
              {"gated", OrNull(l.gated)},
              {"min_params", OrNull(l.min_params)},
              {"max_params", OrNull(l.max_params)},
              {"select", l.select},
              {"models", l.ids}};
  if (r.measure) out["measure"] = json::parse(breakwatch::ToJson(*r.measure));
  if (r.fix) out["fix"] = json::parse(FixJson(*r.fix));
  if (r.repro) out["repro"] = json::parse(ReproJson(*r.repro));
  if (r.saved_plan) out["plan"] = json::parse(breakwatch::ToJson(*r.saved_plan));
  return JsonText(out);
}

Result<SweepRequest> SweepRequestFromJson(std::string_view text, const SweepRequest& defaults,
                                          std::optional<CaptureResult> imported) {
  if (auto checked = CheckJson(text, kMaxRequestBytes, kMaxRequestDepth); !checked) {
    return Error{ErrorCode::kUsage, checked.error().message};
  }
  const json in = json::parse(text.begin(), text.end(), nullptr, false);
  if (!in.is_object()) return Error{ErrorCode::kUsage, "the request must be a JSON object"};
  SweepRequest out = defaults;
  out.imported = std::move(imported);
  for (const auto& item : in.items()) {
    if (auto read = ReadField(item.key(), item.value(), defaults, out); !read) return read.error();
  }
  if (auto checked = CheckNames(out); !checked) return checked.error();
  return out;
}

}  // namespace breakwatch::api
