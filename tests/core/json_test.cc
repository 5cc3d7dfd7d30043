#include "breakwatch/core/json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "breakwatch/core/saved_plan.h"
#include "breakwatch/core/text.h"
#include "fakes/result_fields.h"

namespace breakwatch {
namespace {

using nlohmann::json;

ModelResult Sample() {
  ModelResult r;
  r.sweep_id = "20261121T020512Z-3f9a1c";
  r.info.id = "org/name";
  r.info.sha = "0123456789abcdef0123456789abcdef01234567";
  r.info.family = Family::kVision;
  r.info.model_type = "vit";
  r.info.architectures = {"ViTModel"};
  r.info.params = 86'000'000;
  r.info.downloads = 12;
  r.info.rank = 3;
  r.structure = std::string(64, 'a');
  r.capture_id = "c1";
  r.rebuild_reason = "new model";
  r.finished_at = SystemTime{std::chrono::nanoseconds(1'795'222'512'000'000'001)};
  CaptureResult& c = r.capture;
  c.status = Status::kGraphBreaks;
  c.detail = "1 break";
  c.phase = "done";
  c.architecture = "ViTModel";
  c.model_type = "vit";
  c.params = 1000;
  c.mode = "eval";
  c.device = "cpu";
  c.depth = "reduced";
  c.graphs = 2;
  c.breaks = 1;
  c.phase_s = {{"capture", 0.5}};
  c.inputs_json = R"({"pixel_values":{"shape":[2,3,32,32]}})";
  c.toolchain = {"default", "2.15.0", "5.23.0", "3.11.2", "1.0.0", "cpu"};
  BreakSite site;
  site.site_id = "0011";
  site.reason = "Data-dependent branching";
  site.hints = {"use torch.cond"};
  site.occurrences = 1;
  site.module_path = "encoder.layer.0";
  site.stack = {"model.py:3 in forward", "layer.py:7 in forward"};
  c.sites = {site};
  GraphSegment segment;
  segment.compile_id = "0/0";
  segment.ops = {{"call_function", 3}};
  segment.ops_total = 3;
  segment.ended_by = site.site_id;
  c.segments = {segment, GraphSegment{}};
  c.mode_detail_json = R"({"first_error":"a reason"})";
  return r;
}

TEST(ModelResultJsonTest, SurvivesTheRoundTrip) {
  const std::string text = ToJson(Sample());
  const auto back = ModelResultFromJson(text);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ToJson(*back), text);
  EXPECT_EQ(back->capture.toolchain.Key(), Sample().capture.toolchain.Key());
  EXPECT_EQ(back->finished_at, Sample().finished_at);
  EXPECT_EQ(back->capture.sites[0].stack, Sample().capture.sites[0].stack);
}

TEST(CaptureResultJsonTest, ReadsADocumentOfBeforeSegmentsAndModes) {
  json document = json::parse(ToJson(Sample().capture));
  document.erase("segments"), document.erase("mode_detail"), document["sites"][0].erase("module_path");
  document["sites"][0].erase("stack");
  const auto read = CaptureResultFromJson(document.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->segments.empty());
  EXPECT_EQ(read->mode_detail_json, "");
  EXPECT_EQ(read->sites[0].module_path, "");
  EXPECT_TRUE(read->sites[0].stack.empty());
  EXPECT_EQ(read->sites[0].reason, "Data-dependent branching");
}

TEST(CaptureResultJsonTest, KeepsALongerDetailOfAMeasurement) {
  const auto kept = [](const char* mode, std::size_t bytes) {
    const json said = {{"mode", mode}, {"status", "full_graph"}, {"mode_detail", {{"k", std::string(bytes, 'x')}}}};
    const auto read = CaptureResultFromJson(said.dump());
    return read && !read->mode_detail_json.empty();
  };
  EXPECT_TRUE(kept("profile", 1'000'000));
  EXPECT_FALSE(kept("profile", 1'100'000));
  EXPECT_FALSE(kept("eval", 1'000'000));
}

TEST(CaptureResultJsonTest, KeepsSegmentsAndModeDetailsBounded) {
  json said = {{"job", "j"}, {"status", "full_graph"}, {"mode_detail", {{"k", std::string(70'000, 'x')}}}};
  json segment = {{"index", 0}, {"function", std::string(5000, 'f')}};
  for (int i = 0; i < 200; ++i) segment["ops"]["op " + std::to_string(i)] = segment["top_ops"][std::to_string(i)] = 1;
  segment["ops"][std::string(5000, 'o')] = 1;
  said["segments"] = std::vector<json>(600, segment);
  const auto read = CaptureResultFromJson(said.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->mode_detail_json, "");
  ASSERT_EQ(read->segments.size(), 512u);
  EXPECT_LE(read->segments[0].function.size(), 1024u);
  EXPECT_LE(read->segments[0].ops.size(), 32u);
  EXPECT_LE(read->segments[0].top_ops.size(), 16u);
}

TEST(CaptureResultJsonTest, KeepsLabelsListsAndPhasesBounded) {
  json said = {
      {"job", "j"}, {"status", "graph_breaks"}, {"detail", "two\nlines\x1b[31m"}, {"mode", std::string(5000, 'm')}};
  said["sites"] = {
      {{"reason", ""}, {"site_id", std::string(5000, 's')}, {"hints", std::vector<std::string>(5000, "h")}}};
  for (int i = 0; i < 5000; ++i) said["phase_s"]["phase " + std::to_string(i)] = 1;
  const auto read = CaptureResultFromJson(said.dump());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->detail, "two lines [31m");
  EXPECT_LE(read->mode.size(), 1024u);
  EXPECT_LE(read->sites[0].site_id.size(), 1024u);
  EXPECT_LE(read->sites[0].hints.size(), 32u);
  EXPECT_EQ(read->sites[0].reason, "unattributed");
  EXPECT_LE(read->phase_s.size(), 16u);
}

TEST(CaptureResultJsonTest, KeepsASuggestionOnOneLineAndLeavesItOutWhereThereIsNone) {
  CaptureResult capture = Sample().capture;
  EXPECT_FALSE(json::parse(ToJson(capture)).contains("suggestion"));
  capture.suggestion = "install timm\nin the toolchain" + std::string(5000, '.');
  const auto read = CaptureResultFromJson(ToJson(capture));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->suggestion.starts_with("install timm in the toolchain."));
  EXPECT_LE(read->suggestion.size(), 1024u);
  ModelResult result = Sample();
  result.capture.suggestion = "install timm";
  EXPECT_EQ(ModelResultFromJson(ToJson(result))->capture.suggestion, "install timm");
}

// Stores and workers from before the field was renamed.
TEST(CaptureResultJsonTest, ReadsASuggestionByItsFormerName) {
  const auto read = CaptureResultFromJson(R"({"job":"a","status":"timeout","detail":"d","remedy":"raise the limit"})");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->suggestion, "raise the limit");
  EXPECT_FALSE(json::parse(ToJson(*read)).contains("remedy"));
  const auto model = TrackedModelFromJson(R"({"model":"org/a","status":"timeout","remedy":"raise the limit"})");
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->suggestion, "raise the limit");
}

TEST(CaptureResultJsonTest, NamesOptionalArgumentsWithinTheirBoundAndLeavesOutWhatIsNotKnown) {
  ModelResult result = Sample();
  for (const char* field : {"optional_passed", "optional_left_out", "ops_depth"}) {
    EXPECT_FALSE(json::parse(ToJson(result)).contains(field)) << field;
  }
  result.capture.optional_passed = {"attention_mask"};
  result.capture.optional_left_out.assign(100, std::string(2000, 'x'));
  result.capture.ops_depth = "reduced";
  const auto back = CaptureResultFromJson(ToJson(result.capture));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->optional_passed, result.capture.optional_passed);
  EXPECT_EQ(back->ops_depth, "reduced");
  ASSERT_EQ(back->optional_left_out.size(), 64u);
  EXPECT_LE(back->optional_left_out[0].size(), 1024u);
}

TEST(ModelResultJsonTest, WritesEveryFieldOfTheContractFlat) {
  const json document = json::parse(ToJson(Sample()));
  for (const char* field : kResultFields) {
    EXPECT_TRUE(document.contains(field)) << field;
  }
  EXPECT_EQ(document["toolchain"], "default");
  EXPECT_TRUE(document["ops_captured"].is_null());
}

TEST(PlanJsonTest, SurvivesTheRoundTripWithItsConfig) {
  Plan plan;
  plan.sweep_id = "s1";
  plan.ranked = true;
  plan.rebuild = Rebuild::kAlways;
  PlannedModel model;
  model.info = Sample().info;
  model.config_json = R"({"model_type":"vit","layer_norm_eps":1e-12})";
  model.action = Action::kCapture;
  model.depth = Depth::kVerify;
  plan.models = {model};
  const auto back = PlanFromJson(ToJson(plan));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ToJson(*back), ToJson(plan));
  EXPECT_EQ(json::parse(back->models[0].config_json)["layer_norm_eps"], 1e-12);
}

TEST(SavedPlanTest, NamesWhatIsWrongWithAPlanThatWasChanged) {
  Plan plan;
  plan.models.resize(2);
  plan.models[0].info.id = plan.models[1].info.id = "org/name";
  plan.models[0].config_json = R"({"model_type":"vit"})";
  ASSERT_TRUE(SavedPlanFromJson(ToJson(plan)));
  const auto message = [&](const char* pointer, const json& value) {
    json changed = json::parse(ToJson(plan));
    changed[json::json_pointer(pointer)] = value;
    const auto read = SavedPlanFromJson(changed.dump());
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(message("/schema", 2), "field \"schema\": expected 1, as `breakwatch plan --output` writes it");
  EXPECT_EQ(message("/schema", nullptr), "field \"schema\": expected 1, as `breakwatch plan --output` writes it");
  EXPECT_EQ(message("/models/1/mdoe", "train"), "models[1]: unknown field \"mdoe\"; did you mean \"mode\"?");
  EXPECT_EQ(message("/models/1/mode", 5), "models[1]: field \"mode\": expected a text");
  EXPECT_EQ(message("/models/1", "org/name"), "models[1]: expected an object");
  EXPECT_EQ(message("/models/1/status", "fine"), "models[1]: field \"status\": expected one of the documented names");
  EXPECT_EQ(message("/models/0/config", 5), "models[0]: field \"config\": expected an object");
  EXPECT_EQ(message("/modles", json::array()), "unknown field \"modles\"; did you mean \"models\"?");
  EXPECT_EQ(message("/toolchain/troch", "2"), "toolchain: unknown field \"troch\"; did you mean \"torch\"?");
  const auto twice = SavedPlanFromJson(ToJson(plan).insert(1, "\"ranked\":true,"));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "field \"ranked\" is there twice");
}

TEST(SweepJsonTest, SurvivesTheRoundTrip) {
  Sweep sweep;
  sweep.id = "s1";
  sweep.trigger = SweepTrigger::kCli;
  sweep.state = SweepState::kInterrupted;
  sweep.statuses = {{"full_graph", 2}};
  const auto back = SweepFromJson(ToJson(sweep));
  ASSERT_TRUE(back);
  EXPECT_EQ(ToJson(*back), ToJson(sweep));
  EXPECT_EQ(back->state, SweepState::kInterrupted);
}

TEST(SweepJsonTest, WritesEveryTriggerByItsName) {
  for (const char* name : {"cli", "interval", "signal", "api", "import", "bisect", "resume", "measure", "other"}) {
    const auto sweep = SweepFromJson(R"({"sweep_id":"s1","trigger":")" + std::string(name) + "\"}");
    ASSERT_TRUE(sweep) << sweep.error().message;
    EXPECT_EQ(json::parse(ToJson(*sweep))["trigger"], name);
  }
}

TEST(SweepJsonTest, ReadsASweepWhoseTriggerThisVersionDoesNotKnow) {
  const auto sweep = SweepFromJson(R"({"sweep_id":"s1","trigger":"webhook"})");
  ASSERT_TRUE(sweep) << sweep.error().message;
  EXPECT_EQ(sweep->trigger, SweepTrigger::kOther);
  EXPECT_FALSE(SweepFromJson(R"({"trigger":1})"));
}

TEST(TrackedModelJsonTest, SurvivesTheRoundTrip) {
  TrackedModel model;
  model.model = "org/name";
  model.tracked = true;
  model.numbers["k"].reasons = {{"r", "GB0001", "supportable", 3, 2}};
  model.numbers["k"].commit = "c";
  const auto back = TrackedModelFromJson(ToJson(model));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, model);
}

TEST(CaptureResultJsonTest, NamesTheFieldThatIsWrong) {
  const auto result = CaptureResultFromJson(R"({"job":"1","status":"full_graph","graphs":"two"})");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(result.error().message, "field \"graphs\": expected an integer");
  EXPECT_FALSE(CaptureResultFromJson(R"({"status":"splendid"})"));
  EXPECT_FALSE(CaptureResultFromJson("[]"));
  EXPECT_FALSE(CaptureResultFromJson("{"));
}

TEST(CaptureResultJsonTest, BoundsTheFieldsOfAWorkersResult) {
  json worker = {{"job", "1"}, {"status", "graph_breaks"}, {"error", std::string(100'000, 'e')}};
  worker["sites"] = {{{"reason", std::string(119, 'r') + "\xC3\xA9"}}};
  const auto result = CaptureResultFromJson(worker.dump());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->sites[0].reason, std::string(119, 'r'));
  EXPECT_LE(result->error.size(), 16u * 1024);
  EXPECT_FALSE(result->detail.empty());
}

TEST(CaptureJobJsonTest, IsTheProtocolsMessage) {
  CaptureJob job;
  job.id = "7";
  job.config_json = R"({"model_type":"bert"})";
  job.limits.create = std::chrono::milliseconds(1500);
  const json message = json::parse(ToJson(job));
  EXPECT_EQ(message["job"], "7");
  EXPECT_EQ(message["config"]["model_type"], "bert");
  EXPECT_EQ(message["limits"]["create_s"], 1.5);
  EXPECT_EQ(message["depth"], "auto");
}

}  // namespace
}  // namespace breakwatch
