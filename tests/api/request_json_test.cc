#include <gtest/gtest.h>

#include "breakwatch/api/control_socket.h"

namespace breakwatch::api {
namespace {

TEST(SweepRequestJsonTest, SurvivesTheRoundTrip) {
  SweepRequest request;
  request.trigger = SweepTrigger::kCli;
  request.list.top = 7;
  request.list.filters = {"license:mit"};
  request.list.gated = false;
  request.list.ids = {"org/name@main"};
  request.rebuild = Rebuild::kAlways;
  request.measure = MeasureOptions{.threads = 2, .dtype = "bfloat16"};
  request.saved_plan = Plan{};
  request.saved_plan->sweep_id = "s1";
  request.saved_plan->models.resize(1);
  request.saved_plan->models[0].info.id = "org/name";
  const auto back = SweepRequestFromJson(ToJson(request), {});
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(ToJson(*back), ToJson(request));
}

TEST(SweepRequestJsonTest, KeepsTheDefaultsOfWhatIsAbsent) {
  SweepRequest defaults;
  defaults.list.top = 99;
  const auto request = SweepRequestFromJson(R"({"track":true})", defaults);
  ASSERT_TRUE(request);
  EXPECT_EQ(request->list.top, 99);
  EXPECT_TRUE(request->track);
}

TEST(SweepRequestJsonTest, NamesWhatIsWrong) {
  const auto message = [](const char* text) {
    const auto request = SweepRequestFromJson(text, {});
    return request ? std::string() : request.error().message;
  };
  EXPECT_EQ(message(R"({"tpo":5})"), "unknown field \"tpo\"; did you mean \"top\"?");
  EXPECT_EQ(message(R"({"top":"five"})"), "field \"top\": expected a number of at least 1");
  EXPECT_EQ(message(R"({"top":0})"), "field \"top\": expected a number of at least 1");
  EXPECT_EQ(message(R"({"rebuild":"sometimes"})"), "field \"rebuild\": expected if-needed, always or never");
  EXPECT_EQ(message(R"({"models":[""]})"), "\"\" is not a valid model name");
  EXPECT_EQ(message(R"({"plan":{"schema":1,"models":[{}]}})"), "models[0]: \"\" is not a valid model name");
  EXPECT_EQ(message(R"({"plan":{"schema":1}})"), "field \"plan\" contains no model");
  EXPECT_EQ(message(R"({"sort":"stars"})"),
            "field \"sort\": expected downloads, likes, lastModified, createdAt or trendingScore");
  EXPECT_EQ(message(R"({"modes":["eval","fast"]})"),
            "field \"modes\": expected a list of eval, train, dynamic, fullgraph, nested, export, recompile, cold, "
            "profile, bench, fix or repro");
  EXPECT_NE(message(R"({"modes":["build"]})"), "") << "an artifact needs more than a mode";
  EXPECT_EQ(message(R"({"measure":{"threads":0}})"), "field \"measure\": threads: expected a number from 1 to 1024");
  EXPECT_EQ(message(R"({"measure":{"runner":"/bin/sh"}})"), "field \"measure\": unknown field \"runner\"");
  EXPECT_NE(message(R"({"repro":{"site":"../x"}})").find("field \"repro\": site: expected the id of a site"),
            std::string::npos);
  EXPECT_EQ(message(R"({"repro":{"folder":"/etc"}})"), "field \"repro\": unknown field \"folder\"");
  EXPECT_NE(message((R"({"models":[")" + std::string(5000, 'm') + "\"]}").c_str()), "");
  EXPECT_EQ(message("[]"), "the request must be a JSON object");
  EXPECT_NE(message("{"), "");
}

}  // namespace
}  // namespace breakwatch::api
