#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "breakwatch/core/capture.h"
#include "breakwatch/core/choices.h"
#include "breakwatch/core/json.h"
#include "breakwatch/core/json_text.h"
#include "breakwatch/core/measure.h"
#include "breakwatch/core/text.h"
#include "option_fields.h"

namespace breakwatch {
namespace {

using namespace option_fields;

constexpr std::size_t kMaxBatches = 16;
constexpr int kMaxBatch = 65'536, kMaxSeq = 1 << 20, kMaxThreads = 1024, kMaxRuns = 1'000'000;
constexpr double kMinSeconds = 0.001, kMaxSeconds = 3600;

bool Within(double value, double least, double most) { return value >= least && value <= most; }

template <class T>
bool HasTwice(const std::vector<T>& values) {
  return std::set<T>(values.begin(), values.end()).size() != values.size();
}

bool IsBackend(std::string_view name) { return std::find(kBackends.begin(), kBackends.end(), name) != kBackends.end(); }

json JsonOf(const MeasureOptions& o) {
  return {{"backends", o.backends}, {"batches", o.batches},   {"seq", o.seq},
          {"dynamic", o.dynamic},   {"threads", o.threads},   {"device", o.device},
          {"full", o.full},         {"min_runs", o.min_runs}, {"min_s", o.min_s}};
}

const Field<MeasureOptions> kFields[] = {
    {"backends", "a list of names", [](const json& in, MeasureOptions& o) { return List(in, o.backends, Text); }},
    {"batches", "a list of numbers", [](const json& in, MeasureOptions& o) { return List(in, o.batches, Whole<int>); }},
    {"seq", "a number", [](const json& in, MeasureOptions& o) { return Whole(in, o.seq); }},
    {"dynamic", "true or false", [](const json& in, MeasureOptions& o) { return Flag(in, o.dynamic); }},
    {"threads", "a number", [](const json& in, MeasureOptions& o) { return Whole(in, o.threads); }},
    {"device", "a text", [](const json& in, MeasureOptions& o) { return Text(in, o.device); }},
    {"full", "true or false", [](const json& in, MeasureOptions& o) { return Flag(in, o.full); }},
    {"min_runs", "a number", [](const json& in, MeasureOptions& o) { return Whole(in, o.min_runs); }},
    {"min_s", "a number of seconds", [](const json& in, MeasureOptions& o) { return Number(in, o.min_s); }},
    {"dtype", "a text", [](const json& in, MeasureOptions& o) { return Text(in, o.dtype); }},
};

}  // namespace

Result<void> CheckMeasure(const MeasureOptions& o) {
  if (o.backends.empty() || HasTwice(o.backends) || !std::all_of(o.backends.begin(), o.backends.end(), IsBackend)) {
    return Wrong("backends", "one or more of " + OneOf(kBackends) + ", each once");
  }
  const bool sizes = std::all_of(o.batches.begin(), o.batches.end(), [](int n) { return Within(n, 1, kMaxBatch); });
  if (o.batches.empty() || o.batches.size() > kMaxBatches || HasTwice(o.batches) || !sizes) {
    return Wrong("batches", "1 to 16 different sizes from 1 to 65536");
  }
  if (!Within(o.seq, 0, kMaxSeq)) return Wrong("seq", "a length from 0 to 1048576");
  if (!Within(o.threads, 1, kMaxThreads)) return Wrong("threads", "a number from 1 to 1024");
  if (o.device != "cpu" && o.device != "cuda") return Wrong("device", "cpu or cuda");
  if (!Within(o.min_runs, 1, kMaxRuns)) return Wrong("min_runs", "a number from 1 to 1000000");
  if (!Within(o.min_s, kMinSeconds, kMaxSeconds)) return Wrong("min_s", "a number of seconds from 0.001 to 3600");
  if (!o.dtype.empty() && std::find(kDtypes.begin(), kDtypes.end(), o.dtype) == kDtypes.end()) {
    return Wrong("dtype", OneOf(kDtypes));
  }
  return {};
}

std::string MeasureJson(const MeasureOptions& options) { return JsonText(JsonOf(options)); }

std::string ToJson(const MeasureOptions& options) {
  json out = JsonOf(options);
  out["dtype"] = options.dtype;
  return JsonText(out);
}

Result<MeasureOptions> MeasureOptionsFromJson(std::string_view text, MeasureOptions defaults) {
  return option_fields::Read<MeasureOptions>(text, kFields, &CheckMeasure, std::move(defaults));
}

}  // namespace breakwatch
